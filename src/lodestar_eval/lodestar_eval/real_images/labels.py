"""Objects of a recorded room labelled by a person, and their pixels in the images."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.geometry.poses import transform_points
from lodestar.perception.frames import RgbdFrame

_GROWN = 0.03  # m by which a labelled box is grown to take in noisy points of its object; chosen
STEP = 2  # pixels between two sampled points, along either side; chosen
_NEAR, _FAR = 0.1, 5.0  # m, range of depth that the map uses (DESIGN section 4)


class BadLabels(ValueError):
    """Raised if a file is not a list of labelled objects; the message describes the expected form."""


@dataclass(frozen=True, eq=False)
class LabelledThing:
    """A labelled object with its box, low and high (3,), metres in map, around the part seen in the images."""

    label: str
    low: np.ndarray
    high: np.ndarray
    note: str = ""

    @property
    def centre(self) -> np.ndarray:
        """Return the centre (3,) of the box."""
        return (self.low + self.high) / 2.0

    def gap(self, point: np.ndarray) -> float:
        """Return the distance of a point (3,) from the box, 0 within it."""
        return float(np.linalg.norm(np.maximum(np.maximum(self.low - point, point - self.high), 0.0)))


@dataclass(frozen=True)
class LabelledRoom:
    """Labels of a room. things: objects that the robot should find. unsure: objects that it may find or not.
    map_from_recording: (4, 4), z up.
    """

    name: str
    things: tuple[LabelledThing, ...]
    unsure: tuple[LabelledThing, ...]
    map_from_recording: np.ndarray

    def covers(self, point: np.ndarray, margin: float) -> bool:
        """Return whether a point (3,) lies in the part of the room that was labelled, grown by `margin` metres."""
        boxes = (*self.things, *self.unsure)
        low = np.min([box.low for box in boxes], axis=0) - margin
        high = np.max([box.high for box in boxes], axis=0) + margin
        return bool(((point >= low) & (point <= high)).all())


def known_rooms() -> dict[str, Path]:
    """Return the label files that come with Lodestar, by the name of their recording."""
    folder = Path(str(resources.files("lodestar_eval"))) / "labelled_rooms"
    return {file.stem: file for file in sorted(folder.glob("*.json"))}


def read_room(file: Path) -> LabelledRoom:
    """Return the labels of a file. Raises BadLabels."""
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        things, unsure = _things(record["things"]), _things(record.get("unsure", []))
        pose = np.array(record.get("map_from_recording", np.eye(4).tolist()), float)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}"
        raise BadLabels(f"{file} holds no labels ({why}): {_FORM}") from error
    if not things or pose.shape != (4, 4) or not np.isfinite(pose).all():
        raise BadLabels(f"{file} names no thing, or its map_from_recording is no 4 x 4 matrix: {_FORM}")
    if not np.allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-3):
        raise BadLabels(f"{file}: map_from_recording turns and moves only; its 3 x 3 part is no rotation")
    return LabelledRoom(file.stem, things, unsure, pose)


_FORM = (
    'write {"map_from_recording": [4 rows of 4], "things": [{"label": "chair", "min": [x, y, z], "max": [x, y, z]}, '
    '...], "unsure": [...]} in metres, as lodestar_eval/labelled_rooms/rgbd_7scenes.json'
)


def _things(records: list[dict[str, Any]]) -> tuple[LabelledThing, ...]:
    found = []
    for record in records:
        label = str(record["label"])
        low, high = np.array(record["min"], float), np.array(record["max"], float)
        if not label.strip() or low.shape != (3,) or high.shape != (3,) or not (low < high).all():
            raise ValueError(f"{label!r} has no box: min must be below max in x, y and z")
        found.append(LabelledThing(label.strip(), low, high, str(record.get("note", ""))))
    return tuple(found)


class FramePoints:
    """Points of a frame in map, `at` (N, 3), one per `STEP` x `STEP` pixels; `of` selects those of an object."""

    def __init__(self, frame: RgbdFrame) -> None:
        camera, depth = frame.camera, frame.depth[::STEP, ::STEP]
        v, u = np.nonzero((depth >= _NEAR) & (depth <= _FAR))
        z = depth[v, u].astype(float)
        u, v = u * STEP, v * STEP
        local = np.stack([(u - camera.cx) / camera.fx * z, (v - camera.cy) / camera.fy * z, z], axis=1)
        self.rows, self.columns, self.depth = v, u, z
        self.at = transform_points(frame.map_from_camera, local)

    def of(self, thing: LabelledThing) -> np.ndarray:
        """Return the indices of the points in an object's box; occluding objects have no points in it."""
        points = self.at
        return np.flatnonzero(((points >= thing.low - _GROWN) & (points <= thing.high + _GROWN)).all(axis=1))
