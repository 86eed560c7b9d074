"""The rules in words, in English or Vietnamese, as sentences that people and language models can play by.

`words.json` has the sentences. Each names its section of docs/RULES.md and, if it does not always apply, says `when` it
does: for one value of a field, for a list of values, or for all values from N on, as `{"least": N}`. Any two values of
a field give different words, so that words tell all rules apart. Names in braces are numeric fields of the rules,
counted in `units` (by default seeds), and the other texts that `_values` returns.
"""

import json
from pathlib import Path
from typing import Any, get_args

from oanquan_env.engine.notation import DIRECTION_LETTERS, WORDS, Language
from oanquan_env.engine.rules import RANGES, Rules, as_rules, check_choice

TEXTS: dict[str, Any] = json.loads(Path(__file__).with_name("words.json").read_bytes())


def rules_in_words(rules: Rules | str, language: Language = "en") -> str:
    """Return the rules in words: the titles of sections 1 to 4 of docs/RULES.md, each with the sentences that apply.

    Match play (section 6) is left out. Raises `RulesError` if `rules` or `language` is invalid.
    """
    rules = as_rules(rules)
    check_language(language)
    facts, values = _facts(rules), _values(rules, language)
    sections = []
    for section, title in TEXTS["titles"][language].items():
        said = [
            sentence[language].format(**values)
            for sentence in TEXTS["sentences"]
            if sentence["section"] == section and _applies(sentence.get("when", {}), facts)
        ]
        sections.append(f"{title}\n{' '.join(said)}".replace(" \n", "\n"))
    return "\n\n".join(sections)


def check_language(language: object) -> None:
    """Raise `RulesError` unless `language` is one of `Language`."""
    check_choice("language", language, get_args(Language))


def counted(language: Language, thing: str, number: int) -> str:
    """Return a number of `seeds`, `points` or `moves` in words, such as `1 seed`."""
    forms = {**WORDS[language], **TEXTS["parts"][language]}[thing]
    digits = f"{number:,}" if language == "en" else f"{number:,}".replace(",", ".")
    return str(forms[number != 1].format(n=digits))


def numbered(language: Language, thing: str, fields: int) -> str:
    """Return the `numbers` or the `squares` of a row, such as `squares 1 to 5`."""
    return str(TEXTS["parts"][language][thing][fields > 2].format(fields=fields))


def example_move(rules: Rules) -> str:
    """Return a move that illustrates the notation."""
    return f"{rules.fields}{DIRECTION_LETTERS[rules.sowing == 'clockwise']}"


def _applies(when: dict[str, Any], facts: dict[str, Any]) -> bool:
    return all(
        facts[name] >= wanted["least"]
        if isinstance(wanted, dict)
        else facts[name] in (wanted if isinstance(wanted, list) else [wanted])
        for name, wanted in when.items()
    )


def _facts(rules: Rules) -> dict[str, Any]:
    """Return the fields of the rules, and further facts that follow from several fields."""
    return vars(rules) | {
        "start": "seeds" if not rules.stones else "both" if rules.mandarin_seeds else "stone",
        # Without a forfeit, the mandarin squares are empty when all of them must be.
        "mandarins_shared": rules.mandarin_leftovers == "split"
        and (rules.end == "stones_captured" or rules.refill == "forfeit"),
    }


def _values(rules: Rules, language: Language) -> dict[str, object]:
    """Return the texts that replace the names in braces."""
    parts, names = TEXTS["parts"][language], WORDS[language]["seats"][str(rules.players)]
    squares = numbered(language, "squares", rules.fields)
    rows = [part.format(squares=squares, name=name) for name in names for part in (parts["row"], parts["mandarin"])]
    units = {name: TEXTS["units"].get(name, "seeds") for name in RANGES}
    return {
        **{name: counted(language, unit, getattr(rules, name)) for name, unit in units.items()},
        "players": rules.players,
        "fields": rules.fields,
        "numbers": numbered(language, "numbers", rules.fields),
        "seats": ", ".join(names),
        "ring": ", ".join([*rows, parts["again"].format(name=names[0])]),
        "both": parts["both"][rules.players > 2],
        "example": example_move(rules),
        "cost": counted(language, "points", rules.fields),
    }
