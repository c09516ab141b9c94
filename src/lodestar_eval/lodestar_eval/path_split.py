"""Parts of a search's path by ground truth: until the target was visible, mapped, recognised and approached."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from lodestar.agent.loop.machine import DecisionLoop
from lodestar.assembly import parts
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import planar_transform
from lodestar.grid.footprint import GO2
from lodestar.grid.success_pose import footprint_distance
from lodestar.models.phrases import PhraseBook
from lodestar.scene.records import Entity, EntityState
from lodestar_eval.settings import EpisodeSettings
from lodestar_sim.sensors import CameraConfig
from lodestar_sim.simulator import Simulator
from lodestar_sim.tasks import Task
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import World, WorldObject

SHOWS = 0.1  # least share of an object's points in view for it to count as visible
SIGHT = 8.0  # m, the depth camera's range
_BOX_MARGIN = 0.30  # m, greatest distance of a mapped object from its true box
_BESIDE = 1.3  # m, greatest distance of the footprint at a goal from the box of the goal's object
_CAMERA = CameraConfig()


@dataclass(frozen=True)
class WaySplit:
    """Metres of an episode's path; the first five add up to its length. Never NaN; 0 if nothing was driven.

    unseen: before the target was first visible to the camera. unmapped: from then until it was in the map.
    unknown: from then until it matched the query. elsewhere: from then until the robot last headed for it.
    approach: from then to the end; a goal beside a target that was not visible yet does not count.
    wrong: metres towards other objects. direct: shortest path from the start of the approach to a target.
    after_seen: shortest path from the place of the first view, -1 = never seen.
    """

    unseen: float = 0.0
    unmapped: float = 0.0
    unknown: float = 0.0
    elsewhere: float = 0.0
    approach: float = 0.0
    wrong: float = 0.0
    direct: float = 0.0
    after_seen: float = -1.0

    def row(self) -> dict[str, float]:
        """Return the parts by name, rounded to centimetres."""
        return {f"way_{name}": round(value, 2) for name, value in asdict(self).items()}


class Sight:
    """Computes how much of an object the robot's camera sees, by the world's true shapes."""

    def __init__(self, world: World, reach: float = SIGHT) -> None:
        self._truth = truth_of(world)
        self._reach = reach
        self._pinhole: PinholeCamera = _CAMERA.pinhole()

    def share(self, thing: WorldObject, pose: np.ndarray) -> float:
        """Return the share of the object's points visible from the robot's pose (3,), 0 beyond the camera's range."""
        points = self._truth.points_of(thing)
        if np.hypot(*(points[:, :2].mean(axis=0) - pose[:2])) > self._reach + max(thing.size[:2]):
            return 0.0
        optical = planar_transform(*pose) @ _CAMERA.base_from_optical
        local = (points - optical[:3, 3]) @ optical[:3, :3]
        camera = self._pinhole
        with np.errstate(divide="ignore", invalid="ignore"):
            u = camera.fx * local[:, 0] / local[:, 2] + camera.cx
            v = camera.fy * local[:, 1] / local[:, 2] + camera.cy
        inside = (
            (local[:, 2] > 0.1) & (local[:, 2] <= self._reach)
            & (u >= 0) & (u < camera.width) & (v >= 0) & (v < camera.height)
        )  # fmt: skip
        if not inside.any():
            return 0.0
        return min(float(inside.mean()), float(self._truth.seen(thing, pose)[0]))


class WatchedEpisode(Protocol):
    """Interface of a running episode for a watcher. path_length: metres so far; frames: images so far."""

    task: Task
    settings: EpisodeSettings
    phrases: PhraseBook
    simulator: Simulator
    loop: DecisionLoop
    robot: Any  # only its `mirror` is used
    frames: int

    @property
    def world_now(self) -> World: ...

    @property
    def path_length(self) -> float: ...


class WayWatcher:
    """Follows one episode; `split` returns the parts of its path. Uses ground truth, and does not affect the run."""

    def __init__(self, episode: WatchedEpisode) -> None:
        world = episode.world_now
        self._things = [thing for thing in world.objects if thing.id in set(episode.task.target_ids)]
        self._boxes = [world.box(thing) for thing in self._things]
        self._sight = Sight(world)
        self._world = world
        self._targets = parts.scene_targets(episode.settings.robot.shared, episode.phrases)
        self._frames = -1
        self._marks: dict[str, float] = {}
        self._seen_from: np.ndarray | None = None
        self.seen_at = np.nan  # simulator time at which a target was first in view
        # path length and pose at the start of the approach
        self._headed: tuple[float, np.ndarray] | None = None
        self._wrong = self._before = 0.0  # metres towards other objects; path length at the last observation

    def observe(self, episode: WatchedEpisode) -> None:
        """Record one control interval."""
        way = episode.path_length
        step, self._before = way - self._before, way
        self._follow_goal(episode, way, step)
        if episode.frames == self._frames or "known" in self._marks:
            return
        self._frames = episode.frames
        pose = episode.simulator.true_pose
        if "seen" not in self._marks:
            if not any(self._sight.share(thing, pose) >= SHOWS for thing in self._things):
                return
            self._marks["seen"] = way
            self._seen_from = pose.copy()
            self.seen_at = episode.simulator.time
        if "mapped" not in self._marks and self._mapped(episode):
            self._marks["mapped"] = way
        if "mapped" in self._marks and self._known(episode):
            self._marks["known"] = way

    def _follow_goal(self, episode: WatchedEpisode, way: float, step: float) -> None:
        feedback = episode.loop.feedback()
        if feedback.goal is None:
            return
        if self._is_theirs(feedback.goal):
            if self._headed is None and "seen" in self._marks:
                self._headed = (way, episode.simulator.true_pose.copy())
            return
        self._headed = None
        if feedback.phase == "APPROACHING":
            self._wrong += step

    def _is_theirs(self, goal: np.ndarray) -> bool:
        return any(footprint_distance(goal, GO2, low, high) <= _BESIDE for low, high in self._boxes)

    def _is_target(self, entity: Entity) -> bool:
        middle = (np.asarray(entity.box_min) + np.asarray(entity.box_max)) / 2.0
        return any(
            bool(np.all(middle >= low - _BOX_MARGIN) and np.all(middle <= high + _BOX_MARGIN))
            and thing.category in (entity.caption or entity.label)
            for thing, (low, high) in zip(self._things, self._boxes)
        )

    def _mapped(self, episode: WatchedEpisode) -> bool:
        entities = episode.robot.mirror.entities.values()
        return any(e.state is not EntityState.ARCHIVED and self._is_target(e) for e in entities)

    def _known(self, episode: WatchedEpisode) -> bool:
        directive = episode.loop.directive
        if directive is None:
            return False
        mirror = episode.robot.mirror
        view = self._targets.look(mirror, directive.steps[-1])
        return any(self._is_target(mirror.entities[c.entity_id]) for c in view.accepted)

    def split(self, episode: WatchedEpisode) -> WaySplit:
        """Return the parts of the path so far."""
        whole = episode.path_length
        headed, start = self._headed if self._headed is not None else (whole, None)
        seen = self._marks.get("seen", whole)
        mapped = self._marks.get("mapped", whole if "known" not in self._marks else seen)
        known = self._marks.get("known", whole)
        marks = np.maximum.accumulate([0.0, seen, mapped, known])
        headed = max(headed, 0.0)
        marks = np.minimum(marks, max(headed, 0.0)) if self._headed is not None else marks
        unseen, unmapped, unknown, elsewhere = (
            float(piece) for piece in np.diff([*marks, headed if self._headed is not None else whole])
        )
        return WaySplit(
            unseen,
            unmapped,
            unknown,
            elsewhere,
            approach=float(whole - max(headed, marks[-1])),
            wrong=self._wrong,
            direct=0.0 if start is None else self._shortest(start),
            after_seen=-1.0 if self._seen_from is None else self._shortest(self._seen_from),
        )

    def _shortest(self, pose: np.ndarray) -> float:
        lengths = [truth_of(self._world).shortest_path((pose[0], pose[1]), thing) for thing in self._things]
        shortest = min(lengths, default=np.inf)
        return float(shortest) if np.isfinite(shortest) else -1.0
