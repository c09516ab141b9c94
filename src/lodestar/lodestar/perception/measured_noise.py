"""Measured errors of a real detector, for simulation: misses, wrong labels and false detections, which depend on the
viewpoint and therefore stay while the camera stands.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from statistics import NormalDist
from typing import Any

import numpy as np

from lodestar.perception.frames import RgbdFrame

WIDTH = 640.0  # pixels, width of the image to which sizes refer
_SAME_PLACE = 1.0  # m between two views of one object, which show different parts of it; chosen
_WAVES = 24  # of a random field; chosen: about normal, and cheap
_STRAY_JUMP = 0.5  # m that a stray's place may lie behind the surface in view, for it to be in view; chosen
_NORMAL = NormalDist()
EVIDENCE_LEAST = 0.05  # least score of a detection that is evidence; chosen: below, boxes say nothing
_OPEN = 1e-4  # least probability of a hit and of a miss, so that neither is certain


@dataclass(frozen=True)
class Evidence:
    """Probabilities that a network's detections are true, by label and score, fitted by `detector-noise`.

    level, slope: logit of the probability that a detection is true = level + slope * logit(score), plus the offset of
    its label, if that was measured. prior: logit of the share of true detections. seen: labels with true detections.
    """

    level: float = 0.0
    slope: float = 1.0
    prior: float = 0.0
    offsets: dict[str, float] = field(default_factory=dict)
    seen: Sequence[str] = ()

    def logit(self, label: str, score: float) -> float:
        """Return the logit of the probability that a detection is true."""
        score = min(max(score, EVIDENCE_LEAST), 1.0 - EVIDENCE_LEAST)
        return self.level + self.slope * math.log(score / (1.0 - score)) + self.offsets.get(label, 0.0)


@dataclass(frozen=True)
class MeasuredNoise:
    """Measured error statistics of one detector, written by the benchmark `detector-noise`.

    source: where they come from. recall: share of objects detected, a row per size and in it a value per
    distance. sizes, distances: lower edges of these bins, in pixels (square root of the mask's area in an
    image 640 wide) and metres. kinds: label of a simulator -> the detector's class. offsets: class -> logit
    of its recall relative to the pooled recall; other labels have none. lasting: share of the miss variable's
    variance that is constant per object. The rest depends on the viewpoint, and is correlated over a change of it by
    `shift`: radians of the direction of view, or of the logarithm of the distance; 0 = it does not matter. memory:
    seconds over which the rest is correlated in time; 0 = time does not matter. wrong: share of hits with a wrong
    label. pairs: class -> labels that it is taken for. wrong_labels: those of all classes. edges: quantiles of the
    distance by which an edge of a detected box lies inside the object, as a share of the side. scores: quantiles of
    the confidence. strays: false detections per frame, with their labels and quantiles of their sizes. stray_shift:
    change of the viewpoint over which a stray stays; 0 = each frame has its own. evidence: of each network of a
    `FusedDetector`, by the name of its file.
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
    shift: float = 0.0
    stray_shift: float = 0.0
    pairs: dict[str, dict[str, float]] = field(default_factory=dict)
    wrong_labels: dict[str, float] = field(default_factory=dict)
    stray_labels: dict[str, float] = field(default_factory=dict)
    evidence: dict[str, Evidence] = field(default_factory=dict)

    def chance(self, label: str, size: float, distance: float | None) -> float:
        """Return the probability that an object of this size (pixels) and distance (metres) is detected.

        distance: None = unknown.
        """
        row = self.recall[_bin(self.sizes, size)]
        pooled = float(np.mean(row)) if distance is None else row[_bin(self.distances, distance)]
        offset = self.offsets.get(self.kinds.get(label, label), 0.0)
        pooled = min(max(pooled, _OPEN), 1.0 - _OPEN)
        chance = 1.0 / (1.0 + (1.0 / pooled - 1.0) * math.exp(-offset))
        return min(max(chance, _OPEN), 1.0 - _OPEN)

    def knows(self, label: str) -> bool:
        """Return whether the recall of the label's class was measured."""
        return self.kinds.get(label, label) in self.offsets

    def mistaken(self, label: str) -> dict[str, float]:
        """Return the labels that an object is taken for, with their weights; {} = none was measured."""
        return self.pairs.get(self.kinds.get(label, label), self.wrong_labels)

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
                **{name: _weights(record.get(name, {})) for name in _WEIGHTS},
                **{name: float(record.get(name, 0.0)) for name in ("shift", "stray_shift")},
                "evidence": {str(name): Evidence(**one) for name, one in record.get("evidence", {}).items()},
                "pairs": {str(kind): _weights(given) for kind, given in record.get("pairs", {}).items()},
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
        weights += [weight for pair in self.pairs.values() for weight in pair.values()]
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
        if not all(0.0 <= one < math.inf for one in (self.memory, self.shift, self.stray_shift, self.strays)):
            raise ValueError(
                "this is no measured noise: `memory`, `shift`, `stray_shift` and `strays` must not be negative"
            )
        if self.memory == self.shift == 0.0 or not all(self.pairs.values()):
            raise ValueError("this is no measured noise: it needs `memory` or `shift`, and labels in `pairs`")


_LISTS = ("sizes", "distances", "edges", "scores", "stray_sizes")
_NUMBERS = ("lasting", "memory", "wrong", "strays")
_WEIGHTS = ("offsets", "wrong_labels", "stray_labels")


def _weights(record: dict[str, Any]) -> dict[str, float]:
    return {str(label): float(weight) for label, weight in record.items()}


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
    """State of an object. place: (3,) in odom, None = unknown. lasting: constant part of the miss variable, standard
    normal; large values are misses. missing, naming: the parts of a miss and of a wrong label that change with the
    viewpoint. label: what it is taken for, "" = not drawn yet.
    """

    place: np.ndarray | None
    lasting: float
    missing: _Field
    naming: _Field
    label: str = ""


class _Field:
    """Random function of viewpoint and time, about normal with variance 1: the same again from the same place.

    Its correlation falls as exp(-d^2/2) with the change d of the viewpoint in units of `shift`, and as
    exp(-t / memory) with time (random Fourier features of Gaussian and Cauchy frequencies).
    """

    def __init__(self, noise: MeasuredNoise, rng: np.random.Generator) -> None:
        self._waves = np.zeros((_WAVES, 4))
        if noise.shift > 0.0:
            self._waves[:, :3] = rng.standard_normal((_WAVES, 3)) / noise.shift
        if noise.memory > 0.0:
            self._waves[:, 3] = rng.standard_cauchy(_WAVES) / noise.memory
        self._phases = rng.uniform(0.0, 2.0 * math.pi, _WAVES)

    def at(self, view: np.ndarray) -> float:
        """Return the value at (4,): cosine and sine of the direction of view, logarithm of the distance, seconds."""
        return float(np.cos(self._waves @ view + self._phases).sum() * math.sqrt(2.0 / _WAVES))


class MissMemory:
    """Decides which objects are missed and mistaken, so that it stays from one view to the next as measured."""

    def __init__(self, noise: MeasuredNoise, rng: np.random.Generator) -> None:
        self._noise, self._rng = noise, rng
        self._things: dict[tuple[str, str], list[_Thing]] = {}
        self._given: set[int] = set()  # ids of the objects matched in this frame

    def start(self) -> None:
        """Begin a frame; in one frame, each object is matched at most once."""
        self._given.clear()

    def seen_as(
        self,
        stamp: float,
        entry: tuple[str, str],
        place: np.ndarray | None,
        chance: float,
        camera: np.ndarray | None = None,
    ) -> str | None:
        """Return the label that an object is given; None if it is missed. chance: its probability of detection.

        entry: the object's label and caption. place: (3,) metres in odom, None = unknown. camera: (3,) in odom.
        """
        noise = self._noise
        thing = self._thing(entry, place)
        thing.place = place
        view = np.array([0.0, 0.0, 0.0, stamp])
        if place is not None and camera is not None:
            x, y, z = camera - place
            level = max(math.hypot(x, y), 1e-6)
            view[:3] = x / level, y / level, math.log(max(math.hypot(x, y, z), 0.1))
        latent = math.sqrt(noise.lasting) * thing.lasting
        latent += math.sqrt(1.0 - noise.lasting) * thing.missing.at(view)
        if latent >= _NORMAL.inv_cdf(chance):
            return None
        others = noise.mistaken(entry[0])
        if (
            not others
            or noise.wrong <= 0.0
            or thing.naming.at(view) >= _NORMAL.inv_cdf(min(noise.wrong, 0.999))
        ):
            return entry[0]
        thing.label = thing.label or drawn(others, self._rng)
        return thing.label

    def _thing(self, entry: tuple[str, str], place: np.ndarray | None) -> _Thing:
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
            noise, rng = self._noise, self._rng
            thing = _Thing(place, float(rng.standard_normal()), _Field(noise, rng), _Field(noise, rng))
            self._things[entry].append(thing)
        self._given.add(id(thing))
        return thing


def drawn(weights: Mapping[str, float], rng: np.random.Generator) -> str:
    """Return one of the labels, drawn by its weight."""
    shares = np.array(list(weights.values()))
    return str(list(weights)[int(rng.choice(len(shares), p=shares / shares.sum()))])


@dataclass(frozen=True)
class Stray:
    """False detection. place: (3,) in odom, None = unknown. side: metres, in pixels of the image without a place."""

    label: str
    place: np.ndarray | None
    side: float


class StrayMemory:
    """False detections, which stay where they are while the viewpoint changes little, as measured."""

    def __init__(self, noise: MeasuredNoise, rng: np.random.Generator) -> None:
        self._noise, self._rng = noise, rng
        self._strays: list[Stray] = []
        self._before: np.ndarray | None = None  # (4, 4) pose of the camera in odom at the last frame

    def boxes(self, shape: tuple[int, int], frame: RgbdFrame | None) -> list[tuple[str, int, int, int, int]]:
        """Return the label, top, left, rows and columns of the false detections of a frame."""
        noise, rng = self._noise, self._rng
        born = noise.strays
        if frame is None or noise.stray_shift <= 0.0:
            self._strays = []
        else:
            if self._before is not None:
                depth = frame.depth[::4, ::4]
                born *= 1.0 - self._stays(
                    frame, float(np.median(depth[depth > 0.0])) if (depth > 0).any() else 2.0
                )
            self._strays = [one for one in self._strays if self._is_kept(one, frame)]
            self._before = np.array(frame.odom_from_camera)
        found = [box for box in (_box_of(one, shape, frame) for one in self._strays) if box is not None]
        for _ in range(int(rng.poisson(born)) if noise.stray_labels else 0):
            side = max(int(rng.choice(noise.stray_sizes) * shape[1] / WIDTH), 1)
            rows, columns = min(side, shape[0]), min(side, shape[1])
            top, left = int(rng.integers(shape[0] - rows + 1)), int(rng.integers(shape[1] - columns + 1))
            label = drawn(noise.stray_labels, rng)
            found.append((label, top, left, rows, columns))
            if frame is not None and noise.stray_shift > 0.0:
                centre = np.array([top + rows // 2]), np.array([left + columns // 2])
                place, away = place_of(frame, *centre)
                if place is not None and away is not None:
                    self._strays.append(Stray(label, place, side * away / frame.camera.fx))
        return found

    def _is_kept(self, stray: Stray, frame: RgbdFrame) -> bool:
        away = float(np.linalg.norm(frame.odom_from_camera[:3, 3] - stray.place))
        return bool(self._rng.random() < self._stays(frame, away))

    def _stays(self, frame: RgbdFrame, distance: float) -> float:
        """Return the probability that a false detection at this distance, metres, is in the next frame too."""
        if self._before is None:
            return 1.0
        return math.exp(
            -view_change(self._before, frame.odom_from_camera, distance) / self._noise.stray_shift
        )


def view_change(before: np.ndarray, after: np.ndarray, distance: float) -> float:
    """Return the change of viewpoint between two poses (4, 4) of a camera, for a thing at `distance`, metres:
    the shift as a share of the distance, and the turn, radians.
    """
    shift = float(np.linalg.norm(after[:3, 3] - before[:3, 3])) / max(distance, 0.1)
    cosine = (float(np.trace(before[:3, :3].T @ after[:3, :3])) - 1.0) / 2.0
    return math.hypot(shift, math.acos(min(max(cosine, -1.0), 1.0)))


def _box_of(
    stray: Stray, shape: tuple[int, int], frame: RgbdFrame | None
) -> tuple[str, int, int, int, int] | None:
    """Return label, top, left, rows and columns of a stray in an image; None if it is not in view."""
    assert frame is not None and stray.place is not None
    camera = frame.camera
    x, y, z = (np.linalg.inv(frame.odom_from_camera) @ np.append(stray.place, 1.0))[:3]
    if z <= 0.2:
        return None
    row, column = round(camera.fy * y / z + camera.cy), round(camera.fx * x / z + camera.cx)
    if not (0 <= row < shape[0] and 0 <= column < shape[1]):
        return None
    depth = float(frame.depth[row, column])
    if 0.0 < depth < z - _STRAY_JUMP:
        return None
    side = max(round(stray.side * camera.fx / z), 1)
    top, left = row - side // 2, column - side // 2
    bottom, right = min(top + side, shape[0]), min(left + side, shape[1])
    top, left = max(top, 0), max(left, 0)
    return stray.label, top, left, bottom - top, right - left


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
