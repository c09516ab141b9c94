"""Rooms visited twice (AI2-THOR Rearrangement) with simulated perception errors: missed, misplaced, mislabelled."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lodestar.scene.change_pairs import Sight

TAKEN = ADDED = 0.1  # shares of the objects removed after the first visit and added before the second
CONFUSED = 0.05  # share of labels replaced by another one of the same room


class BadVisits(ValueError):
    """Raised if the folder lacks the visits; the message says what is missing."""


@dataclass(frozen=True)
class VisitedThing:
    """An object of a room. first, second: (3,) metres, z up; its positions at both visits."""

    name: str
    label: str
    first: np.ndarray
    second: np.ndarray
    moved: bool


@dataclass(frozen=True)
class Visits:
    """One room visited twice, with the positions of its objects at both visits."""

    episode: str
    scene: str
    room: str
    things: tuple[VisitedThing, ...]


@dataclass(frozen=True)
class Noise:
    """Simulated perception errors of a visit. missed: share of the objects not observed; half of them out of
    view, half in view but undetected.

    error: metres, standard deviation of a position per axis.
    """

    missed: float
    error: float

    @property
    def hidden(self) -> float:
        """Return the share of places that are out of view."""
        return self.missed / 2.0

    @property
    def overlooked(self) -> float:
        """Return the share of objects in view that are not detected."""
        return 1.0 - (1.0 - self.missed) / (1.0 - self.hidden)

    @property
    def name(self) -> str:
        """Return the name of this noise level in the metrics' names."""
        return f"m{round(100 * self.missed)}_e{round(100 * self.error)}"


@dataclass(frozen=True)
class Observed:
    """Both visits as observed, and the truth. The id of an observation is the index of its object in
    `Visits.things`.

    became: index of the object -> "same", "moved", "taken" or "added".
    """

    before: tuple[Sight, ...]
    after: tuple[Sight, ...]
    became: dict[int, str]


def load_visits(folder: Path, part: str = "told") -> list[Visits]:
    """Return the episodes of a part of the data: "development" (every second scene by name), "told" (the
    others, for published results) or "all". Raises BadVisits.
    """
    try:
        lines = (folder / "episodes.jsonl").read_text(encoding="utf-8").splitlines()
        found = [_visits(json.loads(line)) for line in lines if line.strip()]
    except OSError as error:
        raise BadVisits(f"{folder} has no episodes.jsonl that can be read ({error})") from None
    except (KeyError, TypeError, ValueError) as error:
        raise BadVisits(
            f"episodes.jsonl of {folder} is no list of visits ({error.__class__.__name__}: {error})"
        ) from None
    scenes = sorted({visits.scene for visits in found})
    chosen = {"development": scenes[0::2], "told": scenes[1::2], "all": scenes}[part]
    found = [visits for visits in found if visits.scene in chosen]
    if not found:
        raise BadVisits(f"{folder} has no scene of the part {part!r}")
    return found


def _visits(record: dict) -> Visits:
    things = tuple(
        VisitedThing(
            str(thing["name"]), _words(str(thing["type"])), _upright(thing["target"]["pos"]),
            _upright(thing["start"]["pos"]), bool(thing["moved"]),
        )
        for thing in record["objects"]
    )  # fmt: skip
    return Visits(str(record["episode"]), str(record["scene"]), str(record["room"]), things)


def _words(name: str) -> str:
    """Return "butter knife" for "ButterKnife"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _upright(position: Sequence[float]) -> np.ndarray:
    """Return a position with z up, given one with y up."""
    x, y, z = (float(value) for value in position)
    return np.array([x, z, y])


def observe(visits: Visits, noise: Noise, labels: Sequence[str], rng: np.random.Generator) -> Observed:
    """Return a robot's observations of both visits. labels: candidates for confused labels."""
    count = len(visits.things)
    became = {}
    for row, (thing, drawn) in enumerate(zip(visits.things, rng.random(count))):
        status = "moved" if thing.moved else "same"
        became[row] = "taken" if drawn < TAKEN else "added" if drawn < TAKEN + ADDED else status
    # axes: visit of the observation, visit of the object's position, object
    in_view = rng.random((2, 2, count)) >= noise.hidden
    in_view[:, 1] = np.where([t.moved for t in visits.things], in_view[:, 1], in_view[:, 0])
    noticed = rng.random((2, count)) >= noise.overlooked
    passes = []
    for visit in (0, 1):
        absent = "added" if visit == 0 else "taken"
        sights = []
        for row, thing in enumerate(visits.things):
            error = rng.normal(0.0, noise.error, 3)
            confused = rng.random() < CONFUSED
            other = str(rng.choice([label for label in labels if label != thing.label]))
            if became[row] == absent or not (in_view[visit, visit, row] and noticed[visit, row]):
                continue
            sights.append(
                Sight(
                    row, other if confused else thing.label,
                    (thing.second if visit else thing.first) + error, noise.error**2 * np.eye(3),
                    watched=float(in_view[1 - visit, visit, row]),
                )
            )  # fmt: skip
        passes.append(tuple(sights))
    return Observed(passes[0], passes[1], became)


def shuffled(sights: Sequence[Sight], rng: np.random.Generator) -> tuple[list[Sight], list[int]]:
    """Return the observations in random order, with ids that reveal nothing, and the object index of each."""
    order = rng.permutation(len(sights)).tolist()
    return [replace(sights[k], id=place) for place, k in enumerate(order)], [sights[k].id for k in order]
