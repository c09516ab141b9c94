"""Things of a recorded room that a person labelled, and where the images show them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.geometry.poses import transform_points
from lodestar.perception.frames import RgbdFrame

_GROWN = 0.03  # m by which a labelled box is grown for the points of its thing: noise of depth; chosen
STEP = 2  # pixels between two points along either side; chosen
_NEAR, _FAR = 0.1, 5.0  # m of depth in which the map uses points (DESIGN section 4)


class BadLabels(ValueError):
    """A file is no list of labelled things; the message says what to write."""


@dataclass(frozen=True, eq=False)
class LabelledThing:
    """A thing and the box, low and high (3,), metres in map, around the part that the images showed its labeller."""

    label: str
    low: np.ndarray
    high: np.ndarray
    note: str = ""

    @property
    def centre(self) -> np.ndarray:
        """Return the middle (3,) of the box."""
        return (self.low + self.high) / 2.0

    def gap(self, point: np.ndarray) -> float:
        """Return the distance of a point (3,) from the box, 0 within it."""
        return float(np.linalg.norm(np.maximum(np.maximum(self.low - point, point - self.high), 0.0)))


@dataclass(frozen=True)
class LabelledRoom:
    """things: to be found. unsure: what may be there. map_from_recording: (4, 4), z up from the floor."""

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
    """Return the files of labels that come with Lodestar, by the name of their recording."""
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
        label, low, high = (
            str(record["label"]),
            np.array(record["min"], float),
            np.array(record["max"], float),
        )
        if not label.strip() or low.shape != (3,) or high.shape != (3,) or not (low < high).all():
            raise ValueError(f"{label!r} has no box: min must be below max in x, y and z")
        found.append(LabelledThing(label.strip(), low, high, str(record.get("note", ""))))
    return tuple(found)


class FramePoints:
    """Points of a frame in map, one of `STEP` x `STEP` pixels; `of` selects those of a thing."""

    def __init__(self, frame: RgbdFrame) -> None:
        camera, depth = frame.camera, frame.depth[::STEP, ::STEP]
        v, u = np.nonzero((depth >= _NEAR) & (depth <= _FAR))
        z = depth[v, u].astype(float)
        u, v = u * STEP, v * STEP
        local = np.stack([(u - camera.cx) / camera.fx * z, (v - camera.cy) / camera.fy * z, z], axis=1)
        self.rows, self.columns, self.depth = v, u, z
        self._points = transform_points(frame.map_from_camera, local)

    def of(self, thing: LabelledThing) -> np.ndarray:
        """Return the indices of the points in a thing's box; what stands before it in the image has none there."""
        points = self._points
        return np.flatnonzero(((points >= thing.low - _GROWN) & (points <= thing.high + _GROWN)).all(axis=1))
