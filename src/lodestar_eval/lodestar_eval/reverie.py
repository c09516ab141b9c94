"""Buildings with posed images and object boxes, in the format of `reverie_dev`'s README."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.frames import ImageBox
from lodestar_eval.referit import BadData

VIEWS = 36  # number of images of a panorama
_AHEAD = 1.5  # m along the ray to an object of unknown place; the median of the known ones
_DEGREES = 30.0  # degrees between headings


@dataclass(frozen=True)
class Building:
    """One building. boxes: image id -> object id -> box; image ids are viewpoint * 36 + view + 1. places: (2,) of
    each visible object, metres. tour: viewpoints in a walkable order.
    """

    name: str
    camera: PinholeCamera
    boxes: dict[int, dict[int, ImageBox]]
    names: dict[int, str]
    places: dict[int, np.ndarray]
    tour: tuple[int, ...]

    def images_at(self, viewpoint: int) -> list[int]:
        """Return the images of a viewpoint that show an object."""
        first = viewpoint * VIEWS + 1
        return [image for image in range(first, first + VIEWS) if image in self.boxes]


def load_buildings(folder: Path) -> list[Building]:
    """Return the buildings of `scans/`, by name. Raises BadData."""
    try:
        files = sorted((folder / "scans").glob("*.json"))
        if not files:
            raise BadData(f"{folder} has no scans/*.json; give a folder like reverie_dev")
        return [_building(json.loads(file.read_text("utf-8"))) for file in files]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadData(f"{folder} is not like reverie_dev: {error}") from error


def _building(data: dict[str, Any]) -> Building:
    width, height = data["image_size"]
    focal = height / (2.0 * math.tan(math.radians(data["vfov_deg"]) / 2.0))
    camera = PinholeCamera(width, height, focal, focal, (width - 1) / 2.0, (height - 1) / 2.0)
    boxes: dict[int, dict[int, ImageBox]] = {}
    rays: dict[int, list[np.ndarray]] = {}
    for viewpoint, seen in enumerate(data["observations"]):
        eye = np.array(data["viewpoints"][viewpoint]["pos"][:2])
        for thing in seen:
            for view, heading, _, *box in thing["views"]:
                boxes.setdefault(viewpoint * VIEWS + view + 1, {})[thing["id"]] = ImageBox(*box)
                bearing = math.radians(heading * _DEGREES) + math.atan(
                    (box[0] + box[2] / 2 - camera.cx) / focal
                )
                ray = np.array([math.sin(bearing), math.cos(bearing)])
                rays.setdefault(thing["id"], []).append(eye + _AHEAD * ray)
    places = {identity: np.mean(ends, axis=0) for identity, ends in rays.items()}
    places |= {thing["id"]: np.array(thing["centre"][:2]) for thing in data["objects"] if thing["centre"]}
    names = {thing["id"]: thing["name"].replace("#", " ") for thing in data["objects"]}
    return Building(data["scan"], camera, boxes, names, places, _walk(data))


def _walk(data: dict[str, Any]) -> tuple[int, ...]:
    """Return the viewpoints in the order of a depth-first walk, the nearest neighbour first."""
    ways: dict[int, list[tuple[float, int]]] = {}
    for a, b, metres in data["edges"]:
        ways.setdefault(a, []).append((metres, b))
        ways.setdefault(b, []).append((metres, a))
    order: dict[int, None] = {}
    for start in range(len(data["viewpoints"])):
        stack = [start]
        while stack:
            here = stack.pop()
            if here not in order:
                order[here] = None
                stack += [there for _, there in sorted(ways.get(here, ()), reverse=True)]
    return tuple(order)
