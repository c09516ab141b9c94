"""Measured errors of a real detector, for simulation: misses and their correlation, and wrong labels."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from statistics import NormalDist
from typing import Any

import numpy as np

from lodestar.perception.frames import RgbdFrame

WIDTH = 640.0  # pixels, width of the image to which sizes refer
_SAME_PLACE = 1.0  # m between two views of one object, which show different parts of it; chosen
_NORMAL = NormalDist()
_OPEN = 1e-4  # least probability of a hit and of a miss, so that neither is certain


@dataclass(frozen=True)
class MeasuredNoise:
    """Measured error statistics of one detector, written by the benchmark `detector-noise`.

    source: where they come from. recall: share of objects detected, a row per size and in it a value per
    distance. sizes, distances: lower edges of these bins, in pixels (square root of the mask's area in an
    image 640 wide) and metres. kinds: label of a simulator -> the detector's class. offsets: class -> logit
    of its recall relative to the pooled recall; other labels have none. lasting: share of the miss variable's
    variance that is constant per object; the rest is correlated over `memory` seconds. wrong: share of hits
    with a wrong label. edges: quantiles of the distance by which an edge of a detected box lies inside the
    object, as a share of the side. scores: quantiles of the confidence. strays: false detections per frame,
    with their labels and quantiles of their sizes.
    """

    source: str
    sizes: tuple[float, ...]
    distances: tuple[float, ...]
    recall: tuple[tuple[float, ...], ...]
    lasting: float
    memory: float
    wrong: float
    edges: tuple[float, ...]
    scores: tuple[float, ...]
    strays: float
    stray_sizes: tuple[float, ...]
    kinds: dict[str, str] = field(default_factory=dict)
    offsets: dict[str, float] = field(default_factory=dict)
    wrong_labels: dict[str, float] = field(default_factory=dict)
    stray_labels: dict[str, float] = field(default_factory=dict)

    def chance(self, label: str, size: float, distance: float | None) -> float:
        """Return the probability that an object of this size (pixels) and distance (metres) is detected.

        distance: None = unknown.
        """
        row = self.recall[_bin(self.sizes, size)]
        pooled = float(np.mean(row)) if distance is None else row[_bin(self.distances, distance)]
        offset = self.offsets.get(self.kinds.get(label, ""), 0.0)
        pooled = min(max(pooled, _OPEN), 1.0 - _OPEN)
        chance = 1.0 / (1.0 + (1.0 / pooled - 1.0) * math.exp(-offset))
        return min(max(chance, _OPEN), 1.0 - _OPEN)

    @classmethod
    def of(cls, record: dict[str, Any]) -> MeasuredNoise:
        """Return the statistics in a JSON record. Raises ValueError for a malformed record."""
        try:
            given: dict[str, Any] = {
                "source": str(record["source"]),
                "recall": tuple(tuple(float(share) for share in row) for row in record["recall"]),
                "kinds": {str(label): str(kind) for label, kind in record.get("kinds", {}).items()},
                **{name: tuple(float(one) for one in record[name]) for name in _LISTS},
                **{name: float(record[name]) for name in _NUMBERS},
                **{name: {str(k): float(v) for k, v in record.get(name, {}).items()} for name in _WEIGHTS},
            }
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"this is no measured noise ({type(error).__name__}: {error})") from error
        made = cls(**given)
        made._check()
        return made

    def _check(self) -> None:
        shares = [self.lasting, self.wrong, *(share for row in self.recall for share in row), *self.scores]
        values = [*self.edges, *self.stray_sizes, *self.sizes, *self.distances, *self.offsets.values()]
        weights = [*self.wrong_labels.values(), *self.stray_labels.values()]
        if {len(row) for row in self.recall} != {len(self.distances)} or len(self.recall) != len(self.sizes):
            raise ValueError(
                "this is no measured noise: `recall` needs a row per size, and in it a share per distance"
            )
        if not all(0.0 <= share <= 1.0 for share in shares) or not all(map(math.isfinite, values)):
            raise ValueError(
                "this is no measured noise: a share is not from 0 to 1, or a value is not finite"
            )
        if not all((self.sizes, self.edges, self.scores, self.stray_sizes)) or not all(
            0.0 < w < math.inf for w in weights
        ):
            raise ValueError("this is no measured noise: a list is empty, or a weight is not above 0")
        if not (0.0 < self.memory < math.inf and 0.0 <= self.strays < math.inf):
            raise ValueError(
                "this is no measured noise: `memory` must be above 0 seconds, `strays` not negative"
            )


_LISTS = ("sizes", "distances", "edges", "scores", "stray_sizes")
_NUMBERS = ("lasting", "memory", "wrong", "strays")
_WEIGHTS = ("offsets", "wrong_labels", "stray_labels")


def _bin(edges: tuple[float, ...], value: float) -> int:
    return max(int(np.searchsorted(edges, value, side="right")) - 1, 0)


@lru_cache(maxsize=8)
def measured_noise(name: str) -> MeasuredNoise:
    """Return the packaged statistics of a detector. Raises ValueError for an unknown name."""
    folder = resources.files("lodestar.perception") / "measured"
    file = folder / f"{name}.json"
    if not name.isidentifier() or not file.is_file():
        there = sorted(
            one.name.removesuffix(".json") for one in folder.iterdir() if one.name.endswith(".json")
        )
        raise ValueError(f"no noise {name!r} was measured; there are {', '.join(there)}")
    return MeasuredNoise.of(json.loads(file.read_text(encoding="utf-8")))


@dataclass
class _Thing:
    """State of an object. place: (3,) in odom, None = unknown.

    lasting, passing: constant and changing part of the miss variable, standard normal each; large values are
    misses.
    """

    place: np.ndarray | None
    lasting: float
    passing: float
    stamp: float


class MissMemory:
    """Decides which objects are missed, so that an object's misses are correlated in time as measured."""

    def __init__(self, noise: MeasuredNoise, rng: np.random.Generator) -> None:
        self._noise, self._rng = noise, rng
        self._things: dict[tuple[str, str], list[_Thing]] = {}
        self._given: set[int] = set()  # ids of the objects matched in this frame

    def start(self) -> None:
        """Begin a frame; in one frame, each object is matched at most once."""
        self._given.clear()

    def hits(self, stamp: float, entry: tuple[str, str], place: np.ndarray | None, chance: float) -> bool:
        """Return whether an object is detected. chance: its probability of detection.

        entry: the object's label and caption. place: (3,) metres in odom, None = unknown.
        """
        noise, rng = self._noise, self._rng
        thing = self._thing(stamp, entry, place)
        kept = math.exp(-max(stamp - thing.stamp, 0.0) / noise.memory)
        thing.passing = kept * thing.passing + math.sqrt(1.0 - kept * kept) * float(rng.standard_normal())
        thing.stamp, thing.place = stamp, place
        latent = math.sqrt(noise.lasting) * thing.lasting + math.sqrt(1.0 - noise.lasting) * thing.passing
        return latent < _NORMAL.inv_cdf(chance)

    def _thing(self, stamp: float, entry: tuple[str, str], place: np.ndarray | None) -> _Thing:
        known = [one for one in self._things.setdefault(entry, []) if id(one) not in self._given]
        if place is not None:
            apart = {
                id(one): float(np.linalg.norm(one.place - place)) if one.place is not None else 0.0
                for one in known
            }
            known = sorted(
                (one for one in known if apart[id(one)] <= _SAME_PLACE), key=lambda one: apart[id(one)]
            )
        if known:
            thing = known[0]
        else:
            thing = _Thing(
                place, float(self._rng.standard_normal()), float(self._rng.standard_normal()), stamp
            )
            self._things[entry].append(thing)
        self._given.add(id(thing))
        return thing


def place_of(
    frame: RgbdFrame, rows: np.ndarray, columns: np.ndarray
) -> tuple[np.ndarray | None, float | None]:
    """Return the position in odom (3,) of pixels at their median depth, and that depth, metres.

    None, None without depth.
    """
    depth = frame.depth[rows, columns]
    depth = depth[depth > 0.0]
    if not len(depth):
        return None, None
    z, camera = float(np.median(depth)), frame.camera
    x, y = (columns.mean() - camera.cx) / camera.fx * z, (rows.mean() - camera.cy) / camera.fy * z
    return (frame.odom_from_camera @ np.array([x, y, z, 1.0]))[:3], z
