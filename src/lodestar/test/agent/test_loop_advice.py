"""Tests of undiagnosed failures, which are put to a language model while the robot stands."""

from __future__ import annotations

from dataclasses import replace

import pytest
from agent_fakes import TARGET, World, exploring, find, towards_target

from lodestar.agent.errands.commands import NavigationEvent, NavigationKind, RecordOutcome, State
from lodestar.worldmodel.advice import Advice, AdviceQuestion
from lodestar.worldmodel.cause_table import Recovery
from lodestar.worldmodel.config import AdviserConfig
from lodestar.worldmodel.outcomes import ActionOutcome


class FakeAdviser:
    """Adviser that gives a fixed answer from a given time on."""

    def __init__(self) -> None:
        self.config = AdviserConfig(asks_model=True)
        self.questions: list[AdviceQuestion] = []
        self.says: tuple[bool, Advice | None] = (False, None)
        self.dropped = 0

    def ask(self, question: AdviceQuestion) -> None:
        self.questions.append(question)

    def answer(self) -> tuple[bool, Advice | None]:
        return self.says

    def drop(self) -> None:
        self.dropped += 1


@pytest.fixture
def adviser() -> FakeAdviser:
    return FakeAdviser()


@pytest.fixture
def world(adviser: FakeAdviser) -> World:
    """Return a world whose robot's drive to a chair has ended for an undetermined reason."""
    world = World(
        answers={"semantic_map": towards_target, "frontier": exploring((2.0, 8.0, 0.0))}, adviser=adviser
    )
    world.mirror.put(replace(TARGET, first_seen=-100.0, last_seen=-100.0))
    world.targets.scores[7] = 0.9
    world.now = 0.1
    world.loop.on_pose(world.pose, world.now)
    world.loop.start(find(), world.now)
    world.run(until=lambda: world.pose[0] > 3.0)
    world.goal = None
    world.loop.on_navigation(NavigationEvent(NavigationKind.ABORTED, 1, "the test says so"))
    world.run(60.0, until=lambda: bool(adviser.questions))
    return world


def _diagnosed(world: World) -> list[ActionOutcome]:
    """Return the outcomes of actions that were diagnosed."""
    outcomes = [command.outcome for command in world.of(RecordOutcome)]
    return [one for one in outcomes if one.diagnosis is not None and one.is_final]


def test_the_robot_stands_until_the_advice_comes_and_carries_it_out(world, adviser):
    (question,) = adviser.questions
    assert "chair" in question.task and any("(entity 7)" in line for line in question.near)
    world.run(3.0)
    assert world.loop.state is State.DIAGNOSING and world.goal is None and len(adviser.questions) == 1
    assert not _diagnosed(world), "the action has one end"
    adviser.says = (True, Advice(Recovery.NEXT_CANDIDATE, "it is a drawing of a chair"))
    world.run(1.0)
    (last,) = _diagnosed(world)
    assert last.recovery == "next_candidate" and last.text.endswith(
        "the language model advises next_candidate: it is a drawing of a chair"
    )
    assert not last.amendments, "advice corrects no belief"
    assert world.loop.state is not State.DIAGNOSING, "it goes on"


def test_who_never_answers_is_not_waited_for(world, adviser):
    asked = world.now
    world.run(60.0, until=lambda: bool(_diagnosed(world)))
    assert adviser.config.patience - 0.5 <= world.now - asked <= adviser.config.patience + 1.0
    assert adviser.dropped == 1 and _diagnosed(world)[-1].recovery == "ask_again"
    world.run()
    assert world.result is not None


def test_a_stop_does_not_wait_for_advice(world):
    world.loop.cancel(world.now)
    world.run(0.5)
    assert world.loop.state is State.IDLE and world.result is not None


def test_what_the_evidence_tells_is_not_asked(adviser):
    world = World(answers={"semantic_map": towards_target}, adviser=adviser)
    world.mirror.put(replace(TARGET, first_seen=-100.0, last_seen=-100.0))
    world.targets.scores[7] = 0.9
    world.now = 0.1
    world.loop.on_pose(world.pose, world.now)
    world.loop.start(find(), world.now)
    world.run(until=lambda: world.pose[0] > 3.0)
    known = world.mirror.entities[7]
    world.mirror.put(replace(known, state=type(known.state).ARCHIVED))
    world.targets.scores[7] = 0.0
    world.run(10.0)
    assert adviser.questions == []
