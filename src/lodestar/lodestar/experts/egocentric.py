"""What of the current view fits, and where to turn when nothing does (RoboAtlas IV-F)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lodestar.experts.lifting import LiftConfig, LiftedDetection, lift
from lodestar.experts.looking import TURNS, TurnConfig, TurnMemory
from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.experts.reach import Reach, ReachConfig
from lodestar.geometry.boxes import point_box_distance
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.viewpoints import NoViewpoint, ViewpointConfig
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.query.scoring import QueryConfig, score_query
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState


@dataclass(frozen=True)
class EgocentricConfig:
    """max_age: seconds after which a view is no longer the current one. promising: semantic score from
    which a detection whose relations do not hold in view is worth going to, at `promising_confidence` of it.
    same_place: metres between a detection and the box of an entity that make them one thing.
    turn_confidence: of a turn towards nothing but open space; openness adds as much again.
    """

    max_age: float = 2.0
    promising: float = 0.6
    promising_confidence: float = 0.5
    same_place: float = 0.2
    turn_confidence: float = 0.1
    open_depth: float = 5.0  # metres that count as fully open
    lifting: LiftConfig = field(default_factory=LiftConfig)
    turning: TurnConfig = field(default_factory=TurnConfig)
    reach: ReachConfig = field(default_factory=ReachConfig)
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig)
    query: QueryConfig = field(default_factory=QueryConfig)


@dataclass(frozen=True)
class AnnotatedPoint:
    """A numbered mark on the image and the point behind it. pixel: (column, row). point: (3,) map, metres.

    score: relevance to the directive in [0, 1], -1 = not scored.
    """

    number: int
    pixel: tuple[float, float]
    point: np.ndarray
    score: float = -1.0


@dataclass(frozen=True)
class SceneDescription:
    """What is in view, in words. map_from_camera: (4, 4)."""

    stamp: float
    map_from_camera: np.ndarray
    text: str
    points: tuple[AnnotatedPoint, ...]


class EgocentricExpert:
    """Proposes to go to the best match in view, or to turn where it has not looked yet."""

    name = "ego_vlm"

    def __init__(self, config: EgocentricConfig, phrases: PhraseBook) -> None:
        self.config = config
        self._phrases = phrases
        self._grid: OccupancyGrid2D | None = None
        self._mirror: SceneMirror | None = None
        self._frame: RgbdFrame | None = None
        self._lifted: list[LiftedDetection] = []
        self._turns = TurnMemory(config.turning)
        self._scores: dict[int, float] = {}

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Plan on this grid."""
        self._grid = grid

    def set_scene(self, mirror: SceneMirror) -> None:
        """Detections at the place of an excluded entity are not proposed again."""
        self._mirror = mirror

    def set_view(self, frame: RgbdFrame, segmented: SegmentedFrame) -> None:
        """This is the current view; an older one than the last is dropped."""
        if self._frame is not None and frame.stamp < self._frame.stamp:
            return
        self._frame = frame
        self._lifted = lift(frame, segmented, self.config.lifting)
        self._scores = {}
        pose = frame.map_from_camera
        self._turns.looked(float(pose[0, 3]), float(pose[1, 3]), math.atan2(pose[1, 2], pose[0, 2]))

    def propose(self, request: ProposalRequest) -> Proposal | Rejection:
        """A viewpoint of the best match in view, else a turn, else why there is nothing to propose."""
        frame = self._frame
        if frame is None or self._grid is None:
            return self._reject(
                request, RejectionReason.NO_DATA, "no image yet" if frame is None else "no grid yet"
            )
        if request.stamp - frame.stamp > self.config.max_age:
            age = request.stamp - frame.stamp
            return self._reject(request, RejectionReason.NO_DATA, f"the last image is {age:.1f} s old")
        graphs = request.subtask.graphs if request.directive.subtasks else ()
        if not graphs:
            return self._reject(request, RejectionReason.NO_PROPOSAL, "nothing particular is looked for")
        try:
            going, blocked = self._go(request)
        except MissingPhrases as missing:
            return self._reject(request, RejectionReason.NO_DATA, str(missing))
        if going is not None:
            return going
        action = self._turns.choose(request.robot_pose, self._openness())
        if action is not None:
            return self._turn(request, action)
        if blocked:
            return self._reject(request, RejectionReason.NO_VIEWPOINT, blocked)
        return self._reject(
            request, RejectionReason.NO_PROPOSAL, "nothing in view fits, and all around was looked at"
        )

    def describe(self) -> SceneDescription | None:
        """What is in view, nearest first; None before the first view. It is untrusted text."""
        frame = self._frame
        if frame is None:
            return None
        order = sorted(range(len(self._lifted)), key=lambda i: self._lifted[i].distance)
        parts, points = [], []
        for number, index in enumerate(order, start=1):
            thing = self._lifted[index]
            box = thing.detection.box
            pixel = (box.x + box.width / 2.0, box.y + box.height / 2.0)
            points.append(AnnotatedPoint(number, pixel, thing.center, self._scores.get(index, -1.0)))
            name = thing.detection.caption or thing.detection.label
            parts.append(f"{name} {thing.distance:.1f} m {_side(thing.bearing)}")
        text = f"In view: {'; '.join(parts)}." if parts else "Nothing recognisable is in view."
        return SceneDescription(frame.stamp, frame.map_from_camera, text, tuple(points))

    def _go(self, request: ProposalRequest) -> tuple[Proposal | None, str]:
        """The proposal for the best match in view that can be faced, or None and why not."""
        assert self._frame is not None and self._grid is not None
        entities = {
            i + 1: _as_entity(i + 1, thing, self._frame.stamp, self._mirror)
            for i, thing in enumerate(self._lifted)
        }
        if not entities:
            return None, ""
        regions = None if self._mirror is None else self._mirror.regions
        candidates = score_query(request.subtask.graphs, entities, self._phrases, self.config.query, regions)
        self._scores = {c.entity_id - 1: float(c.score) for c in candidates}
        reach = Reach(self._grid, request.robot_pose, self.config.reach)
        blocked = ""
        for candidate in candidates:
            confidence = float(candidate.score)
            if confidence < self.config.query.accept:
                if candidate.semantic_score < self.config.promising:
                    continue
                confidence = self.config.promising_confidence * float(candidate.semantic_score)
            thing = self._lifted[candidate.entity_id - 1]
            known = self._known(thing)
            if known and known in request.excluded_entities:
                continue
            try:
                viewpoint = reach.viewpoint(
                    thing.box_min,
                    thing.box_max,
                    [self._frame.map_from_camera],
                    request.excluded_goals,
                    self.config.viewpoints,
                )
            except NoViewpoint as none:
                blocked = f"{thing.detection.caption or thing.detection.label} is in view, but {none}"
                continue
            name = thing.detection.caption or thing.detection.label
            rationale = f"I see {name}, {thing.distance:.1f} m {_side(thing.bearing)}; going to it"
            proposal = Proposal(
                expert=self.name,
                epoch=request.epoch,
                goal=np.asarray(viewpoint.pose, np.float64),
                confidence=min(max(confidence, 0.0), 1.0),
                rationale=rationale,
                entity_id=known,
                evidence_entities=(known,) if known else (),
                stamp=self._frame.stamp,
            )
            return proposal, ""
        return None, blocked

    def _known(self, thing: LiftedDetection) -> int:
        """The entity at the place of the detection, of its label where there are several; 0 = none."""
        if self._mirror is None:
            return 0
        present: Sequence[Entity] = [
            e
            for e in self._mirror.entities.values()
            if e.state is not EntityState.ARCHIVED
            and float(point_box_distance(thing.center, e.box_min, e.box_max)) <= self.config.same_place
        ]
        same = [e for e in present if e.label == thing.detection.label]
        if not same:
            return 0
        return min(same, key=lambda e: float(np.linalg.norm(e.mean - thing.center))).id

    def _turn(self, request: ProposalRequest, action: ActionKind) -> Proposal:
        assert self._frame is not None
        x, y, yaw = (float(v) for v in request.robot_pose)
        openness = self._openness().get(action, 0.0)
        return Proposal(
            expert=self.name,
            epoch=request.epoch,
            goal=np.array([x, y, float(wrap_angle(yaw + TURNS[action]))]),
            confidence=self.config.turn_confidence * (1.0 + openness),
            rationale=f"Nothing in view fits; {action.name.lower().replace('_', ' ')} to look there",
            action=action,
            stamp=self._frame.stamp,
        )

    def _openness(self) -> dict[ActionKind, float]:
        """Share of `open_depth` that lies open at the left and right edge of the view; behind is not known."""
        assert self._frame is not None
        depth = self._frame.depth
        third = max(depth.shape[1] // 3, 1)

        def share(part: np.ndarray) -> float:
            valid = part[np.isfinite(part) & (part > 0.0)]
            return min(float(np.median(valid)) / self.config.open_depth, 1.0) if valid.size else 0.0

        left, right = share(depth[:, :third]), share(depth[:, -third:])
        return {ActionKind.TURN_LEFT: left, ActionKind.TURN_RIGHT: right, ActionKind.TURN_AROUND: 0.0}

    def _reject(self, request: ProposalRequest, reason: RejectionReason, message: str) -> Rejection:
        return Rejection(self.name, request.epoch, reason, message)


def _as_entity(identity: int, thing: LiftedDetection, stamp: float, mirror: SceneMirror | None) -> Entity:
    """A detection dressed as an entity, so that the same query scores it; it has no identity beyond the
    view.
    """
    half = (thing.box_max - thing.box_min) / 2.0
    middle = (thing.box_min + thing.box_max) / 2.0
    return Entity(
        id=identity,
        label=thing.detection.label,
        caption=thing.detection.caption,
        mean=middle,
        covariance=np.diag(np.maximum(half, 0.02) ** 2 / 3.0),
        box_min=thing.box_min,
        box_max=thing.box_max,
        region_id=0 if mirror is None else mirror.region_at(middle),
        confidence=thing.detection.score,
        observation_count=1,
        first_seen=stamp,
        last_seen=stamp,
    )


def _side(bearing: float) -> str:
    if abs(bearing) < math.radians(12.0):
        return "ahead"
    return "to the left" if bearing > 0.0 else "to the right"
