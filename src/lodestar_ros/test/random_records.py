"""Random instances of any dataclass, from its type hints; invalid values are drawn again."""

from __future__ import annotations

import dataclasses
import enum
import math
import random
import types
import typing
from typing import Any

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import planar_transform
from lodestar.language.directive import Item, Step
from lodestar.language.query_graph import PREDICATES, Predicate, QueryGraph, QueryVariable
from lodestar.language.time_windows import TimeBasis, TimePoint
from lodestar.storage.records import Until
from lodestar.worldmodel.records import Skill

TEXTS = ("chair", "red chair", "", "Küche", "a\nb", "desk")
NAMED = {"frame": "map", "verb": "move", "expert": "frontier"}  # "" would mean none in these fields
STAMPS = {"stamp", "first_seen", "last_seen", "last_verified", "began"}
LIMITS = {"expires": math.inf, "deadline": math.inf, "by": math.inf, "looks_since": -math.inf}


class Records:
    """Generator of random records, deterministic for a seed."""

    def __init__(self, seed: int) -> None:
        self._draw, self._rng = random.Random(seed), np.random.default_rng(seed)

    def record(self, kind: Any) -> Any:
        """Return a random record of a dataclass. Raises the last error after 500 invalid draws."""
        hints = typing.get_type_hints(kind)
        for left in range(500, 0, -1):
            values = {
                field.name: self._value(hints[field.name], field.name) for field in dataclasses.fields(kind)
            }
            try:
                return kind(**(values | self._fitting(kind, values)))
            except (ValueError, TypeError):
                if left == 1:
                    raise
        raise AssertionError

    def _fitting(self, kind: Any, values: dict[str, Any]) -> dict[str, Any]:
        """Return valid values of fields that random values would hardly ever match."""
        draw = self._draw
        if kind is Predicate:
            arguments = tuple(draw.randrange(2) for _ in range(draw.choice([1, 2])))
            value = draw.choice(["red", "", "rank=2"])
            return {"name": draw.choice(PREDICATES), "value": value, "arguments": arguments}
        if kind is QueryGraph:
            return {"variables": tuple(self.record(QueryVariable) for _ in range(3))}
        if kind is TimePoint and values["basis"] is not TimeBasis.EVENT:
            return {"event": None}
        if kind is Step and values["item"] == Item(count=getattr(values["item"], "count", 1)):
            return {"item": None}  # an empty item means the same as None
        return {}

    def _value(self, kind: Any, field: str) -> Any:
        draw, outer, inner = self._draw, typing.get_origin(kind), typing.get_args(kind)
        if outer in (typing.Union, types.UnionType):
            return None if draw.random() < 0.4 else self._value(inner[0], field)
        if outer is tuple and inner[1:] != (Ellipsis,):
            return tuple(self._value(one, field) for one in inner)
        if outer in (tuple, frozenset):
            return outer(self._value(inner[0], field) for _ in range(draw.randrange(4)))
        if outer is dict:
            return {self._value(inner[0], ""): self._value(inner[1], field) for _ in range(draw.randrange(4))}
        if dataclasses.is_dataclass(kind) and kind not in (PinholeCamera, Skill):
            return self.record(kind)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return draw.choice(list(kind))
        return self._single(kind, field)

    def _single(self, kind: Any, field: str) -> Any:
        draw, kind = self._draw, float if kind is Until else kind
        if kind is float and field in LIMITS and draw.random() < 0.3:
            return LIMITS[field]
        if kind is float and (field in STAMPS or field in LIMITS):
            return draw.choice([0.0, draw.uniform(0, 2e9), round(draw.uniform(0, 1e4), 3)])
        made = {
            str: lambda: NAMED.get(field) or draw.choice(TEXTS),
            bytes: lambda: draw.randbytes(5),
            bool: lambda: draw.random() < 0.5,
            int: lambda: draw.choice([0, 1, 7, draw.randrange(200)]),
            float: lambda: draw.uniform(0, 1),
            Skill: lambda: Skill(draw.choice(["NAVIGATE_TO", "LOOK", "x"])),
            PinholeCamera: lambda: PinholeCamera(64, 48, 38.0, 38.5, 31.5, 23.5),
            np.ndarray: lambda: self._array(field),
        }
        return made[kind]()

    def _array(self, field: str) -> np.ndarray:
        draw, rng = self._draw, self._rng
        if "_from_" in field:
            return planar_transform(*rng.uniform(-3, 3, 3), float(draw.uniform(0, 2)))
        if field == "covariance":
            half = rng.normal(size=(3, 3))
            return half @ half.T
        if field in ("feature", "vector"):
            return rng.normal(size=8).astype(np.float32)
        return rng.uniform(-3, 3, 2 if field == "velocity" else 3)
