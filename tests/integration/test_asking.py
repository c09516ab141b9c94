"""Tests of directives that ask the memory: a fake first, then the real memory node."""

from __future__ import annotations

import time

import numpy as np
import pytest

from integration.fakes import FakeMemory
from integration.surroundings import TIMES, World
from lodestar.language.question_reader import read_question
from lodestar.memory.answer import (
    Answer,
    AnswerCode,
    AnswerOutcome,
    AnswerPlace,
    AnswerValue,
    Proof,
    ProofKind,
)
from lodestar.scene.records import Entity
from lodestar_interfaces import msg
from lodestar_interfaces.action import FollowDirective
from lodestar_ros import qos
from lodestar_ros.conversions import header, stamp_to_msg

pytestmark = pytest.mark.slow

Result = FollowDirective.Result
WHERE = "where did you last see the red mug?"
MUG = np.array([1.6, 0.0, 0.8])


@pytest.fixture(scope="module")
def world(bed, processes, tmp_path_factory):
    log = tmp_path_factory.mktemp("decisions") / "decisions.jsonl"
    world = World(bed, processes, log)
    world.memory = bed.on_executor(lambda: FakeMemory(bed))
    processes.start("goal_selector", "motion_gate", parameters={"goal_selector": TIMES})
    bed.next("goal_selector/heartbeat")
    world.robot.publish_grid()
    world.reset()
    world.memory.answer = at_the_desk()
    bed.until(
        lambda: "is not up" not in world.follow.result(text(WHERE)).error_msg, "the selector knows the memory"
    )
    return world


@pytest.fixture(autouse=True)
def clean(world):
    world.reset()
    world.memory.cancelled = 0
    world.memory.questions.clear()
    yield
    world.processes.assert_alive()


def text(words):
    return FollowDirective.Goal(text=words)


def at_the_desk(viewpoint=None):
    """Return an `answer` function of a memory that has seen the mug on the desk."""

    def answer(question):
        found = read_question(question)
        value = AnswerValue(found.answer, (AnswerPlace(MUG, viewpoint),))
        proof = (Proof(ProofKind.ENTITY, 4, 5.0, MUG, "red mug"),)
        return AnswerOutcome(
            AnswerCode.NONE, Answer(found, "It is on the desk.", value, 0.9, proof, 5.0), stamp=9.0
        )

    return answer


def test_an_answer_comes_with_its_proof_in_the_report_and_nothing_moves(world):
    world.memory.answer = at_the_desk()
    result = world.follow.result(text(WHERE))
    assert result.success and result.error_code == Result.NONE, result.error_msg
    assert "It is on the desk." in result.report and "place: (1.6, 0.0, 0.8) m" in result.report
    assert list(result.entity_ids) == [4] and not world.nav.goals
    assert world.memory.questions == [WHERE]


def test_while_the_memory_thinks_heartbeats_go_on_and_a_cancel_reaches_it(world):
    world.memory.answer = lambda question: None
    sent = world.follow.send(text(WHERE))
    beat = world.beat(lambda beat: beat.state == "WAITING")
    assert not beat.motion_allowed
    moment = world.now()
    sent.cancel()
    assert sent.result().error_code == Result.CANCELLED
    world.assert_soon(moment)
    world.bed.until(lambda: world.memory.cancelled, "the memory hears that nobody waits")


def test_a_store_that_cannot_be_used_has_a_code_and_the_next_step_is_done(world):
    world.memory.answer = lambda question: AnswerOutcome(
        AnswerCode.STORE_UNAVAILABLE, why="the folder is locked"
    )
    world.nav.mode = "arrive"
    result = world.follow.result(text(f"{WHERE.rstrip('?')}, then go to x=0.1 y=0"))
    assert result.error_code == Result.CANNOT_ANSWER
    assert "STORE_UNAVAILABLE" in result.error_msg and "the folder is locked" in result.error_msg
    assert "I stand at (0.1, 0.0)." in result.report


def test_the_last_seen_place_is_driven_to(world):
    world.memory.answer = at_the_desk((0.8, 0.0, 0.0))
    sent = world.follow.send(text("go back to where you saw the red mug"))
    world.bed.until(lambda: world.nav.driving, "the robot drives there")
    assert world.nav.goals[-1][:2] == pytest.approx((0.8, 0.0), abs=0.05)
    sent.cancel()
    assert sent.result().error_code == Result.CANCELLED


def test_what_the_memory_does_not_know_moves_nothing(world):
    before = len(world.nav.goals)
    world.memory.answer = lambda question: AnswerOutcome(AnswerCode.NO_MEMORY, why="I remember nothing yet")
    result = world.follow.result(text("go to where you last saw the forklift"))
    assert result.error_code == Result.CANNOT_ANSWER and "I remember nothing yet" in result.error_msg
    assert len(world.nav.goals) == before


def test_the_memory_node_answers_a_directive_and_its_absence_has_a_code(world, tmp_path):
    """Must run last: the memory node replaces the fake."""
    world.bed.on_executor(world.memory.down)
    result = world.follow.result(text(WHERE))
    assert result.error_code == Result.CANNOT_ANSWER and "memory node" in result.error_msg
    world.processes.start(
        "memory", "text_embedder", parameters={"memory": {"store.folder": str(tmp_path / "memory")}}
    )
    street = Street(world)
    world.bed.until(street.remembers, "the memory has a segment with the mug")
    world.bed.action(FollowDirective, "follow_directive")
    result = world.bed.until(street.answered, "the directive is answered")
    assert "mug" in result.report and list(result.entity_ids)[:1] == [4]
    assert "place: (1.6, 0.0" in result.report


class Street:
    """Publisher of observations for the memory node: a red mug in front of a standing robot."""

    def __init__(self, world):
        self.world, bed = world, world.bed
        self._seen = bed.on_executor(
            lambda: bed.node.create_publisher(msg.InstanceArray, "semantic_voxels/instances", qos.EVENT)
        )

    def remembers(self):
        stamp = time.time()
        half = np.array([0.1, 0.1, 0.1])
        mug = Entity(
            4, "mug", "red mug", MUG, np.eye(3) * 0.01, MUG - half, MUG + half,
            attributes=("red",), observation_count=9, first_seen=stamp, last_seen=stamp,
        )  # fmt: skip
        self.world.see(mug)
        seen = msg.Observation(instance_id=4, stamp=stamp_to_msg(stamp), pixel_count=900, label="mug")
        self._seen.publish(msg.InstanceArray(header=header(stamp, "map"), observations=[seen]))
        self.world.robot.look(parts=("info",))
        time.sleep(0.2)  # period of a camera
        bed = self.world.bed
        return bed.count("memory", "store.records") >= 2 and not bed.count("memory", "store.unembedded")

    def answered(self):
        """Return the result of a directive that asks, None unless successful.

        The first question times out, because the node loads its grammar.
        """
        result = self.world.follow.result(text(WHERE))
        return result if result.success else None
