"""Activities that end at a place: RETURN, GO to a pose, GO to a spot (a place given by relations, such as "in
front of the sofa"), and GO to the place where an object was last seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lodestar.agent.activities.activity import Activity, Tools
from lodestar.agent.activities.asking import asked_in_words, question_of, unanswered
from lodestar.agent.activities.charger_trip import home_of
from lodestar.agent.decisions.admission import HOME, PLACE
from lodestar.agent.decisions.approach import Arrival
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.config import LOOP_RETURN_TOLERANCE
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.reach import Reach
from lodestar.geometry.boxes import point_box_distance
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.viewpoints import NoViewpoint
from lodestar.language.directive import ROBOT_FRAME, Item, Step, StepKind
from lodestar.language.query_graph import QueryGraph, QueryVariable
from lodestar.memory.answer import Answer, AnswerPlace, ProofKind
from lodestar.query.config import QueryConfig
from lodestar.query.targets import TargetView
from lodestar.scene.captions import clean_text
from lodestar.scene.records import Entity
from lodestar.selection.admission import Admission

GENERIC = "object"  # a noun of the lexicon that matches any object
LABEL = "person"  # a noun of the lexicon for a person, about as large as a robot
REACH = 2.0  # m around the anchors in which a spot may lie
STEP = 0.25  # m between candidate places
APART = 0.35  # m from a failed goal, within which no candidate is tried
_SIZE = np.array([0.4, 0.4, 0.5])  # m, extent of the robot at a candidate place


class SpotSearch:
    """Finds a place where the robot satisfies the relations of a spot, such as "in front of the sofa"."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def best(self, run: DirectiveRun) -> np.ndarray | None:
        """Return the pose (3,) at the reachable place that fits best, facing the first anchor (the object
        that the relations name); None if the anchors are unknown or no place fits.
        """
        assert run.step.item is not None
        for graph in run.step.item.best:
            anchors = self._context.search.known(graph.of_variable(1))
            if not anchors:
                continue
            places = self._places(run, anchors[0])
            if not len(places):
                continue
            entities = {i: _standing(i, place) for i, place in places.items()}
            scores = self._context.search.scores(
                Step(StepKind.FIND, Item(((_of_anything(graph),),))), entities
            )
            fitting = [i for i in entities if scores.get(i, 0.0) >= QueryConfig.accept]
            if fitting:
                chosen = max(fitting, key=lambda i: (round(scores[i], 2), -places[i][2]))
                x, y = places[chosen][:2]
                toward = anchors[0].mean[:2] - (x, y)
                return np.array([x, y, math.atan2(toward[1], toward[0])])
        return None

    def _places(self, run: DirectiveRun, anchor: Entity) -> dict[int, np.ndarray]:
        """Return id -> (3,) float64 x, y and metres of path, for the reachable places around the anchor. The
        ids are unused by entities of the scene.
        """
        facts = self._context.facts
        assert facts.mirror is not None
        grid = facts.known_grid
        lengths = Reach(grid, facts.known_pose, self._context.config.reach).possible
        low, high = anchor.box_min[:2] - REACH, anchor.box_max[:2] + REACH
        xs, ys = (np.arange(a, b, STEP) for a, b in zip(low, high))
        points = np.stack(np.meshgrid(xs, ys), -1).reshape(-1, 2)
        cells = grid.cells_of(points)
        shape = np.array(grid.cells.shape)
        on = ((cells >= 0) & (cells < shape)).all(axis=1)
        away = point_box_distance(points, anchor.box_min[:2], anchor.box_max[:2])
        on &= away <= REACH
        length = np.full(len(points), np.inf)
        length[on] = lengths[cells[on, 0], cells[on, 1]]
        for goal in run.errand.goals.active():
            length[np.hypot(*(points - np.asarray(goal)[:2]).T) < APART] = np.inf
        first = max(facts.mirror.entities, default=0) + 1
        kept = np.flatnonzero(np.isfinite(length))
        return {first + i: np.array([*points[k], length[k]]) for i, k in enumerate(kept)}


def _of_anything(graph: QueryGraph) -> QueryGraph:
    """Return the graph without the target's category, so that the robot can be scored as its target."""
    kept = tuple(p for p in graph.predicates if p.name != "IsCategory" or p.arguments != (0,))
    return replace(graph, variables=(QueryVariable(GENERIC, GENERIC), *graph.variables[1:]), predicates=kept)


def _standing(identity: int, place: np.ndarray) -> Entity:
    """Return an entity with the robot's size at the place (3,), so that predicates can be scored for a robot
    there.
    """
    middle = np.array([place[0], place[1], _SIZE[2] / 2.0])
    return Entity(
        id=identity,
        label=LABEL,
        caption=LABEL,
        mean=middle,
        covariance=np.diag((_SIZE / 2.0) ** 2 / 3.0),
        box_min=middle - _SIZE / 2.0,
        box_max=middle + _SIZE / 2.0,
    )


@dataclass(frozen=True)
class Place:
    """A pose to go to. proposer: name on the goal. goal: (3,) in map. turns: any heading is acceptable. name,
    coming, there: words for the place, the drive to it and the arrival.
    """

    proposer: str
    goal: np.ndarray
    turns: bool
    name: str
    coming: str
    there: str


def start_of(run: DirectiveRun, context: LoopContext) -> Place:
    """Return the place where the directive began if it has several steps, else the place of the robot's first
    pose.
    """
    words = "the start", "Going back to where I started.", "Back where I started."
    return Place(HOME, home_of(run, context).copy(), True, *words)


def named_pose(run: DirectiveRun, context: LoopContext) -> Place:
    """Return the place of the pose that the step names, as it lies in the map now. A pose in the robot's
    frame is taken from the robot's current pose.
    """
    pose, here = run.step.pose, context.facts.known_pose
    assert pose is not None
    x, y, turned = pose.x, pose.y, 0.0
    said = pose.heading
    if pose.frame == ROBOT_FRAME:
        turned = float(here[2])
        x = float(here[0]) + pose.x * math.cos(turned) - pose.y * math.sin(turned)
        y = float(here[1]) + pose.x * math.sin(turned) + pose.y * math.cos(turned)
    else:
        x, y, yaw = run.named[run.step_index].tolist()
        said = None if math.isnan(yaw) else yaw
    turns = said is None
    heading = math.atan2(y - here[1], x - here[0]) if said is None else turned + said
    goal, name = np.array([x, y, float(wrap_angle(heading))]), f"({x:.1f}, {y:.1f})"
    return Place(PLACE, goal, turns, name, f"Going to {name}.", f"I stand at {name}.")


class Destination(Activity):
    """RETURN, and GO to coordinates: sends one pose and checks on arrival that the robot is there."""

    def __init__(self, tools: Tools, place_of: Callable[[DirectiveRun, LoopContext], Place]) -> None:
        super().__init__(tools)
        self._place_of = place_of
        self._known: Place | None = None

    def _place(self, run: DirectiveRun) -> Place:
        """Return the destination, which is fixed at the begin of the step, at its current position in the
        map.
        """
        if self._known is None or run.errand.place is None:
            self._known = self._place_of(run, self._tools.context)
            run.errand.place = self._known.goal
        return replace(self._known, goal=run.errand.place)

    def act(self, run: DirectiveRun) -> bool:
        """Send the robot to the place."""
        place, slack = self._place(run), LOOP_RETURN_TOLERANCE
        self.send_or_wait(run, place.proposer, place.goal, place.coming, turns=place.turns, slack=slack)
        return True

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """Succeed if the robot is at the place; else send the goal again."""
        place = self._place(run)
        if self.has_come(run, place.goal, place.name):
            self._tools.steps.succeed(run, place.there)

    def unreachable(self, run: DirectiveRun, why: str) -> None:
        """Fail the step; if it was a return, end the directive."""
        place = self._place(run)
        if place.proposer == HOME:
            code, message = run.verdict or (ErrorCode.NAVIGATION_FAILED, "")
            self._tools.transitions.finish(run, code, f"{message} Could not come back: {why}.".strip())
        else:
            message = f"Could not go to {place.name}: {why}."
            self._tools.steps.fail(run, ErrorCode.NAVIGATION_FAILED, message)


class SpotVisit(Activity):
    """GO to a spot given by relations, such as "in front of the sofa": explores until the anchors are known, then
    goes.
    """

    explores = True

    def __init__(self, tools: Tools, spots: SpotSearch) -> None:
        super().__init__(tools)
        self._spots = spots

    def act(self, run: DirectiveRun) -> bool:
        """Send the robot to the spot if it is known."""
        goal = None if self._go_to.is_given_up(_spot(run)) else self._spots.best(run)
        if goal is None or self._go_to.send(run, PLACE, goal, f"Going to {_spot(run)}."):
            return goal is not None
        why = self._go_to.verdict.reason
        run.errand.goals.exclude(goal, why, self._tools.context.facts.grid, lasting=True)
        self.retry(run)
        return True

    def news(self, run: DirectiveRun) -> str:
        """Return a sentence if the anchors have become known, else ""."""
        if self._go_to.is_given_up(_spot(run)) or self._spots.best(run) is None:
            return ""
        return f"I know where {_spot(run)} is."

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """Succeed if the robot reached the spot; else exclude the goal and count the failure."""
        if self._go_to.is_there(arrival.goal):
            self._tools.steps.succeed(run, f"I stand at {_spot(run)}.")
            return
        facts = self._tools.context.facts
        run.errand.goals.exclude(arrival.goal, "the navigator stopped short of it", facts.grid)
        self._go_to.fell_short(_spot(run))
        self._tools.transitions.redecide(run)

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """Fail the step: no reachable place for the spot is known."""
        message = f"Everything reachable is explored, and no way to {_spot(run)} is known."
        self._tools.steps.fail(run, ErrorCode.TARGET_NOT_FOUND, message)


def _spot(run: DirectiveRun) -> str:
    assert run.step.item is not None
    graph = run.step.item.best[0]
    return f'"{graph.target.phrase}" by the {" and the ".join(v.phrase for v in graph.variables[1:])}'


_HALF = 0.2  # m, half side of the box assumed around a remembered centre
_LOOK = 1.0  # s (stamps) before the arrival that count as seen on arrival


class RememberedPlace(Activity):
    """GO to where an object was last seen: queries the memory once and goes to the place it returns, or fails."""

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self._answer: Answer | None = None

    def act(self, run: DirectiveRun) -> bool:
        """Query the memory; with an answer, send the robot to its place."""
        if self._answer is None:
            self._tools.memory.ask(run, question_of(run.step))
            run.text = f"Asking my memory: {asked_in_words(run.step)}"
            self._tools.transitions.wait(run)
            return True
        place = self._answer.value.places[0]
        goal = self._goal(run, place)
        if goal is None:
            x, y = place.centre[:2]
            message = (
                f"{_said(self._answer)} No place from which ({x:.1f}, {y:.1f}) can be seen is reachable."
            )
            self._tools.steps.fail(run, ErrorCode.TARGET_UNREACHABLE, message)
        else:
            self.send_or_wait(run, PLACE, goal, f"{_said(self._answer)} Going there.", turns=False)
        return True

    def waited(self, run: DirectiveRun) -> None:
        """Decide again if the memory returned a place, else fail."""
        outcome = self._tools.memory.outcome(run)
        if outcome is None:
            return
        if outcome.is_known and outcome.answer is not None and outcome.answer.value.places:
            self._answer = outcome.answer
            self._tools.transitions.redecide(run)
        else:
            self._tools.steps.fail(run, ErrorCode.CANNOT_ANSWER, unanswered(run.step, outcome))

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """Succeed if the robot is at the place."""
        assert self._answer is not None
        if self.has_come(run, arrival.goal, "it"):
            words = f"I stand where I can see that place. {self._now(arrival)}"
            self._tools.steps.answer(run, words, self._answer)

    def unreachable(self, run: DirectiveRun, why: str) -> None:
        """Fail the step: the place cannot be reached."""
        message = f"Could not go to where I last saw the {run.step.target}: {why}."
        self._tools.steps.fail(run, ErrorCode.NAVIGATION_FAILED, message)

    def _goal(self, run: DirectiveRun, place: AnswerPlace) -> np.ndarray | None:
        """Return the memory's viewpoint (3,) if it is reachable, else a newly computed one; None if there is none."""
        context = self._tools.context
        facts, config = context.facts, context.config
        reach = Reach(facts.known_grid, facts.known_pose, config.reach)
        if place.viewpoint is not None:
            goal = np.asarray(place.viewpoint, np.float64)
            cells = facts.known_grid.cells_of(goal[None, :2])
            inside = bool(facts.known_grid.contains(cells)[0])
            if inside and np.isfinite(reach.possible[tuple(cells[0])]) and not run.errand.goals.reason(goal):
                return goal
        low, high = place.centre - _HALF, place.centre + _HALF
        try:
            found = reach.viewpoints(low, high, [], run.errand.goals.active(), config.viewpoints)
        except NoViewpoint:
            return None
        return np.asarray(found[0].pose, np.float64)

    def _now(self, arrival: Arrival) -> str:
        """Return the sentence of the memory's answer, with a note if the object is in view now."""
        assert self._answer is not None
        ids = (proof.id for proof in self._answer.proof if proof.kind is ProofKind.ENTITY)
        facts = self._tools.context.facts
        entity = facts.entity(next(ids, 0))
        seen = entity is not None and facts.last_seen(entity) > arrival.stamp.after(-_LOOK)
        return f"{_said(self._answer)}{' It is in view now.' if seen else ''}"


def _said(answer: Answer) -> str:
    return f"{clean_text(answer.sentence).rstrip('.')}."
