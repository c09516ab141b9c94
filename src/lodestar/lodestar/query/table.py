"""The parameters of the soft predicates: one table, calibrated by `lodestar_eval calibrate`, and the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import resources

import yaml


@dataclass(frozen=True)
class PredicateTable:
    """Lengths in metres; half: the distance at which a predicate is half true, for things of furniture size.

    The defaults are what the table was started from; what is used is `load_table`.
    """

    centroids: bool = False  # distances between centres, as FARM D.2, instead of between boxes
    gaussian: bool = False  # Near and NextTo fall as a Gaussian whose sigma is `half` (FARM D.2)
    near: float = 2.5
    next_to: float = 1.5
    steepness: float = 6.0  # of the fall: 1 / (1 + exp(steepness * (distance / half - 1)))
    min_scale: float = 0.4  # of the halves, for the smallest things; 1 = not scale-aware
    full_size: float = 0.8  # extent of the larger of the two from which the halves are not scaled
    over: float = 0.3  # how far the centre of what is on something may lie off it in plan
    above: float = 0.5  # likewise above it
    below: float = 0.4  # likewise below it
    between: float = 0.25  # sideways, of the distance of the two
    rank_power: float = 1.0  # Closest, Farthest: 1 / (1 + rank) ** rank_power (FARM D.2: 1)
    center_share: float = (
        0.0  # of the distance between centres in what Closest ranks; the rest is between boxes
    )
    single_power: float = 1.0  # likewise "the second from the left", "the middle one"
    size_power: float = 1.0  # likewise "the tallest"
    side: float = 0.15  # how far to one side is clearly so: 0.73 true
    side_near: float = 2.5  # the two are seen together up to about here
    side_floor: float = 0.0  # what is left of a side however far away
    front_share: float = 1.0  # how far a known front counts against the default viewpoint
    color: float = 0.25  # distance of mean colours (of 1) at which a colour is a poor one
    color_spread: float = 0.3  # how far an attribute judged by measure departs from `unknown_attribute`
    place: float = 0.35  # how much "in the corner" and the like tell, by place


#: FARM D.2: Gaussians on distances between centroids, no scale, ranks as 1 / (1 + rank), sides in views alone.
PAPER = PredicateTable(
    centroids=True,
    gaussian=True,
    near=0.5,
    next_to=1.0,
    min_scale=1.0,
    center_share=1.0,
    front_share=0.0,
    side_floor=1.0,
    color_spread=0.0,
    place=0.0,
)


def table_of(values: Mapping[str, object]) -> PredicateTable:
    """The table of plain values. Raises ValueError for a name that is none of its fields or a value of no use."""
    known = {field.name: field.type for field in fields(PredicateTable)}
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise ValueError(f"the predicate table has no {', '.join(unknown)}")
    clean: dict[str, bool | float] = {}
    for name, value in values.items():
        if known[name] == "bool":
            clean[name] = bool(value)
        elif isinstance(value, (int, float)) and value >= 0.0:
            clean[name] = float(value)
        else:
            raise ValueError(f"{name} of the predicate table must be at least 0, not {value!r}")
    return PredicateTable(**clean)  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def load_table() -> PredicateTable:
    """The calibrated table of the package, read once per process."""
    text = resources.files("lodestar.query").joinpath("predicates.yaml").read_text(encoding="utf-8")
    return table_of(yaml.safe_load(text) or {})
