"""Result tables in Markdown, for notebooks and terminals, and in LaTeX."""

import math
from collections.abc import Mapping, Sequence

from oanquan_env.benchmark.estimates import Estimate
from oanquan_env.benchmark.pairs import PairingResult
from oanquan_env.benchmark.regret import Regret

ORDINALS = ("first", "second", "third", "fourth")
"""Words for the order in which players move after the opening."""


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
    """Return `mean ± half the width of the interval`, each multiplied by `factor`."""
    return f"{factor * estimate.mean:{form}} ± {factor * (estimate.high - estimate.low) / 2:{form.lstrip('+')}}"


def interval(estimate: Estimate, form: str = "+.0f", factor: float = 1.0) -> str:
    """Return `mean (low to high)`, each multiplied by `factor`."""
    mean, low, high = (
        format(factor * value, form) if math.isfinite(value) else "−∞" if value < 0 else "∞"
        for value in (estimate.mean, estimate.low, estimate.high)
    )
    return f"{mean} ({low} to {high})"


def pairings_table(pairings: Sequence[PairingResult], *, padded: bool = False) -> str:
    """Return a table with one row per pairing: games, score, margin, and Elo (for 3 or 4 players, scores by order)."""
    two = pairings[0].pentanomial is not None
    heads = ["agent", "opponent" if two else "among", f"won/{'drawn' if two else 'shared'}/lost", "score, % (95 %)"]
    orders = "/".join(ORDINALS[: len(pairings[0].orders)])
    heads += ["margin, points (95 %)", "Elo against the opponent (95 %)" if two else f"score by moving {orders}, %"]
    return table(heads, [_pairing(one) for one in pairings], left=2, padded=padded)


def _pairing(one: PairingResult) -> list[str]:
    cells = [name(one.agent), name(one.opponent), f"{one.wins}/{one.draws}/{one.losses}"]
    cells += [interval(one.score, ".1f", 100), interval(one.margin, "+.1f")]
    by_order = "/".join(f"{100 * order.score.mean:.1f}" for order in one.orders)
    return [*cells, interval(one.elo) if one.pentanomial else by_order]


def regret_table(players: Mapping[str, Regret], groups: Sequence[str], *, padded: bool = False) -> str:
    """Return a table with one row per player (by label) and group of positions: `all` or a key of `Regret.phases`."""
    heads = ["agent", "positions", "number", "regret, points (95 %)", "best moves, % (95 %)", "blunders, % (95 %)"]
    rows = []
    for group in groups:
        for label, overall in players.items():
            regret = overall if group == "all" else overall.phases.get(group)
            if regret:
                shares = (interval(share, ".1f", 100) for share in (regret.optimal, regret.blunders))
                bounds = "" if not regret.least else f"{regret.least:.2f} or more"
                if regret.most is not None:
                    bounds = f"{regret.least:.2f} to {regret.most:.2f}"
                rows.append([name(label), group, str(regret.positions), interval(regret, ".2f"), *shares, bounds])
    return table([*heads, "regret by proved bounds"], rows, left=2, padded=padded)
