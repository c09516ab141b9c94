"""Tests of replayed questions: headless experts get the facts and answers that the live nodes had."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive, Item, Step, StepKind
from lodestar.language.query_graph import QueryGraph, QueryVariable
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, SceneDelta
from lodestar.selection.decisions import ArmRecord, Decision, Outcome
from lodestar_eval.live.parity.decisions import DecisionReplay
from lodestar_eval.settings import robot_config
from lodestar_ros.conversions_agent import decision_to_msg, question_to_msg
from lodestar_ros.conversions_scene import scene_to_msg

EXPERTS = ("frontier", "semantic_map", "ego_vlm")
FIND = Directive(
    "find the cup", (Step(StepKind.FIND, Item(((QueryGraph((QueryVariable("cup", "cup"),)),),))),)
)


def thing(identity: int, x: float) -> Entity:
    low = np.array([x, 0.0, 0.0])
    return Entity(identity, "cup", "cup", low + 0.25, np.eye(3) * 0.01, low, low + 0.5)


class FakeRobot:
    """Fake experts with scripted goals; records each request with its scene and grid."""

    def __init__(self) -> None:
        self.config, self.phrases = robot_config(), PhraseBook()
        self.grid = OccupancyGrid2D(np.zeros((200, 200), np.int8), 0.05, (-5.0, -5.0), stamp=1.0)
        self.map = SimpleNamespace(mirror=SceneMirror(), follow=lambda directive: None)
        self.goals: dict[str, np.ndarray] = {}
        self.asked: list[tuple[str, int, float, frozenset[int]]] = []
        self.taken_up: list[np.ndarray] = []
        self.scene: SceneMirror | None = None
        reader = SimpleNamespace(set_scene=lambda scene: setattr(self, "scene", scene))
        self.panel = reader
        self.experts = {"frontier": SimpleNamespace(take_up=self.taken_up.append)}

    def see(self, stamp: float, *things: Entity) -> None:
        mirror = self.map.mirror
        mirror.apply(SceneDelta(stamp, mirror.revision + 1, mirror.revision, things, session_id="here"))

    def propose(self, name: str, request: ProposalRequest):
        self.asked.append((name, request.epoch, self.grid.stamp, request.excluded_entities))
        if name not in self.goals:
            return Rejection(name, request.epoch, RejectionReason.NO_PROPOSAL, "nothing")
        return Proposal(name, request.epoch, self.goals[name], 0.5, "here", stamp=self.grid.stamp)


def decision(epoch: int, chosen: str, goal, grid_stamp: float = 1.0, **reasons: str) -> Decision:
    """Return a live decision; reasons: of the arms without a proposal."""
    proposal = Proposal(chosen, epoch, np.array(goal, float), 0.5, "there", stamp=grid_stamp)
    arms = tuple(
        ArmRecord(name, name == chosen, "" if name == chosen else reasons.get(name, "NO_PROPOSAL: nothing"),
                  proposal=proposal if name == chosen else None)
        for name in EXPERTS
    )  # fmt: skip
    return Decision(epoch, 1.0, FIND.text, 0, {}, arms, chosen)


class Replay:
    """Replay of decisions and answers in the order given by the test."""

    def __init__(self, *decisions: Decision) -> None:
        self.robot = FakeRobot()
        recording = SimpleNamespace(decisions={d.epoch: d for d in decisions})
        self.replay = DecisionReplay(recording, self.robot)
        self.replay.begin(FIND, 0.5)
        self.replay.on_pose(np.zeros(3), 1.0)
        self.robot.see(1.0)
        self.replay.on_view()
        self.replay.on_live_grid(1.0)

    def ask(self, epoch: int, *excluded: int) -> None:
        request = ProposalRequest(epoch, 1.0, FIND, 0, np.zeros(3), frozenset(excluded))
        self.replay.on_question(question_to_msg(request, EXPERTS))

    def live(self, stamp: float, *things: Entity) -> None:
        delta = SceneDelta(stamp, 1, 0, things, session_id="live")
        self.replay.on_live_scene(scene_to_msg(delta)[0])

    def decide(self, live: Decision) -> None:
        self.replay.on_decision(decision_to_msg(live))


@pytest.mark.parametrize(("x", "equal"), [(2.3, True), (2.7, False)])
def test_a_goal_is_compared_with_the_live_one(x, equal):
    live = decision(1, "frontier", (2.0, 0.0, 0.0))
    replay = Replay(live)
    replay.robot.goals["frontier"] = np.array([x, 0.0, 0.0])
    replay.ask(1)
    replay.decide(live)
    (goal,) = replay.replay.goals
    assert goal.equal is equal and goal.expert == "frontier"
    assert replay.robot.taken_up[0] == pytest.approx([2.0, 0.0, 0.0]), "it goes on from the live goal"


def test_the_explorer_is_asked_on_the_grid_that_the_live_one_had():
    live = decision(1, "frontier", (2.0, 0.0, 0.0), grid_stamp=2.0)
    replay = Replay(live)
    replay.ask(1)
    assert [name for name, *_ in replay.robot.asked] == ["semantic_map", "ego_vlm"]
    replay.robot.grid = OccupancyGrid2D(replay.robot.grid.cells, 0.05, (-5.0, -5.0), stamp=2.0)
    replay.replay.on_live_grid(2.0)
    assert replay.robot.asked[-1][:3] == ("frontier", 1, 2.0)


def test_an_answer_that_the_live_selector_had_not_is_no_arm_here():
    live = decision(1, "ego_vlm", (0.0, 0.0, 1.0), frontier="late: no answer before the deadline")
    replay = Replay(live)
    replay.robot.goals |= {"frontier": np.array([4.0, 0.0, 0.0]), "ego_vlm": np.array([0.0, 0.0, 1.0])}
    replay.ask(1)
    replay.decide(live)
    assert replay.replay.goals[0].equal and replay.replay.goals[0].expert == "ego_vlm"


def test_where_the_headless_robot_has_nothing_to_do_the_goal_is_unequal():
    live = decision(1, "frontier", (2.0, 0.0, 0.0))
    replay = Replay(live)
    replay.ask(1)
    replay.decide(live)
    assert replay.replay.goals[0].headless is None and not replay.replay.goals[0].equal


def test_a_decision_that_was_recorded_before_its_question_waits_for_it():
    live = decision(1, "frontier", (2.0, 0.0, 0.0))
    replay = Replay(live)
    replay.robot.goals["frontier"] = np.array([2.0, 0.0, 0.0])
    replay.decide(live)
    assert replay.replay.goals == []
    replay.ask(1)
    assert [goal.equal for goal in replay.replay.goals] == [True]


def test_a_decision_whose_question_is_missing_is_unequal():
    live = decision(1, "frontier", (2.0, 0.0, 0.0))
    replay = Replay(live)
    replay.decide(live)
    replay.replay.end()
    assert [goal.equal for goal in replay.replay.goals] == [False]


def test_excluded_entities_are_told_by_place_and_not_by_id():
    replay = Replay()
    replay.live(2.0, thing(7, 3.0), thing(8, 6.0))
    replay.robot.see(2.0, thing(1, 3.05), thing(2, 6.05))
    replay.replay.on_view()
    replay.ask(1, 8)
    assert replay.robot.asked[0][3] == frozenset({2})


def test_the_scene_is_that_of_the_newest_live_one():
    replay = Replay()
    for stamp in (2.0, 3.0):
        replay.robot.see(stamp, thing(int(stamp), stamp))
        replay.replay.on_view()
    replay.live(2.5)
    replay.ask(1)
    assert set(replay.robot.scene.entities) == {2}, (
        "what was seen later has not come through in the live nodes"
    )


def test_an_outcome_of_a_live_goal_closes_the_decision():
    live = decision(1, "frontier", (2.0, 0.0, 0.0))
    replay = Replay(live)
    replay.robot.goals["frontier"] = np.array([2.0, 0.0, 0.0])
    replay.ask(1)
    replay.decide(live)
    ended = Decision(**{**vars(live), "outcome": Outcome.ABORTED, "reward": {"total": -1.0}})
    replay.decide(ended)
    assert len(replay.replay.goals) == 1
