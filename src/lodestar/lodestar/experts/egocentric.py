"""Egocentric expert: goals from the current view, or a turn if nothing in it matches (RoboAtlas IV-F)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lodestar.experts.annotations import ANNOTATION_SIDE, annotated_jpeg, draw_points, grid_points
from lodestar.experts.config import EgocentricConfig
from lodestar.experts.descriptions import AnnotatedPoint, SceneDescription
from lodestar.experts.detection_score import DetectionScorer, as_entity, name_of
from lodestar.experts.facing_places import place_to_face, place_towards
from lodestar.experts.lifted_detections import LiftedDetection, lift
from lodestar.experts.picture_offers import Offers
from lodestar.experts.picture_source import PictureSource
from lodestar.experts.protocol import (
    ActionKind,
    Proposal,
    ProposalRequest,
    Rejection,
    RejectionReason,
    Thinking,
)
from lodestar.experts.reach import Reach
from lodestar.experts.recall import Recall
from lodestar.experts.tasks import TaskWatch
from lodestar.experts.turn_memory import TURNS, TurnMemory
from lodestar.experts.view_directions import ViewDirections, openness
from lodestar.experts.view_judge import ViewJudge
from lodestar.geometry.boxes import point_box_distance
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.config import VIEWPOINT_CAMERA_FORWARD
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.viewpoints import NoViewpoint, NoViewpointReason
from lodestar.language.reasoner import OfflineReasoner, Reasoner
from lodestar.language.views import FRONTIER, GO, Offered, ViewAnswer, ViewPoint, ViewQuestion
from lodestar.models.english import with_article
from lodestar.models.kinship import same_kind
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.perception.segments import is_crowded, is_everywhere
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import EntityState

# confidence of a goal that is chosen by its picture, 0..1; chosen: above a turn's, below an object's
OFFER_CONFIDENCE = 0.35
EGOCENTRIC_MAX_AGE = 2.0  # seconds after which a view is no longer the current one; chosen
# metres between a detection and an entity's box within which they are the same object; chosen
EGOCENTRIC_SAME_PLACE = 0.2
# confidence of a turn towards no open space, 0..1; full openness adds as much again; chosen
EGOCENTRIC_TURN_CONFIDENCE = 0.1
# chance that a turn towards no open space shows the target, 0..1; full openness adds as much again; chosen: a
# frontier's turn on the spot shows as much
EGOCENTRIC_TURN_CHANCE = 0.02
# score of a mark, 0..1, from which a reasoner's choice to go there is followed; chosen
EGOCENTRIC_GO_FROM = 0.2
# factor of the confidence while the path up to an object is not known yet; chosen
EGOCENTRIC_AFAR_SHARE = 0.9
# metres within which a turn chosen for an earlier view is still valid; chosen
EGOCENTRIC_STILL_DISTANCE = 0.5
# radians within which a turn chosen for an earlier view is still valid; chosen
EGOCENTRIC_STILL_ANGLE = math.radians(20.0)
EGOCENTRIC_OPEN_DEPTH = 5.0  # metres of depth that count as fully open; chosen

__all__ = ["AnnotatedPoint", "EgocentricConfig", "EgocentricExpert", "SceneDescription"]


class EgocentricExpert:
    """Proposes to go to the best numbered mark (detection or grid point) in view, or to turn to a heading
    that was not looked along yet.

    reasoner: scores the marks and chooses between going and turning (eq. 21, 22); offline by default.
    """

    name = "ego_vlm"

    def __init__(
        self, config: EgocentricConfig, phrases: PhraseBook, reasoner: Reasoner | None = None
    ) -> None:
        self.config = config
        self._phrases = phrases
        self._reasoner = reasoner or OfflineReasoner()
        self._judge = ViewJudge(self._reasoner)
        self._offers = Offers(config.offers, phrases)
        self._directions = ViewDirections(config.directions, phrases, config.reach)
        self._task = TaskWatch(self._begin)
        self._grid: OccupancyGrid2D | None = None
        self._mirror: SceneMirror | None = None
        self._frame: RgbdFrame | None = None
        self._lifted: list[LiftedDetection] = []
        self._places: list[ViewPoint] = []
        self._picture: bytes | None = None  # current frame with its marks; None = not drawn yet
        self._turns = TurnMemory()
        self._worth = DetectionScorer(config.query, phrases)
        self._recall = Recall(config, self._worth)
        self._answer: ViewAnswer | None = None

    def _begin(self) -> None:
        """Reset the per-task state."""
        self._judge.forget()
        self._offers.forget()

    def use_pictures(self, source: PictureSource | None) -> None:
        """Set the source of pictures of frontiers and of the memory, None = none; only a reasoner that uses
        images gets it.
        """
        self._offers.source = source if self._reasoner.sees else None

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Plan on this grid."""
        self._grid = grid
        self._directions.set_grid(grid)

    def set_scene(self, mirror: SceneMirror) -> None:
        """Use this scene mirror; detections at the place of an excluded entity are not proposed."""
        self._mirror = mirror

    def set_view(self, frame: RgbdFrame, segmented: SegmentedFrame) -> None:
        """Set the current view. A view older than the last one is ignored, and so is one of a failing detector."""
        is_old = self._frame is not None and frame.stamp < self._frame.stamp
        if is_old or is_crowded(segmented) or is_everywhere(segmented):
            return
        self._frame, self._picture = frame, None
        self._directions.set_view(frame)
        self._lifted = sorted(lift(frame, segmented), key=lambda thing: thing.distance)
        self._recall.glimpses.see(frame, segmented, self._lifted)
        self._places = grid_points(frame, len(self._lifted) + 1, self.config.viewpoints.camera_height)
        pose = frame.map_from_camera
        self._turns.looked(float(pose[0, 3]), float(pose[1, 3]), math.atan2(pose[1, 2], pose[0, 2]))

    def follow(self, frame: RgbdFrame) -> None:
        """Move remembered detections after a map correction; see `Follower`."""
        self._recall.glimpses.follow(frame)

    def propose(self, request: ProposalRequest) -> Proposal | Rejection | Thinking:
        """Return a proposal: to the best numbered mark in the image, else to a glimpse or an open direction,
        else a turn. Return a rejection if there is none, and Thinking while the robot stands for the model's
        answer.
        """
        frame = self._frame
        if frame is None or self._grid is None:
            what = "image" if frame is None else "grid"
            return self._reject(request, RejectionReason.NO_DATA, f"no {what} yet")
        if request.stamp - frame.stamp > EGOCENTRIC_MAX_AGE:
            age = request.stamp - frame.stamp
            return self._reject(request, RejectionReason.NO_DATA, f"the last image is {age:.1f} s old")
        graphs = request.step.graphs
        if not graphs:
            return self._reject(request, RejectionReason.NO_PROPOSAL, "nothing particular is looked for")
        self._task.see(request)
        try:
            question = self._question(request, frame)
            recalled = self._recall.candidates(request, frame.stamp, self._mirror)
        except MissingPhrases as missing:
            return self._reject(request, RejectionReason.NO_DATA, str(missing))
        answer = self._judge.judge(request, question, self._taken_at(frame))
        if answer is None:
            return Thinking(self._judge.standing_until(request))
        self._answer = answer
        going, blocked = self._go(request, answer) if answer.action == GO else (None, "")
        if going is None and answer.chosen is not None:
            going = self._to_picture(request, answer, answer.chosen)
        if going is not None:
            return going
        back = self._recall.going_back(self.name, request, self._grid, frame.stamp, recalled)
        if back is not None:
            return back
        ahead = self._directions.propose(self.name, request, frame, self._grid, self._mirror)
        if ahead is not None:
            return ahead
        action = self._turn_of(answer, question, request.robot_pose)
        if action is not None:
            return self._turn(request, action, answer)
        if blocked:
            return self._reject(request, RejectionReason.NO_VIEWPOINT, blocked)
        why = f" ({answer.rationale})" if answer.rationale else ""
        return self._reject(
            request, RejectionReason.NO_PROPOSAL, f"nothing in view fits, and all around was looked at{why}"
        )

    def describe(self) -> SceneDescription | None:
        """Return a description of the view, nearest object first; None before the first view. It is untrusted
        text.
        """
        frame = self._frame
        if frame is None:
            return None
        answer = self._answer
        current = answer is not None and answer.question.stamp == frame.stamp
        scores = answer.scores if answer is not None and current else {}
        points = [
            AnnotatedPoint(p.number, p.pixel, p.position, scores.get(p.number, -1.0))
            for p in (*self._things([0.0] * len(self._lifted)), *self._places)
        ]
        parts = [f"{name_of(thing)} {thing.distance:.1f} m {_side(thing.bearing)}" for thing in self._lifted]
        text = f"In view: {'; '.join(parts)}." if parts else "Nothing recognisable is in view."
        if answer is not None and answer.description and self._is_near(answer):
            text = f"{answer.description} {text}"
        return SceneDescription(frame.stamp, frame.map_from_camera, text, tuple(points))

    def annotated(self) -> np.ndarray | None:
        """Return the current view with its marks, (H, W, 3) uint8 RGB; None without a colour image."""
        frame = self._frame
        if frame is None or frame.rgb is None:
            return None
        points = [*self._things([0.0] * len(self._lifted)), *self._places]
        return draw_points(frame.rgb, points, frame.depth.shape, ANNOTATION_SIDE)

    def _question(self, request: ProposalRequest, frame: RgbdFrame) -> ViewQuestion:
        """Return the question about the view with its marks. Raises MissingPhrases."""
        points = (*self._things(self._in_view(request)), *self._places)
        task = request.task
        if self._picture is None:  # the marks of a frame are reused when the expert is asked again
            sees = self._reasoner.sees
            self._picture = annotated_jpeg(frame, points) if sees else b""
        return ViewQuestion(
            stamp=frame.stamp,
            pose=np.asarray(request.robot_pose, np.float64),
            target=task.target,
            neighbors=task.neighbors,
            constraints=task.barred,
            points=points,
            turns=tuple(action.name for action in self._turns.fresh(request.robot_pose)),
            openness=openness(frame, EGOCENTRIC_OPEN_DEPTH),
            image=self._picture,
            pictures=self._offered(request),
        )

    def _offered(self, request: ProposalRequest) -> tuple[Offered, ...]:
        """Return the pictures of other places for the question."""
        return () if self._offers.source is None else self._offers.of(request, self._reach(request))

    def _to_picture(self, request: ProposalRequest, answer: ViewAnswer, chosen: Offered) -> Proposal | None:
        """Return the proposal to go to the place of a chosen picture; None if it is excluded or unreachable now."""
        still = {(one.kind, one.keyframe): one for one in self._offered(request)}
        offered = still.get((chosen.kind, chosen.keyframe))
        if offered is None:
            return None
        assert self._frame is not None
        what = "a frontier" if chosen.kind == FRONTIER else "the memory"
        why = f" ({answer.rationale})" if answer.rationale else ""
        return Proposal(
            expert=self.name,
            epoch=request.epoch,
            goal=np.array(offered.goal, np.float64),
            confidence=OFFER_CONFIDENCE,
            rationale=f"Chosen by the picture of {what}, keyframe {chosen.keyframe}; going there{why}",
            evidence_keyframes=(chosen.keyframe,),
            stamp=self._frame.stamp,
            view=_judged(answer),
            chance=OFFER_CONFIDENCE,
            seconds=self._reach(request).seconds(offered.goal, offered.distance),
        )

    def _taken_at(self, frame: RgbdFrame) -> np.ndarray:
        """Return the robot's pose (3,) in map when the frame was taken, from the camera's pose."""
        camera, forward = frame.map_from_camera, VIEWPOINT_CAMERA_FORWARD
        yaw = math.atan2(camera[1, 2], camera[0, 2])
        return np.array([camera[0, 3] - forward * math.cos(yaw), camera[1, 3] - forward * math.sin(yaw), yaw])

    def _things(self, scores: Sequence[float] | np.ndarray) -> list[ViewPoint]:
        """Return the numbered marks of the detections in view, nearest first."""
        points = []
        for number, (thing, score) in enumerate(zip(self._lifted, scores), start=1):
            box = thing.detection.box
            pixel = (box.x + box.width / 2.0, box.y + box.height / 2.0)
            point = ViewPoint(
                number, name_of(thing), pixel, thing.center, thing.distance, thing.bearing, float(score),
                thing.detection.label, thing.box_min, thing.box_max,
            )  # fmt: skip
            points.append(point)
        return points

    def _in_view(self, request: ProposalRequest) -> np.ndarray:
        """Return the query's score of each detection, (N,) in [0, 1]. Raises MissingPhrases."""
        assert self._frame is not None
        stamp = self._frame.stamp
        entities = {i: as_entity(i, t, stamp, self._mirror) for i, t in enumerate(self._lifted, start=1)}
        worth = self._worth.of(request, entities, self._mirror)
        return np.array([worth.get(i, 0.0) for i in entities])

    def _go(self, request: ProposalRequest, answer: ViewAnswer) -> tuple[Proposal | None, str]:
        """Return the proposal for the best mark that can be faced or approached, or None and the reason."""
        reach = self._reach(request)
        view = self._frame.map_from_camera if self._frame is not None else np.eye(4)
        blocked = ""
        marks = [p for p in answer.question.points if answer.scores.get(p.number, 0.0) >= EGOCENTRIC_GO_FROM]
        for mark in sorted(marks, key=lambda p: -answer.scores[p.number]):
            known = self._known(mark)
            if known and known in request.excluded_entities:
                continue
            confidence = answer.scores[mark.number]
            goal, problem = self._goal(request, reach, mark, view)
            if goal is None:
                blocked = blocked or f"{with_article(mark.what or 'place')} is in view, but {problem}"
                continue
            if problem:
                confidence *= EGOCENTRIC_AFAR_SHARE
            return self._going(request, answer, mark, goal, confidence, known), ""
        return None, blocked

    def _goal(
        self, request: ProposalRequest, reach: Reach, mark: ViewPoint, view: np.ndarray
    ) -> tuple[np.ndarray | None, str]:
        """Return a pose that faces the mark or lies on the path to it, or None; and the reason why the mark is not
        faced.
        """
        problem = ""
        if mark.box_min is not None and mark.box_max is not None:
            try:
                place = place_to_face(
                    reach, request.robot_pose, (mark.box_min, mark.box_max), [view], request.excluded_goals,
                    self.config.viewpoints, self._mirror,
                )  # fmt: skip
                return place.pose, "" if place.faces else "the floor before it is not known yet"
            except NoViewpoint as none:
                if none.reason in (NoViewpointReason.EXCLUDED, NoViewpointReason.OTHER_SIDE):
                    return None, str(none)
                problem = str(none)
        goal = place_towards(reach, request.robot_pose, mark.position, request.excluded_goals)
        return goal, problem or ("" if goal is not None else "no reachable place is nearer to it")

    def _going(
        self, request: ProposalRequest, answer: ViewAnswer, mark: ViewPoint, goal: np.ndarray, confidence: float,
        known: int,
    ) -> Proposal:  # fmt: skip
        assert self._frame is not None
        what = f"I see {with_article(mark.what)}" if mark.what else "I see a place worth a look"
        what += f" (entity {known})" if known else ""
        why = f" ({answer.rationale})" if answer.rationale else ""
        return Proposal(
            expert=self.name,
            epoch=request.epoch,
            goal=goal,
            confidence=min(max(confidence, 0.0), 1.0),
            rationale=f"{what}, {mark.distance:.1f} m {_side(mark.bearing)}; going to it{why}",
            entity_id=known,
            evidence_entities=(known,) if known else (),
            stamp=self._frame.stamp,
            view=_judged(answer),
            chance=min(max(confidence, 0.0), 1.0),
            seconds=self._reach(request).seconds(goal, verifies=True),
        )

    def _reach(self, request: ProposalRequest) -> Reach:
        assert self._grid is not None
        return Reach(self._grid, request.robot_pose, self.config.reach)

    def _known(self, mark: ViewPoint) -> int:
        """Return the id of the nearest entity of the same kind at the place of a marked detection; 0 if there
        is none.
        """
        if self._mirror is None or mark.box_min is None:
            return 0
        reach = EGOCENTRIC_SAME_PLACE
        here = [
            e
            for e in self._mirror.near(mark.position - reach, mark.position + reach)
            if e.state is not EntityState.ARCHIVED
            and same_kind(e.label, mark.label)
            and float(point_box_distance(mark.position, e.box_min, e.box_max)) <= reach
        ]
        return min(here, key=lambda e: float(np.linalg.norm(e.mean - mark.position))).id if here else 0

    def _turn_of(self, answer: ViewAnswer, question: ViewQuestion, pose: np.ndarray) -> ActionKind | None:
        """Return the reasoner's turn if it is still valid here and shows something new, else the new turn
        towards most open space; None if no turn shows something new.
        """
        if answer.action in question.turns and self._is_near(answer, pose):
            return ActionKind[answer.action]
        best = max(question.turns, key=lambda turn: question.openness.get(turn, 0.0), default="")
        return ActionKind[best] if best else None

    def _is_near(self, answer: ViewAnswer, pose: np.ndarray | None = None) -> bool:
        """Return whether the view of this answer was taken near this pose and heading, by default those of
        the newest image.
        """
        if self._frame is None:
            return False
        then, camera = answer.question.pose, self._frame.map_from_camera
        here = camera[:2, 3] if pose is None else pose[:2]
        yaw = math.atan2(camera[1, 2], camera[0, 2]) if pose is None else float(pose[2])
        near = math.hypot(then[0] - here[0], then[1] - here[1]) <= EGOCENTRIC_STILL_DISTANCE
        return near and abs(float(wrap_angle(then[2] - yaw))) <= EGOCENTRIC_STILL_ANGLE

    def _turn(self, request: ProposalRequest, action: ActionKind, answer: ViewAnswer) -> Proposal:
        assert self._frame is not None
        x, y, yaw = (float(v) for v in request.robot_pose)
        heading = float(wrap_angle(yaw + TURNS[action]))
        self._turns.propose(heading)
        openness = answer.question.openness.get(action.name, 0.0)
        goal = np.array([x, y, heading])
        why = f" ({answer.rationale})" if answer.rationale else ""
        return Proposal(
            expert=self.name,
            epoch=request.epoch,
            goal=goal,
            confidence=EGOCENTRIC_TURN_CONFIDENCE * (1.0 + openness),
            rationale=f"Nothing in view fits; turning {action.name.lower().removeprefix('turn_')} to look there{why}",
            action=action,
            stamp=self._frame.stamp,
            view=_judged(answer),
            chance=EGOCENTRIC_TURN_CHANCE * (1.0 + openness),
            seconds=self._reach(request).seconds(goal, 0.0),
        )

    def _reject(self, request: ProposalRequest, reason: RejectionReason, message: str) -> Rejection:
        return Rejection(self.name, request.epoch, reason, message)


def _judged(answer: ViewAnswer) -> float:
    """Return the stamp of the image that a model judged; 0 = none."""
    return 0.0 if answer.by == OfflineReasoner.name else answer.question.stamp


def _side(bearing: float) -> str:
    if abs(bearing) < math.radians(12.0):
        return "ahead"
    return "to the left" if bearing > 0.0 else "to the right"
