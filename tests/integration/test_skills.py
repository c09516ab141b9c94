"""Tests of steps with a user's skill, over DDS: the skill server is called, awaited and cancelled."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rclpy.action import ActionServer, CancelResponse
from std_srvs.srv import SetBool

from integration.surroundings import TIMES, World, chair
from lodestar.language.directive import Directive, Item, Step, StepKind
from lodestar.language.grammar import parse_query
from lodestar_interfaces.action import FollowDirective, RunSkill
from lodestar_ros.conversions_language import directive_to_msg

pytestmark = pytest.mark.slow

Result = FollowDirective.Result
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "extend.md"
PATIENCE = 1  # s that a nap may take here
ARM = f"""
Wave: {{phase: IDLE, verbs: [wave]}}
Nap: {{phase: IDLE, patience: {PATIENCE}}}
Sing: {{phase: IDLE}}
Pick: {{phase: AT, verbs: [pick up], requires: [{{predicate: Near, arguments: [robot, $1]}}]}}
"""


class FakeArm:
    """Fake `run_skill` server. ends(skill): (code, message) of its end; None = it keeps running."""

    def __init__(self, bed) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.cancelled = 0
        self.ends: Callable[[str], tuple[int, str] | None] = lambda skill: (0, "")
        self.open: list[Any] = []
        self.server = ActionServer(
            bed.node,
            RunSkill,
            "run_skill",
            lambda handle: RunSkill.Result(),
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )

    def _on_accepted(self, handle: Any) -> None:
        trace = handle.request.trace
        self.asked.append((trace.skill, list(trace.arguments)))
        end = self.ends(trace.skill)
        if end is None:
            self.open.append(handle)
        else:
            self.conclude(handle, *end)

    def _on_cancel(self, handle: Any) -> CancelResponse:
        self.cancelled += 1
        return CancelResponse.ACCEPT

    def conclude(self, handle: Any, code: int = 0, message: str = "") -> None:
        def conclude(handle: Any) -> Any:
            handle.succeed() if not code else handle.abort()
            return RunSkill.Result(error_code=code, error_msg=message)

        handle.execute(conclude)


@pytest.fixture(scope="module")
def world(bed, processes, tmp_path_factory):
    file = tmp_path_factory.mktemp("skills") / "arm.yaml"
    file.write_text(ARM)
    world = World(bed, processes, file)
    world.arm = bed.mortal.on_executor(lambda: FakeArm(bed.mortal))
    parameters = {"goal_selector": TIMES | {"shared.skills_file": str(file)}}
    processes.start("goal_selector", "motion_gate", parameters=parameters)
    bed.next("goal_selector/heartbeat")
    world.robot.publish_grid()
    return world


@pytest.fixture(autouse=True)
def clean(world):
    world.reset()
    world.arm.asked.clear()
    world.arm.open.clear()
    world.arm.cancelled = 0
    world.arm.ends = lambda skill: (0, "")
    yield
    world.processes.assert_alive()


def do(skill: str, *things: str) -> FollowDirective.Goal:
    items = [Item((parse_query(words),)) for words in things]
    step = Step(StepKind.DO, items[0] if items else None, skill=skill, others=tuple(items[1:]))
    return FollowDirective.Goal(directive=directive_to_msg(Directive("", (step,))))


def test_a_skill_is_carried_out_by_the_users_node_and_told_in_the_report(world):
    result = world.follow.result(do("Wave"))
    assert result.success and result.error_code == Result.NONE, result.error_msg
    assert world.arm.asked == [("Wave", [])] and "do Wave" in result.report and not world.nav.goals


def test_its_failure_has_a_code_and_the_nodes_words(world):
    world.arm.ends = lambda skill: (RunSkill.Result.FAILED, "the wrist is hot")
    result = world.follow.result(do("Wave"))
    assert result.error_code == Result.SKILL_FAILED and "the wrist is hot" in result.error_msg


def test_what_it_requires_is_checked_before_the_node_hears_of_it(world):
    world.see(chair(7, (3.0, 0.0), time.time()))
    result = world.follow.result(do("Pick", "the red chair"))
    assert result.error_code in (Result.SKILL_REFUSED, Result.TARGET_NOT_FOUND), result.error_msg
    assert not world.arm.asked


def test_an_unknown_skill_is_refused_with_those_there_are(world):
    result = world.follow.result(do("Dance"))
    assert result.error_code == Result.SKILL_REFUSED and "Nap, Pick, Sing, Wave" in result.error_msg


def test_a_node_that_never_ends_is_told_to_stop_and_the_next_directive_is_done(world):
    world.arm.ends = lambda skill: None
    result = world.follow.result(do("Nap"))
    assert result.error_code == Result.SKILL_FAILED and f"{PATIENCE} s" in result.error_msg
    world.bed.until(lambda: world.arm.cancelled, "the arm is told to stop")
    world.arm.ends = lambda skill: (0, "")
    assert world.follow.result(do("Wave")).success


@pytest.mark.parametrize("how", ["cancel", "hold"])
def test_a_stop_reaches_the_arm_within_the_bound(world, how):
    world.arm.ends = lambda skill: None
    sent = world.follow.send(do("Wave"))
    beat = world.beat(lambda beat: beat.state == "WAITING")
    assert not beat.motion_allowed
    world.bed.until(lambda: world.arm.asked, "the arm is asked")
    if how == "cancel":
        sent.cancel()
    else:
        world.bed.call(SetBool, "goal_selector/hold", SetBool.Request(data=True))
    world.bed.until(lambda: world.arm.cancelled, "the arm is told to stop")
    assert sent.result().error_code == (Result.CANCELLED if how == "cancel" else Result.HELD)


def test_nobody_who_serves_skills_is_said(world):
    server, world.arm.server = world.arm.server, None
    world.bed.mortal.on_executor(server.destroy)
    result = world.follow.result(do("Wave"))
    assert result.error_code == Result.SKILL_FAILED and "run_skill" in result.error_msg
    side = world.bed.mortal
    world.arm = side.on_executor(lambda: FakeArm(side))


def test_the_node_of_the_page_carries_out_what_it_knows_and_says_what_it_does_not(world):
    code = re.search(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL).group(1)
    names: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), names)
    side = world.bed.mortal
    server, world.arm.server = world.arm.server, None
    side.on_executor(server.destroy)
    node = side.on_executor(lambda: names["ArmNode"](context=side.node.context))
    side.on_executor(lambda: side._executor.add_node(node))
    assert world.bed.until(lambda: world.follow.result(do("Wave")).success, "its server is found")
    result = world.follow.result(do("Sing"))
    assert result.error_code == Result.SKILL_FAILED and "I cannot Sing" in result.error_msg
    side.on_executor(lambda: side._executor.remove_node(node))
    side.on_executor(node.destroy_node)
