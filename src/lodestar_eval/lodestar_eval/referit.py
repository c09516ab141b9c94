"""Human sentences over annotated rooms in ReferIt3D's format: `utterances.csv` and `objects.json` in a folder."""

from __future__ import annotations

import csv
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.scene.records import Entity

HALVES = ("fit", "report", "all")


class BadData(ValueError):
    """Raised if the folder lacks required data; the message names it."""


@dataclass(frozen=True)
class Sentence:
    """One referring expression. `target`, `kind`, `hard` and `view_dependent` are for the evaluation only."""

    scan: str
    text: str
    target: int
    kind: str
    hard: bool
    view_dependent: bool


@dataclass(frozen=True)
class Rooms:
    """Sentences over annotated rooms. entities: objects by scan (room) and id."""

    sentences: tuple[Sentence, ...]
    entities: dict[str, dict[int, Entity]]


def half_of(scan: str) -> str:
    """Return the half of a room and all its sentences, "fit" or "report", by a hash of the scan's name."""
    return HALVES[hashlib.sha256(scan.encode()).digest()[0] % 2]


def load_rooms(folder: Path, half: str = "all") -> Rooms:
    """Return the sentences of a half and their rooms. Raises BadData."""
    if half not in HALVES:
        raise BadData(f"{half!r} is no half; there are {', '.join(HALVES)}")
    try:
        with (folder / "utterances.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        objects = json.loads((folder / "objects.json").read_text(encoding="utf-8"))
        sentences = tuple(
            Sentence(
                row["scan_id"],
                row["utterance"],
                int(row["target_id"]),
                row["instance_type"],
                row["hard"] == "1",
                row["view_dependent"] == "1",
            )
            for row in rows
            if half in ("all", half_of(row["scan_id"]))
        )
        scans = {sentence.scan for sentence in sentences}
        entities = {scan: {e.id: e for e in map(_entity, objects[scan])} for scan in scans}
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise BadData(f"{folder} is not such a folder: {error.__class__.__name__}: {error}") from error
    if not sentences:
        raise BadData(f"{folder} has no sentence in the half {half!r}")
    return Rooms(sentences, entities)


def _entity(record: dict[str, Any]) -> Entity:
    center, size = np.array(record["center"], float), np.array(record["size"], float)
    front = None
    if record.get("has_front") and record.get("front_point"):
        towards = np.array(record["front_point"], float)[:2] - center[:2]
        length = float(np.linalg.norm(towards))
        front = np.array([*(towards / length), 0.0]) if length > 1e-6 else None
    return Entity(
        id=int(record["id"]),
        label=record["label"],
        caption=record["label"],
        mean=center,
        covariance=np.diag((size / 4.0) ** 2),
        box_min=center - size / 2.0,
        box_max=center + size / 2.0,
        color=np.array(record["avg_rgba"][:3], float) / 255.0,
        front=front,
    )
