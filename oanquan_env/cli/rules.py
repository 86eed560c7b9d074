"""List the presets with their sources. With TEXT, list all fields of these rules."""

import argparse
import dataclasses

from oanquan_env.engine.rules import DEFAULT_PRESET, PRESETS, Rules
from oanquan_env.text import rules_in_words

HELP = "list the presets, or all fields of one set of rules, or say them in words"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("text", nargs="*", metavar="TEXT", help='rules whose fields to list, such as "tonkin seeds=4"')
    parser.add_argument("--in-words", action="store_true", help=f"print the rules in words (default: {DEFAULT_PRESET})")
    parser.add_argument("--language", choices=("en", "vi"), default="en", help="for --in-words (default: en)")


def run(options: argparse.Namespace) -> None:
    """Print what the options ask for."""
    default = PRESETS[DEFAULT_PRESET].rules
    if options.in_words:
        print(rules_in_words(" ".join(options.text) or default, options.language))
        return
    if options.text:
        rules = Rules.parse(" ".join(options.text))
        changed = rules.differences(default)
        print(f"{rules}\n")
        for field in dataclasses.fields(rules):
            mark = "*" if field.name in changed else " "
            print(f"{mark} {field.name:29}{getattr(rules, field.name)}")
        print(f"\n* differs from {DEFAULT_PRESET}. docs/RULES.md says what each field means.")
        return
    for name, preset in PRESETS.items():
        print(f"{name}\n  after    {preset.source}")
        changes = preset.rules.differences(default)
        listed = " ".join(f"{field}={value}" for field, value in changes.items()) or "(the default)"
        print(f"  changes  {listed}\n")
