"""Tables in Markdown and LaTeX, and estimates as the text of their cells."""

import math
from collections.abc import Sequence

from oanquan_env.benchmark.statistics import Estimate


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int | None = 1, *, padded: bool = False) -> str:
    """Return a Markdown table without a final newline; each row has one cell per heading.

    The first `left` columns (None: all) are aligned left, the others right. With `padded`, columns line up in plain
    text as well.
    """
    lines = [[cell.replace("|", r"\|") for cell in row] for row in (heads, *rows)]
    widths = [max(map(len, column)) if padded else 0 for column in zip(*lines, strict=True)]
    to_left = [left is None or number < left for number in range(len(heads))]
    lines = [
        [f"{cell:{'<' if to else '>'}{width}}" for cell, width, to in zip(line, widths, to_left, strict=True)]
        for line in lines
    ]
    rule = ["-" * max(3, width - (not to)) + ":" * (not to) for width, to in zip(widths, to_left, strict=True)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))


def latex(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a LaTeX table for the package booktabs; the first column is aligned left, the others right."""
    for sign, escaped in (("%", r"\%"), ("_", r"\_"), ("&", r"\&"), ("#", r"\#"), ("∞", r"$\infty$"), ("`", "")):
        heads, *rows = ([cell.replace(sign, escaped) for cell in row] for row in (heads, *rows))
    head, *body = (" & ".join(row) + r" \\" for row in (heads, *rows))
    begin = rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}"
    return "\n".join([begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}", ""])


def name(label: str) -> str:
    """Return a player's label as Markdown code, with backticks removed."""
    return f"`{label.replace('`', '')}`"


def plus_minus(estimate: Estimate, form: str, factor: float = 1.0) -> str:
    """Return `mean ± half the width of the interval`, each times `factor`; only the mean if there is no interval."""
    if math.isnan(estimate.low):
        return f"{factor * estimate.mean:{form}}"
    return f"{factor * estimate.mean:{form}} ± {factor * (estimate.high - estimate.low) / 2:{form.lstrip('+')}}"


def interval(estimate: Estimate, form: str = "+.0f", factor: float = 1.0) -> str:
    """Return `mean (low to high)`, each times `factor`; only the mean if there is no interval."""
    mean, low, high = (
        format(factor * value, form) if math.isfinite(value) else "−∞" if value < 0 else "∞"
        for value in (estimate.mean, estimate.low, estimate.high)
    )
    return mean if math.isnan(estimate.low) else f"{mean} ({low} to {high})"


def of_runs(values: Sequence[float], estimate: Estimate, form: str) -> str:
    """Return the interquartile mean of several runs with its interval; without an interval, with the runs' range."""
    if len(values) == 1 or not math.isnan(estimate.low):
        return interval(estimate, form)
    return f"{estimate.mean:{form}}; {len(values)} runs, {min(values):{form}} to {max(values):{form}}"
