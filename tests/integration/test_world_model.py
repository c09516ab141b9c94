"""Tests of the world model as a process: it applies amendments of actions and operators, and survives SIGKILL."""

from __future__ import annotations

import time

import numpy as np
import pytest
from nav_msgs.msg import OccupancyGrid
from waiting import PATIENCE, wait_for

from integration.commands import Command
from integration.fakes import FakeRobot
from lodestar.geometry.poses import planar_transform
from lodestar.mapping.instances.records import CaptionVote, Instance, InstanceDelta
from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.outcomes import (
    ActionOutcome,
    Cause,
    CauseEstimate,
    ConstraintState,
    Diagnosis,
    Discrepancy,
    Result,
)
from lodestar.worldmodel.records import Action, Belief, Expectation, Phase, Skill, Trace
from lodestar_interfaces import msg, srv
from lodestar_interfaces.action import CorrectBelief, Diagnose
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg
from lodestar_ros.conversions_scene import instances_to_msg
from lodestar_ros.conversions_world import amendment_to_msg, outcome_to_msg, trace_to_msg

pytestmark = pytest.mark.slow

Codes = CorrectBelief.Result
ARCHIVED, ACTIVE = 2, 0
CHAIR = 1


def chair(identity=CHAIR, x=1.5, label="chair", looks=5):
    centre, now = np.array([x, 0.0, 0.5]), time.time()
    return Instance(
        identity, 100, centre, np.eye(3) * 0.01, centre - 0.25, centre + 0.25,
        (CaptionVote(label, f"red {label}", 3.0),), occupancy_probability=0.9, observation_count=looks,
        confirmed=True, first_seen=now, last_seen=now,
    )  # fmt: skip


class Stage:
    """Publishers of the world model's inputs, and a robot that faces a chair."""

    def __init__(self, bed, processes):
        self.bed, self.processes = bed, processes
        self.robot = bed.on_executor(lambda: FakeRobot(bed))
        make = bed.node.create_publisher
        self.instances = bed.on_executor(
            lambda: make(msg.InstanceArray, "semantic_voxels/instances", qos.EVENT)
        )
        self.traces = bed.on_executor(lambda: make(msg.ReasoningTrace, "goal_selector/traces", qos.HISTORY))
        self.outcomes = bed.on_executor(lambda: make(msg.TraceOutcome, "goal_selector/outcomes", qos.HISTORY))
        bed.hear(msg.SceneDelta, "scene_dictionary/entities", qos.EVENT)
        bed.hear(msg.WorldEvent, "world_model/events", qos.EVENT)
        bed.hear(msg.ClosedWayArray, "world_model/closed_ways", qos.LATCHED)
        bed.hear(OccupancyGrid, "grid", qos.LATCHED)
        self.revision = 0
        processes.start("mapping", "scene_dictionary", "world_model")
        bed.until(lambda: self.diagnosis("message") == "ready", "the world model's diagnostics")
        self.scan_until(lambda: bed.last("grid"), "a grid")
        bed.until_heard(self.instances, self.traces, self.outcomes)
        # Seen again and again: the world model may not hear the scene dictionary yet.
        wait_for(
            lambda: self.known() >= 1 or self.see(chair(looks=5 + self.revision)),
            lambda: f"the world model knows the chair\n{bed.diagnosis('scene_dictionary')}",
            every=0.5,
        )

    def diagnosis(self, key):
        return self.bed.diagnosis("world_model").get(key, "")

    def known(self):
        return int(float(self.diagnosis("scene.entities") or 0))

    def see(self, *instances):
        self.revision += 1
        delta = InstanceDelta(time.time(), self.revision, self.revision - 1, instances)
        self.instances.publish(instances_to_msg(delta))

    def state(self, identity=CHAIR):
        """Return the newest published state of an entity, None if unknown."""
        for _, delta in reversed(self.bed.heard["scene_dictionary/entities"]):
            for entity in delta.updated:
                if entity.id == identity:
                    return entity.state
        return None

    def scan_until(self, condition, what):
        self.robot.turn(condition, lambda: f"{what}\n{self.bed.diagnosis('mapping')}")

    def is_closed(self, message=None):
        """Return whether a grid, by default the newest one, shows the way ahead as closed."""
        grid = grid_from_msg(message or self.bed.last("grid"))
        row, column = grid.cells_of(np.array([[1.5, 0.0]]))[0]
        return grid.cells[row, column] >= grid.occupied_from

    def correct(self, text="", **goal):
        """Return the result of a correction; sent again where the scene dictionary has answered too late.

        Then words are about the chair by its id: it may be archived by now, and what is archived is not faced.
        """
        told = []

        def answered():
            again = {"entity_id": CHAIR} if told and text else {}
            told.append(self.correct_once(text, **(again | goal)))
            return told[-1].error_code != Codes.SCENE_UNAVAILABLE

        self.bed.until(answered, lambda: f"the scene dictionary's answer; {told[-1].error_msg}")
        return told[-1]

    def correct_once(self, text="", **goal):
        caller = self.bed.action(CorrectBelief, "world_model/correct")
        return caller.result(CorrectBelief.Goal(text=text, **goal))

    def fail(self, trace_id, *amendments, **changes):
        """Publish the outcome of a failed action, with the amendments of its diagnosis."""
        outcome = ActionOutcome(trace_id, time.time(), Result.ROLLED_BACK, amendments=amendments, **changes)
        self.outcomes.publish(outcome_to_msg(outcome))

    def ways(self):
        return len(self.bed.last("world_model/closed_ways").ways)

    def event(self, kind):
        found = [event for _, event in self.bed.heard["world_model/events"] if event.kind == kind]
        return found[-1] if found else None


@pytest.fixture(scope="module")
def stage(bed, processes):
    return Stage(bed, processes)


@pytest.fixture
def terminal():
    """Yield a function that runs `python -m lodestar_ros.correct` and returns exit status and output.

    It runs it again where the scene dictionary has answered too late. `sent` lists all runs.
    """
    running = []

    def answered(*arguments):
        running.append(Command("lodestar_ros.correct", *arguments))
        code, text = running[-1].ends(), running[-1].text
        return None if f"error {Codes.SCENE_UNAVAILABLE}" in text else (code, text)

    def run(*arguments):
        return wait_for(lambda: answered(*arguments), lambda: f"an answer; {running[-1].text}")

    run.sent = running
    yield run
    for one in running:
        one.kill()


def trace(*beliefs, goal=(0.5, 0.0, 0.0), entity=CHAIR, **changes):
    about = (f"entity:{entity}",) if entity else ()
    values = {
        "id": "x-t1", "epoch": 1, "stamp": time.time(), "proposer": "test",
        "action": Action(Skill.GO_TO, about, np.array(goal)), "expectation": Expectation(Phase.AT),
        "confidence": 0.5, "beliefs": beliefs,
    }  # fmt: skip
    return trace_to_msg(Trace(**{**values, **changes}))


def validated(stage, message):
    return stage.bed.call(srv.ValidateTrace, "world_model/validate", srv.ValidateTrace.Request(trace=message))


def test_a_trace_is_validated_for_others(stage):
    stage.bed.until(lambda: validated(stage, trace()).accepted, "a grid has come")
    answer = validated(stage, trace(Belief("Near", ("entity:1", "entity:99"))))
    assert (answer.accepted, answer.error_code) == (False, 11401) and "entity 99" in answer.error_msg
    stale = validated(stage, trace(stamp=time.time() - 100.0))
    assert stale.error_code == 11405
    assert validated(stage, trace(confidence=float("nan"))).error_code == 11400
    assert validated(stage, trace(goal=(3.0, 0.0, 0.0), entity=0)).error_code == 11403, "in the wall"
    dance = trace()
    dance.skill = "Dance"
    assert validated(stage, dance).error_code == 11400


def test_an_operator_corrects_and_takes_back(stage, terminal):
    code, text = terminal("that is a stool")
    assert code == 0 and "(entity 1) is called 'stool' (the operator said \"that is a stool\")." in text
    assert "A red chair (entity 1)" in text or len(terminal.sent) > 1, (
        "a late answer may have named it already"
    )
    stage.bed.until(lambda: stage.event("RELABEL"), "the event")
    entry = stage.event("RELABEL").entry
    code, text = terminal("--undo", str(entry))
    assert code == 0, text
    code, text = terminal("--undo", str(entry))
    assert code == 1 and "11443" in text and "taken back before" in text
    code, text = terminal("--undo", "77")
    assert code == 1 and "11442" in text
    code, text = terminal("sing a song")
    assert code == 1 and "11440" in text and "that is a stool" in text
    code, text = terminal("it is gone", "--entity", "99")
    assert code == 1 and "11441" in text
    code, text = terminal()
    assert code == 2


def test_what_is_gone_is_archived_refused_by_validation_and_restored_by_sight(stage):
    result = stage.correct("it is gone")
    assert result.error_code == Codes.NONE and result.entry
    stage.bed.until(lambda: stage.state() == ARCHIVED, "the chair is archived")
    stage.bed.until(lambda: validated(stage, trace()).error_code == 11406, "the validator heard of it")
    stage.see(chair())
    stage.bed.until(lambda: stage.state() == ACTIVE, "the chair was seen again")


def test_an_outcomes_amendments_are_carried_out_once(stage):
    stage.traces.publish(trace(id="q-t1"))
    gone = Amendment(Change.ARCHIVE, "depth passes", "recovery", CHAIR)
    stage.bed.forget("world_model/events")
    for _ in range(2):
        stage.fail("q-t1", gone)
    stage.bed.until(lambda: stage.state() == ARCHIVED, "the chair is archived")
    stage.fail("q-t2", Amendment(Change.ARCHIVE, "", "recovery", 99))
    stage.bed.until(lambda: stage.event("REFUSED"), "the refusal is told")
    kinds = [event.kind for _, event in stage.bed.heard["world_model/events"]]
    assert kinds == ["ARCHIVE", "REFUSED"] and "entity 99" in stage.event("REFUSED").text
    stage.see(chair())
    stage.bed.until(lambda: stage.state() == ACTIVE, "the chair was seen again")


def test_a_closed_way_is_on_the_grid_until_rays_pass_through_it(stage):
    assert not stage.is_closed()
    start, earlier = time.time(), len(stage.bed.heard["grid"])
    way = ClosedWay((1.5, -0.45), (1.5, 0.45), start + 3 * PATIENCE, "DOOR_CLOSED")
    stage.fail("q-t3", Amendment(Change.CLOSE_WAY, "no way", "recovery", way=way))
    stage.bed.until(lambda: stage.ways() == 1, "the way is closed")
    shown = lambda: any(stage.is_closed(grid) for _, grid in stage.bed.heard["grid"][earlier:])  # noqa: E731
    stage.scan_until(shown, "a grid shows it")
    stage.scan_until(lambda: not stage.is_closed(), "rays open it again")
    stage.bed.until(lambda: stage.ways() == 0, "the world model heard of it from the grid")
    opened = stage.bed.until(lambda: stage.event("OPEN_WAY"), "the event")
    assert "rays pass through it" in opened.text
    assert time.time() < way.expires


def test_a_closed_way_moves_with_the_map_when_slam_closes_a_loop(stage):
    way = ClosedWay((1.5, -0.4), (1.5, 0.4), float("inf"), "DOOR_CLOSED", seen_free_opens=False)
    stage.fail("loop/1", Amendment(Change.CLOSE_WAY, "a person said so", "recovery", way=way))
    stage.bed.until(lambda: stage.ways() == 1, "the way is closed")
    for _ in range(3):  # its diagnostics come as often as its ticks
        stage.bed.next("/diagnostics", lambda array: any(one.name == "world_model" for one in array.status))
    stage.robot.map_from_odom = planar_transform(0.5, 0.0, 0.0)

    def moved():
        ways = stage.bed.last("world_model/closed_ways").ways
        return bool(ways) and abs(ways[0].start.x - 2.0) < 0.01

    try:
        stage.bed.until(moved, "the way has moved with the map")
    finally:
        stage.robot.map_from_odom = np.eye(4)
        stage.bed.until(lambda: not moved(), "the way has moved back")
        stage.fail("loop/2", Amendment(Change.OPEN_WAY, "open again", "recovery", way=way))
        stage.bed.until(lambda: stage.ways() == 0, "the way is open")


def test_a_malformed_correction_is_refused_and_the_next_one_carried_out(stage):
    nothing = Amendment(Change.RELATE, "", "operator", belief=Belief("On", ()))
    nowhere = Amendment(Change.CLOSE_WAY, "", "operator")
    for amendment in (nothing, nowhere):
        answer = stage.correct(amendment=[amendment_to_msg(amendment)])
        assert (answer.error_code, answer.entry) == (Codes.NOT_UNDERSTOOD, 0), answer.error_msg
    stage.bed.until(lambda: stage.known() >= 1, "the scene was paged")
    answer = stage.correct("that may be gone", entity_id=CHAIR)
    assert answer.error_code == Codes.NONE
    assert stage.correct(undo=answer.entry).error_code == Codes.NONE


def test_a_diagnosis_can_be_asked_for(stage):
    state = ConstraintState(Phase.APPROACHING, "entity:1")
    found = Diagnosis(Discrepancy(state, state), (CauseEstimate(Cause.DOOR_CLOSED, 0.9),))
    stage.fail("q-t4", diagnosis=found, text="The door is closed.")
    caller = stage.bed.action(Diagnose, "world_model/diagnose")
    stage.bed.until(lambda: stage.event("DIAGNOSED"), "the diagnosis is told")
    for asked in ("", "q-t4"):
        answer = caller.result(Diagnose.Goal(trace_id=asked))
        assert (answer.error_code, answer.causes[0].cause) == (0, "DOOR_CLOSED")
        assert answer.report == "The door is closed."
    assert caller.result(Diagnose.Goal(trace_id="q-t77")).error_code == Diagnose.Result.UNKNOWN_TRACE
    assert caller.result(Diagnose.Goal(trace_id="q-t3")).error_code == Diagnose.Result.NO_OBSERVATION


def test_a_killed_world_model_goes_on_with_its_journal_and_the_grid_stays_as_it_was(stage):
    glass = ClosedWay((1.5, -0.45), (1.5, 0.45), cause="UNSEEN_OBSTACLE", seen_free_opens=False)
    amendment = amendment_to_msg(Amendment(Change.CLOSE_WAY, "glass", "operator", way=glass))
    entry = stage.correct(amendment=[amendment]).entry
    stage.scan_until(stage.is_closed, "the grid shows it")
    stage.processes.kill("world_model")
    stage.bed.forget("world_model/closed_ways")
    for _ in range(15):
        stage.robot.scan()
        time.sleep(0.1)
    assert stage.is_closed(), "mapping goes on without the world model"
    stage.bed.bury("world_model")
    stage.processes.starter.start_one("world_model")
    stage.bed.until(lambda: stage.bed.last("world_model/closed_ways"), "the successor tells")
    assert stage.ways() == 1
    stage.bed.until(lambda: stage.known() >= 1, "the scene was paged")
    assert "operator" not in stage.diagnosis("journal.problems")
    assert stage.correct(undo=entry).error_code == Codes.NONE
    stage.scan_until(lambda: not stage.is_closed(), "the way is open")
    assert stage.correct(undo=entry).error_code == Codes.ALREADY_UNDONE


def test_an_amendment_outlives_a_scene_dictionary_that_is_killed_right_after_its_answer(stage):
    """The newest amendment is kept by the journal, not by a checkpoint."""
    assert stage.correct("that is a stool", entity_id=CHAIR).error_code == Codes.NONE
    stage.processes.kill("scene_dictionary")
    stage.bed.forget("scene_dictionary/entities")
    stage.processes.starter.start_one("scene_dictionary")

    def is_stool():
        request = srv.GetEntities.Request(ids=[CHAIR], include_archived=True)
        answer = stage.bed.call(srv.GetEntities, "scene_dictionary/get_entities", request)
        return [entity.label for entity in answer.delta.updated] == ["stool"]

    stage.bed.until(is_stool, "the successor has the label")


def test_without_a_scene_dictionary_a_correction_is_refused_and_nothing_is_left_over(stage):
    stage.processes.kill("scene_dictionary")
    result = stage.correct_once("it is gone", entity_id=CHAIR)
    assert result.error_code == Codes.SCENE_UNAVAILABLE
    stage.bed.forget("/diagnostics")
    stage.bed.until(lambda: stage.diagnosis("waiting") == "0", "nothing waits")
    stage.processes.assert_alive(besides=("scene_dictionary", "world_model"))


def test_a_world_model_that_has_not_heard_the_scene_says_so(stage):
    """Must run after the test above, which leaves the scene dictionary dead."""
    stage.processes.kill("world_model")
    stage.bed.forget("world_model/closed_ways")
    stage.processes.starter.start_one("world_model")
    stage.bed.until(lambda: stage.bed.last("world_model/closed_ways"), "the successor tells")
    result = stage.correct_once("it is gone", entity_id=CHAIR)
    assert result.error_code == Codes.SCENE_UNAVAILABLE
    assert "not been heard yet" in result.error_msg and "scene_dictionary" in result.error_msg
