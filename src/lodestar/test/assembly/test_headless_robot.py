"""Tests that the headless robot refuses, clears and accepts data as its nodes do."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from lodestar.agent.errands.commands import Finish, SkillEnd
from lodestar.agent.facts.errors import ErrorCode
from lodestar.assembly.config import MappingConfig, RobotConfig, changed
from lodestar.assembly.plan_chain import PlanChain
from lodestar.assembly.range_turns import ScannerTurn
from lodestar.assembly.robot import HeadlessRobot
from lodestar.floors.records import UNKNOWN, Building, Floor
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.language.directive import (
    Constraint,
    ConstraintKind,
    Directive,
    DirectiveError,
    Item,
    Step,
    StepKind,
)
from lodestar.language.grammar import parse_query
from lodestar.language.question_reader import read_question
from lodestar.mapping.config import TURN_FILTER_PERIOD
from lodestar.memory.answering.answerer import Answerer
from lodestar.memory.answering.tools import Tools
from lodestar.memory.records import MapName, Memory
from lodestar.memory.requests import Hit, Request
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.worldmodel.skills import BadSkills

SCAN = MappingConfig(source="scan")
BEAMS = 360
ANGLES = -math.pi, 2.0 * math.pi / BEAMS


def take_turn(chain: PlanChain, stamp: float, x: float = 0.0, distance: float = 3.0) -> bool:
    """Insert a scan of a round room from (x, 0), if the chain wants one; return whether it did."""
    pose = planar_transform(x, 0.0, 0.0)
    wanted = chain.wants_turn(stamp, pose)
    if wanted:
        chain.take_turn(ScannerTurn(stamp, np.full(BEAMS, distance), ANGLES, 20.0, pose, np.eye(4), pose))
    return wanted


def test_turns_are_thinned_and_the_plan_goes_out_at_the_nodes_rate() -> None:
    chain = PlanChain(SCAN)
    taken, plans = 0, [chain.grid]
    for tick in range(40):  # 4 s of driving at 10 Hz
        taken += take_turn(chain, tick / 10.0, x=0.05 * tick)
        if chain.grid is not plans[-1]:
            plans.append(chain.grid)
    assert 8 <= taken <= 4.0 / TURN_FILTER_PERIOD
    gaps = np.diff([plan.stamp for plan in plans[1:]])
    assert len(gaps) >= 4 and gaps.min() >= SCAN.grid_period - 1e-9
    assert plans[-1].free_area > 20.0


def test_a_jump_of_the_map_is_in_the_plan_at_once() -> None:
    chain = PlanChain(SCAN)
    take_turn(chain, 0.0)
    before = chain.grid
    jump = planar_transform(1.0, 0.0, 0.0)
    assert not chain.take_turn(
        ScannerTurn(0.1, np.full(BEAMS, 3.0), ANGLES, 20.0, np.eye(4), np.eye(4), np.eye(4))
    )
    assert chain.grid is before, "the period is not over"
    assert chain.take_turn(ScannerTurn(0.2, np.full(BEAMS, 3.0), ANGLES, 20.0, np.eye(4), jump, np.eye(4)))
    assert chain.grid is not before and chain.grid.stamp == 0.2


def test_depth_is_taken_in_only_where_it_is_the_source() -> None:
    chain = PlanChain(MappingConfig(source="depth"))
    assert not chain.wants_turn(0.0, np.eye(4))


@pytest.fixture
def robot() -> HeadlessRobot:
    return HeadlessRobot(changed(RobotConfig(), mapping__source="scan"), PhraseBook())


def test_a_directive_that_contradicts_itself_is_refused_as_the_node_does(robot: HeadlessRobot) -> None:
    sofa = Item((parse_query("the sofa"),))
    barred = (Constraint(ConstraintKind.KEEP_AWAY, sofa),)
    with pytest.raises(DirectiveError, match="sofa"):
        robot.start(Directive("", (Step(StepKind.FIND, sofa),), barred), 1.0)
    assert robot.loop.directive is None


def test_nothing_is_kept_away_from_once_the_directive_is_over(robot: HeadlessRobot) -> None:
    robot.start("find the mug; keep away from the sofa", 1.0)
    robot.tick(1.1)
    assert robot.map.scene.directive is not None
    robot.loop.cancel(1.5)
    assert any(isinstance(command, Finish) for command in robot.tick(2.0))
    assert robot.map.scene.directive is None


def test_what_is_forgotten_is_the_map_and_not_the_directive(robot: HeadlessRobot) -> None:
    robot.start("find the mug", 1.0)
    before = robot.map
    robot.forget()
    assert robot.map is not before and robot.loop.directive is not None
    assert robot.grid.free_area == 0.0


def test_a_robot_that_remembers_tells_its_memory_what_it_does() -> None:
    config = changed(RobotConfig(), mapping__source="scan")
    assert HeadlessRobot(config, PhraseBook()).memory is None, "it costs time: only who asks for it gets it"
    robot = HeadlessRobot(config, PhraseBook(), remembers=True)
    memory = robot.memory
    assert memory is not None
    robot.take_pose(np.zeros(3), 1.0)
    robot.start("find the mug", 1.0)
    robot.tick(1.1)
    robot.take_pose(np.zeros(3), 1.5)
    robot.loop.cancel(1.5)
    robot.tick(1.6)
    kept: list[Memory] = []
    memory.use_store(_Shelf(kept))
    assert [(each.facts["phase"], each.facts.get("outcome", "")) for each in kept] == [
        ("begun", ""),
        ("ended", "cancelled"),
    ]


class _Shelf:
    """Fake store in a list."""

    def __init__(self, kept: list[Memory]) -> None:
        self._kept = kept

    def add(self, memory: Memory, vector: np.ndarray | None = None) -> int:
        self._kept.append(memory)
        return len(self._kept)

    def use_map(self, name: MapName, session: str = "") -> None:
        pass

    def search(self, request: Request) -> list[Hit]:
        return []

    def last_sights(self, limit: int) -> list[Memory]:
        return []


@pytest.mark.parametrize(
    ("arm", "code", "why"),
    [
        (lambda trace: SkillEnd(True), ErrorCode.NONE, ""),
        (lambda trace: SkillEnd(False, "the wrist is hot"), ErrorCode.SKILL_FAILED, "the wrist is hot"),
        (lambda trace: 1 / 0, ErrorCode.SKILL_FAILED, "ZeroDivisionError"),
        (None, ErrorCode.SKILL_FAILED, "nobody here"),
    ],
)
def test_a_users_skill_is_carried_out_or_its_failure_is_told(arm, code, why, tmp_path) -> None:
    file = tmp_path / "arm.yaml"
    file.write_text("Wave: {phase: IDLE}")
    config = changed(RobotConfig(), mapping__source="scan", shared__skills_file=str(file))
    robot = HeadlessRobot(config, PhraseBook(), run_skill=arm)
    take_turn(robot.map.plan, 1.0)
    robot.take_pose(np.zeros(3), 1.0)
    robot.start(Directive("", (Step(StepKind.DO, skill="Wave"),)), 1.0)
    ended = [c for tick in range(20) for c in robot.tick(1.0 + tick / 10.0) if isinstance(c, Finish)]
    assert ended[0].result.error_code is code and why in ended[0].result.error_msg


def test_a_file_of_skills_that_is_none_ends_the_robot_with_its_name(tmp_path) -> None:
    file = tmp_path / "arm.yaml"
    file.write_text("GoTo: {phase: AT}")
    with pytest.raises(BadSkills, match=r"arm\.yaml"):
        HeadlessRobot(changed(RobotConfig(), shared__skills_file=str(file)), PhraseBook())


class _Flat:
    """Embedder that gives all texts the same vector."""

    model, dimension = "flat", 8

    def embed(self, phrases):
        return np.full((len(phrases), 8), 8**-0.5, np.float32)


def test_a_robot_with_a_model_asks_it_where_its_memory_does_not_know() -> None:
    pytest.importorskip("openai")
    asked: list[str] = []

    class Nothing:
        def search(self, request: Request) -> list[Hit]:
            return []

    class Model:
        def complete(self, system, user, schema, images=(), shorter=None) -> str:
            asked.append(user)
            return json.dumps({"calls": [], "claims": [], "yes": None})

        def begin_task(self) -> None:
            asked.append("begin")

        def cancel(self) -> None:
            asked.append("cancel")

    agent = {"shared__language_model": True, "shared__vision_model": True, "mapping__source": "scan"}
    robot = HeadlessRobot(changed(RobotConfig(), **agent), PhraseBook(_Flat()), remembers=True)
    assert robot._chat is not None and robot.memory is not None
    robot._chat = Model()
    tools = Tools(Nothing(), robot.phrases, robot.memory.scene)
    question = read_question("what is the desk made of?")
    answer = robot._with_model(Answerer(tools)).answer(question, 10.0)
    assert asked[0] == "begin" and "what is the desk made of?" in asked[1] and "Pictures:" in asked[1]
    assert not answer.is_known, "it knows nothing either"
    assert HeadlessRobot(RobotConfig(), PhraseBook())._chat is None


def test_experts_of_all_floors_hear_of_each_correction_also_between_two(robot: HeadlessRobot) -> None:
    floors = Floor(1, 0, 0.0), Floor(2, 1, 3.0)
    for active in (1, 2):
        robot._panels.follow(Building(floors, active=active))
    camera, depth = PinholeCamera(64, 48, 60.0, 60.0, 31.5, 23.5), np.full((48, 64), 3.0, np.float32)
    for stamp, active in enumerate((2, UNKNOWN)):
        robot.map.floors.building = Building(floors, active=active)
        map_from_odom = planar_transform(0.01 * stamp, 0.0, 0.0)
        frame = RgbdFrame(float(stamp), camera, depth, BODY_FROM_OPTICAL, map_from_odom)
        robot.take_view(frame, SegmentedFrame(float(stamp), np.zeros((48, 64), np.int32), ()))
        for panel in robot._panels.all:
            heard = panel.experts["ego_vlm"]._recall.glimpses._anchor.last
            np.testing.assert_array_equal(heard, map_from_odom)


@pytest.mark.parametrize(
    ("shown", "value", "looks"),
    [(1.0, 3.0, 5), (0.0, 3.0, 0), (0.01, 3.0, 0), (1.0, np.inf, 0)],
    ids=["a wall", "covered", "speckle", "nothing within reach"],
)
def test_only_a_frame_that_entered_the_map_counts_as_a_look(shown: float, value: float, looks: int) -> None:
    """The explorer, the map expert, the view expert's directions, the loop and the memory hear of it."""
    robot = HeadlessRobot(RobotConfig(), PhraseBook(), remembers=True)
    assert robot.memory is not None
    robot.map.floors.building = Building((Floor(1, 0, 0.0),), active=1)
    heard: list[float] = []
    for name in ("frontier", "semantic_map"):
        robot.panel.experts[name].add_view = lambda *view: heard.append(view[-1])
    robot.panel.experts["ego_vlm"]._directions._floor.add_view = lambda *view: heard.append(view[-1])
    robot.loop.on_look = lambda *view: heard.append(view[-1])
    robot.memory.take_look = lambda stamp, _: heard.append(stamp)
    depth = np.zeros((48, 64), np.float32)
    depth[: round(48 * shown**0.5), : round(64 * shown**0.5)] = value
    frame = RgbdFrame(1.0, PinholeCamera(64, 48, 60.0, 60.0, 31.5, 23.5), depth, BODY_FROM_OPTICAL)
    robot.take_view(frame, SegmentedFrame(1.0, np.zeros((48, 64), np.uint16), ()))
    assert heard == [1.0] * looks
