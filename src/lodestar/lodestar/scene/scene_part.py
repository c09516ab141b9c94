"""The scene's part of a saved map, the names of all parts, and when a save may replace another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lodestar.grid.regions import RegionTracker
from lodestar.scene import persistence as scene_parts
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.persistence import BadScene
from lodestar.scene.region_names import RegionNames
from lodestar.storage.archive import Archive

#: Names of the parts in the folder.
SCENE, VOXELS, GRID, KEYFRAMES = "scene.lodestar", "voxels.lodestar", "grid.lodestar", "keyframes"


@dataclass(frozen=True)
class SaveConfig:
    """Number of saves of a map, and when a save is refused because the map has shrunk."""

    keep: int = 5  # saves of one map, the newest included; chosen
    least_share: float = 0.5  # of the last save's content, 0..1; a save with less is refused; chosen
    slack_entities: int = 5  # fewer entities that a save may have; chosen: noise of a small map
    slack_area: float = 10.0  # less m^2 of known free floor that a save may have; chosen: likewise

    def __post_init__(self) -> None:
        if self.keep < 1 or not 0.0 <= self.least_share <= 1.0:
            raise ValueError("keep must be at least 1 and least_share between 0 and 1")


def shrinkage(before: Mapping[str, Any], now: Mapping[str, Any], config: SaveConfig) -> str:
    """Return in words what a map lacks against the one saved before; "" if it may replace that one.

    Both are the meta of a save: `entities`, and `free_m2` if a grid is part of it.
    """
    less = []
    for name, unit, slack in (
        ("entities", "entities", config.slack_entities),
        ("free_m2", "m2 of known floor", config.slack_area),
    ):
        if name not in before or name not in now:
            continue
        was, is_now = float(before[name]), float(now[name])
        if is_now < config.least_share * was and was - is_now >= slack:
            less.append(f"{is_now:.0f} instead of {was:.0f} {unit}")
    return " and ".join(less)


def scene_arrays(
    scene: SceneDictionary, rooms: RegionTracker
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return meta and arrays of the scene's part: entities, and regions with their ids."""
    meta, arrays = scene_parts.scene_to_arrays(scene)
    room_meta, room_arrays = rooms.to_arrays()
    with scene.lock:
        room_meta["regions_moved"] = scene.state.moved.tolist()
        room_meta["region_names"] = scene.state.names.to_meta()
    return meta | room_meta, arrays | room_arrays


def restored_names(part: Archive) -> RegionNames:
    """Operators' words for the regions. Raises BadScene."""
    try:
        return RegionNames.of_meta(part.meta)
    except (ValueError, TypeError) as error:
        raise BadScene(f"names of regions: {error.__class__.__name__}: {error}") from error


def restore_rooms(rooms: RegionTracker, part: Archive) -> None:
    """Continue the ids of regions. Raises BadScene."""
    try:
        rooms.restore(part.meta, part.arrays)
        rooms.move(np.asarray(part.meta.get("regions_moved", np.eye(4)), float))
    except (KeyError, ValueError, TypeError) as error:
        raise BadScene(f"regions: {error.__class__.__name__}: {error}") from error
