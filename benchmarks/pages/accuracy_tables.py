"""The tables of docs/accuracy.md, and where they go on the page."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
from accuracy_errors import BOUNDED, DEFAULT, FIXED, GIVEN_QS, GRID, SETS, TINY, Errors, Key, Relation, lines, ratios


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(list(values)))))


def ratio_table(errors: dict[Key, Errors], relation: Relation) -> str:
    """Claims 1 and 2: ratios at five q, and geometric means over them."""
    rows: list[list[str]] = []
    every: list[float] = []
    for name in SETS:
        found = ratios(errors, relation, name)
        given = [found[q] for q in GIVEN_QS if q in found]
        cells = [number(found[q]) if q in found else "-" for q in GIVEN_QS]
        rows.append([name, *cells, number(geometric_mean(given))])
        every += given
    rows.append(["**all six**", *[""] * len(GIVEN_QS), f"**{number(geometric_mean(every))}**"])
    head = ["data", *(f"{100 * q:g}%" for q in GIVEN_QS), "geometric mean"]
    return table(head, rows)


def number(value: float) -> str:
    """Two decimals, or two digits if that is too few or too many."""
    return f"{value:.2f}" if 0.095 <= value < 100 else f"{value:.2g}"


def line_table(
    errors: dict[Key, Errors], claim: int, qs: tuple[float, ...], names: tuple[str, ...], x: str, medians: bool
) -> str:
    """Claims 3 to 5: mean errors."""
    head, rows = [x], defaultdict(list)
    for q in qs:
        for name in names:
            xs, found = lines(errors, claim, q, name)
            head.append(f"{100 * q:g}%: {name}")
            for at, e in zip(xs, found, strict=True):
                rows[at].append(f"{e.mean:.2g}" + (f" ({e.median:.2g})" if medians else ""))
    return table(head, ([f"{at:g}", *cells] for at, cells in rows.items()))


def losses(errors: dict[Key, Errors]) -> str:
    """Every point where the bounded exponential mechanism has the smaller mean error, with the ratio."""
    found = []
    for claim, relation in ((1, "swap"), (2, "add-remove")):
        for name in SETS:
            worse = {q: ratio for q, ratio in ratios(errors, relation, name).items() if ratio > 1}
            if worse:
                points = ", ".join(f"{100 * q:g}% ({number(ratio)})" for q, ratio in worse.items())
                found.append(f"- picture {claim}, {name}, q = {points}")
            found += certain(errors, claim, relation, name)
    for claim, x in ((3, "n"), (4, "epsilon"), (5, "upper bound")):
        for q in (0.5, 0.9, 0.99):
            ours, theirs = (lines(errors, claim, q, name) for name in (DEFAULT, BOUNDED))
            pairs = [(at, a.mean / b.mean) for at, a, b in zip(ours[0], ours[1], theirs[1], strict=True)]
            points = ", ".join(f"{at:g} ({number(ratio)})" for at, ratio in pairs if ratio > 1)
            if points:
                found.append(f"- picture {claim}, q = {100 * q:g}%, {x} = {points}")
    return "\n".join(found) or "- at none of the points measured here"


def certain(errors: dict[Key, Errors], claim: int, relation: Relation, name: str) -> Iterator[str]:
    """The points where the rival is never wrong, but nobounds is now and then."""
    for key in sorted(key for key in errors if key[:2] == (relation, name) and key[3] == DEFAULT):
        ours, theirs = errors[key].mean, errors[*key[:3], BOUNDED].mean
        if theirs < TINY <= ours:
            yield f"- picture {claim}, {name}, q = {100 * key[2]:g}%: mean error {ours:.1g}, the rival's is below 1e-9"


def blocks(errors: dict[Key, Errors], quick: bool) -> dict[str, str]:
    """What goes between the markers of the page."""
    three_names = DEFAULT, FIXED, BOUNDED
    return {
        "table 1": ratio_table(errors, "swap"),
        "table 2": ratio_table(errors, "add-remove"),
        "table 3": line_table(errors, 3, (0.5, 0.99), three_names, "n", True),
        "table 4": line_table(errors, 4, (0.5, 0.9), three_names, "epsilon", True),
        "table 5": line_table(errors, 5, (0.5, 0.9, 0.99), (DEFAULT, BOUNDED, GRID), "upper", False),
        "losses": losses(errors),
        "run": f"Each number is an average over {3 if quick else 10} samples of data{' (--quick)' if quick else ''}.",
    }


def filled(page: str, texts: dict[str, str]) -> str:
    """The page with every block between its markers replaced."""
    for name, text in texts.items():
        start, end = f"<!-- {name} -->", f"<!-- end {name} -->"
        before, rest = page.split(start)
        page = f"{before}{start}\n{text}\n{end}{rest.split(end)[1]}"
    return page
