"""Records of a tour: data available to a robot's memory, and separately the ground truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.keyframes.store import KeyframeConfig, KeyframeStore
from lodestar.perception.frames import ImageBox
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Region, SceneDelta
from lodestar_eval.settings import robot_config
from lodestar_sim.worlds.world import World

DRIVE, TURN = "drive", "turn"


@dataclass(frozen=True)
class Sighting:
    """Detection in one image that belongs to a confirmed entity. pixels: of its mask; distance: metres."""

    entity_id: int
    label: str
    caption: str
    box: ImageBox
    pixels: int
    distance: float


@dataclass(frozen=True)
class TourStep:
    """The robot's knowledge at one image. Poses are its own estimates, in `map`, (4, 4).

    deltas: scene deltas since the step before; entity ids of `sightings` are current after them. region_id: of the
    robot's place. regions: all known ones, None = unchanged. keyframe_id: of the image, 0 = not kept.
    """

    stamp: float
    map_from_base: np.ndarray
    map_from_camera: np.ndarray
    sightings: tuple[Sighting, ...]
    deltas: tuple[SceneDelta, ...]
    region_id: int = 0
    regions: tuple[Region, ...] | None = None
    keyframe_id: int = 0


@dataclass(frozen=True)
class Deed:
    """Activity of the robot from `start` to `end`, seconds: DRIVE to the next stop, or TURN around there."""

    kind: str
    start: float
    end: float


@dataclass(frozen=True)
class Glance:
    """Ground truth at one image. pose: (3,) x, y, yaw. things: object id -> (visible pixels, mean distance in m)."""

    stamp: float
    pose: np.ndarray
    things: dict[int, tuple[int, float]]


@dataclass(frozen=True)
class Stream:
    """All data that a memory receives and may use. grid, scene: at the end of the tour.

    keyframe_folder: folder of the kept images; open it with `keyframes()`.
    """

    steps: tuple[TourStep, ...]
    deeds: tuple[Deed, ...]
    grid: OccupancyGrid2D
    scene: SceneMirror
    keyframe_folder: Path

    @property
    def end(self) -> float:
        """Return the stamp of the last image, at which the questions are asked."""
        return self.steps[-1].stamp

    @property
    def pose(self) -> np.ndarray:
        """Return the robot's last estimate of its pose (4, 4)."""
        return self.steps[-1].map_from_base

    def keyframes(self) -> KeyframeStore:
        """Return the store of the kept images, by the `keyframe_id` of the steps."""
        return keyframe_store(self.keyframe_folder)

    def scenes(self) -> Iterator[tuple[TourStep, SceneMirror]]:
        """Yield each step with the scene known at that time; the same mirror is updated for the next step."""
        mirror = SceneMirror()
        for step in self.steps:
            for delta in step.deltas:
                mirror.apply(delta)
            if step.regions is not None:
                mirror.set_regions(step.regions)
            yield step, mirror


def keyframe_store(folder: Path) -> KeyframeStore:
    """Return the store of a tour's images."""
    return KeyframeStore(folder, KEYFRAMES, robot_config().shared.map_id)


#: Images are offered once per second (STaR IV-A); the store must hold one tour.
KEYFRAMES = KeyframeConfig(interval=1.0)


@dataclass(frozen=True)
class Recording:
    """A recorded tour. world: ground truth with its events. No memory may read `world` or `glances`."""

    spec: str
    seed: int
    world: World
    stream: Stream
    glances: tuple[Glance, ...]
