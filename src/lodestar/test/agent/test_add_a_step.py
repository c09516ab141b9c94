"""Tests of a new kind of step, added as docs/how-to/extend.md says: the code under test is the page's.

Files that it changes: `language/directive.py`, `Subtask.msg`, `language/step_kinds.py`, a new module of
`agent/activities/` and `agent/activities/table.py`; for the parser, one line each of `words.yaml` and `rules.yaml`.
That is seven; its test (with `examples.yaml`), docs/how-to/send-a-goal.md and the changelog are further ones.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from agent_fakes import World

from lodestar.agent.activities.table import activity_for
from lodestar.agent.errands.commands import CancelGoal, RecordOutcome, RecordTrace, SendGoal
from lodestar.agent.facts.errors import ErrorCode
from lodestar.language.checks import check_directive
from lodestar.language.directive import Directive, Step, StepKind
from lodestar.language.sentences import sentence
from lodestar.language.step_kinds import registered_step, step_spec
from lodestar.worldmodel.outcomes import Result

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs" / "how-to" / "extend.md"


def kind_of_the_page() -> StepKind:
    """Return the page's enumeration line as a member, since a test cannot edit the enumeration."""
    name, number = re.search(r"^```\n(\w+) = (\d+)", PAGE.read_text(), re.MULTILINE).groups()
    kind = int.__new__(StepKind, int(number))
    kind._name_, kind._value_ = name, int(number)
    return kind


@pytest.fixture
def page() -> Iterator[ModuleType]:
    """Install the page's code, with its kind, words and activity; yield the module."""
    kind = kind_of_the_page()
    assert kind not in set(StepKind), "the page's number is free"
    StepKind._member_map_[kind.name] = StepKind._value2member_map_[int(kind)] = kind
    type.__setattr__(StepKind, kind.name, kind)
    module = ModuleType("step_of_the_page")
    sys.modules[module.__name__] = module
    try:
        section = PAGE.read_text().split("\n## A kind of step\n")[1]
        for block in re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL):
            exec(compile(block, str(PAGE), "exec"), module.__dict__)
        with registered_step(module.SPEC), activity_for(kind, lambda tools, step: module.BackOff(tools)):
            yield module
    finally:
        type.__delattr__(StepKind, kind.name)
        del (
            StepKind._member_map_[kind.name],
            StepKind._value2member_map_[int(kind)],
            sys.modules[module.__name__],
        )


def back_off(*more: Step) -> Directive:
    return Directive("back off", (Step(StepKind["BACK_OFF"]), *more))


def started(**changes) -> World:
    world = World(**changes)
    world.pose = np.array([5.0, 5.0, 0.0])
    world.loop.on_pose(world.pose, 0.0)
    directive = back_off()
    check_directive(directive)
    world.loop.start(directive, world.now)
    return world


def test_every_kind_has_its_words_and_is_one_of_the_message(page: ModuleType) -> None:
    message = (ROOT / "src" / "lodestar_interfaces" / "msg" / "Subtask.msg").read_text()
    numbers = dict(re.findall(r"^uint8 KIND_(\w+)=(\d+)", message, re.MULTILINE))
    own = {kind.name: str(int(kind)) for kind in StepKind if kind.name != "BACK_OFF"}
    assert numbers == own
    for kind in StepKind:
        assert step_spec(kind).kind is kind


def test_it_is_built_said_and_done_and_told_in_the_report(page: ModuleType) -> None:
    world = started()
    assert sentence(back_off()) == "back off"
    assert world.loop.feedback().understood == "Back off."
    assert "step back a little" in world.loop.feedback().text.lower()
    world.run()
    assert world.result.error_code is ErrorCode.NONE, world.result.error_msg
    assert np.allclose(world.pose, [4.4, 5.0, 0.0], atol=0.05)
    assert "Stepped back by 0.6 m." in world.result.report
    traces = {command.trace.id for command in world.of(RecordTrace)}
    ends = [c.outcome.result for c in world.of(RecordOutcome) if c.outcome.trace_id in traces]
    assert len(traces) == 1 and ends == [Result.COMMITTED], "its goal had a trace and one end"


def test_a_goal_in_a_wall_is_never_sent_and_the_validators_words_are_told(page: ModuleType) -> None:
    world = World()
    world.pose = np.array([0.7, 5.0, 0.0])
    world.loop.on_pose(world.pose, 0.0)
    world.loop.start(back_off(), world.now)
    world.run()
    assert world.result.error_code is ErrorCode.NAVIGATION_FAILED and "does not fit" in world.result.error_msg
    assert not world.of(SendGoal)


def test_a_navigator_that_fails_ends_it_and_a_cancel_stops_it(page: ModuleType) -> None:
    world = started()
    world.abort_with = (208, "no valid path")
    world.run()
    assert world.result.error_code is not ErrorCode.NONE
    world = started()
    world.run(until=lambda: world.goal is not None)
    world.loop.cancel(world.now)
    world.run()
    assert world.result.error_code is ErrorCode.CANCELLED and world.of(CancelGoal)
    world.commands = []
    world.loop.start(Directive("", (Step(StepKind.WAIT, seconds=1.0),)), world.now)
    world.run()
    assert world.result.error_code is ErrorCode.NONE, "the next directive is unharmed"


def test_it_stands_among_others_and_each_time_it_is_a_new_errand(page: ModuleType) -> None:
    world = World()
    world.pose = np.array([5.0, 5.0, 0.0])
    world.loop.on_pose(world.pose, 0.0)
    twice = Directive("", (Step(StepKind["BACK_OFF"], times=2), Step(StepKind.RETURN)))
    assert sentence(twice) == "back off 2 times, then come back"
    world.loop.start(twice, world.now)
    world.run()
    assert world.result.error_code is ErrorCode.NONE
    assert [round(float(c.goal[0]), 1) for c in world.of(SendGoal)] == [4.4, 3.8, 5.0]


def test_a_kind_without_words_is_no_kind_and_none_has_two(page: ModuleType) -> None:
    with pytest.raises(ValueError, match="already"), registered_step(page.SPEC):
        pass
