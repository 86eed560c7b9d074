"""Rules in words, prompts for language models, and the reading and grading of their answers."""

from oanquan_env.text.prompts import Answer, Grade, ValuedBoard, grade, prompt, read_answer
from oanquan_env.text.words import rules_in_words

__all__ = ["Answer", "Grade", "ValuedBoard", "grade", "prompt", "read_answer", "rules_in_words"]
