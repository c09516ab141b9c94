"""Parameters of the soft predicates: the table calibrated by `lodestar_eval calibrate`, and the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import resources

import yaml


@dataclass(frozen=True)
class PredicateTable:
    """Parameters of the soft predicates (FARM D.2). Lengths in metres, at which a predicate is half true for furniture.

    Scoring uses `load_table`. Fields marked "calibration start" have no source: they are where the calibration
    (`lodestar_eval calibrate`) began.
    """

    centroids: bool = False  # distances between centres, as FARM D.2, instead of between boxes
    gaussian: bool = False  # Near and NextTo fall as a Gaussian whose sigma is the half distance (FARM D.2)
    near: float = 2.5  # metres; half distance of Near; calibration start: a few steps
    next_to: float = 1.5  # metres; half distance of NextTo; calibration start: one step
    # 0..1, weight of centre distances in NextTo, the rest between boxes; calibration start
    beside_share: float = 0.0
    # without unit: 1 / (1 + exp(steepness * (distance / half - 1))); calibration start
    steepness: float = 6.0
    # factor of half distances for the smallest objects; 1 = not scale-aware; calibration start
    min_scale: float = 0.4
    # metres; extent of the larger object from which half distances are not scaled; calibration start
    full_size: float = 0.8
    over: float = 0.3  # metres in plan from the centre of an object to its support, On; calibration start
    above: float = 0.5  # metres in plan from the centre of an object to its support, Above; calibration start
    below: float = 0.4  # metres in plan from the centre of an object to its support, Below; calibration start
    between: float = 0.25  # lateral offset of Between as a share of the anchors' distance; calibration start
    rank_power: float = 1.0  # Closest, Farthest: 1 / (1 + rank) ** rank_power (FARM D.2: 1)
    # 0..1, weight of centre distances in Closest, the rest between boxes; calibration start
    center_share: float = 0.0
    # exponent of ranks in "the second from the left", "the middle one"; calibration start
    single_power: float = 1.0
    size_power: float = 1.0  # exponent of ranks in "the tallest"; calibration start
    side: float = 0.15  # metres to one side at which a side is 0.73 true; calibration start
    side_near: float = 2.5  # metres up to which two objects are seen together; calibration start
    side_floor: float = 0.0  # 0..1, least nearness factor of a side; calibration start
    front_share: float = 1.0  # 0..1, weight of a known front against the default viewpoint; calibration start
    # distance of mean RGB colours, channels 0..1, at which a colour fits badly; calibration start
    color: float = 0.25
    # largest difference of a measured attribute from QUERY_UNKNOWN_ATTRIBUTE; calibration start
    color_spread: float = 0.3
    place: float = 0.35  # 0..1, weight of places such as "in the corner"; calibration start


#: FARM D.2: Gaussians on distances between centroids, no scale, ranks as 1 / (1 + rank), sides only in views.
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
    """Return the table from plain values. Raises ValueError for an unknown field or an invalid value."""
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
    """Return the calibrated table of the package, read once per process."""
    text = resources.files("lodestar.query").joinpath("predicates.yaml").read_text(encoding="utf-8")
    return table_of(yaml.safe_load(text) or {})
