"""Rules in words, prompts for language models, the reading and grading of their answers, and games for training.

In reading order:

1. `words`: the rules in words, whose sentences are in words.json;
2. `prompts`: prompts with these words, and the grades of answers;
3. `game`: a stateful game for training, and a single-turn data set.
"""

from oanquan_env.text.game import TextDataset, TextGame
from oanquan_env.text.prompts import Answer, Grade, ValuedBoard, grade, prompt, read_answer
from oanquan_env.text.words import rules_in_words

__all__ = [
    "Answer",
    "Grade",
    "TextDataset",
    "TextGame",
    "ValuedBoard",
    "grade",
    "prompt",
    "read_answer",
    "rules_in_words",
]
