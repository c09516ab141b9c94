"""Tests that decisions and traces of a log are combined and explained."""

from __future__ import annotations

import numpy as np
import pytest
from agent_fakes import TARGET, World, exploring, find, towards_target

from lodestar.agent.errands.commands import RecordDecision, RecordTrace
from lodestar.experts.protocol import Proposal
from lodestar.language.directive import Directive, Step, StepKind
from lodestar.selection.decisions import ArmRecord, Decision, Outcome
from lodestar.worldmodel.decision_log import DecisionLog, read_decisions, read_records
from lodestar.worldmodel.records import Action, Belief, Expectation, Phase, Skill, Trace
from lodestar_ros.decision_history import episodes, why


def decision(epoch, directive="find the cup", outcome=Outcome.PENDING, **changes):
    proposal = Proposal("semantic_map", epoch, np.array([1.0, 2.0, 0.0]), 0.8, "it fits best", 12)
    other = Proposal("frontier", epoch, np.array([9.0, 2.0, 0.0]), 0.4, "much is unknown there")
    arms = (
        ArmRecord("frontier", True, "", 0.3, 0.41, 0.1, other),
        ArmRecord("semantic_map", True, "", 0.5, 0.73, 0.9, proposal),
        ArmRecord("ego_vlm", False, "late: no answer before the deadline"),
    )
    values = {
        "epoch": epoch, "stamp": 10.0 * epoch, "directive": directive, "subtask": 0, "context": {}, "arms": arms,
        "chosen": "semantic_map", "trace_id": f"q-t{epoch}", "outcome": outcome, "evidence_entities": (12,),
        "explanation": "semantic_map: it fits best",
    }  # fmt: skip
    return Decision(**{**values, **changes})


def trace(epoch, **changes):
    values = {
        "id": f"q-t{epoch}", "epoch": epoch, "stamp": 10.0 * epoch, "proposer": "semantic_map",
        "action": Action(Skill.GO_TO, ("entity:12",), np.array([1.0, 2.0, 0.0])),
        "expectation": Expectation(Phase.AT, "entity:12", visible=(12,), by=10.0 * epoch + 35.0),
        "confidence": 0.8, "beliefs": (Belief("On", ("entity:12", "entity:7")),), "reason": "it fits best",
    }  # fmt: skip
    return Trace(**{**values, **changes})


def test_a_decision_explains_itself():
    done = decision(3, outcome=Outcome.REACHED, reward={"total": 0.5})
    assert why(episodes([decision(3), trace(3), done])[0]) == [
        'At 30.0 s, directive 1 "find the cup", decision 3:',
        "  did        go to entity 12, standing at (1.0, 2.0) (semantic_map, confidence 0.80)",
        "  because    it fits best",
        "  believed   entity 12 is on entity 7",
        "  expected   to stand before entity 12 and to see entity 12 within 35 s",
        "  instead    frontier was not chosen (bound 0.41, probability 0.10): much is unknown there",
        "  instead    ego_vlm could not be chosen: late: no answer before the deadline",
        "  outcome    the goal was reached; reward 0.50",
        "  proof      entities 12",
    ]


def test_actions_are_in_order_and_directives_are_counted():
    records = [decision(1), trace(1), decision(2), decision(1, outcome=Outcome.REACHED), trace(2)]
    records += [trace(3, proposer="return"), decision(4, "find the mug"), decision(5, "find the cup")]
    found = episodes(records)
    assert [one.number for one in found] == [1, 1, 1, 2, 3]
    assert found[0].decision.outcome is Outcome.REACHED and found[0].trace is not None
    assert found[2].decision is None and "on the decision loop's own account" in why(found[2])[0]
    assert found[3].trace is None and "it fits best" in why(found[3])[1]
    assert episodes([]) == []


def test_directives_are_counted_by_the_number_that_their_records_name():
    """Covers equal consecutive directives, directives without decision or record, and those of a second process."""

    def made(prefix, directive, epoch):
        return decision(epoch, trace_id=f"{prefix}-d{directive}-t{epoch}")

    records = [made("q1", 1, 1), made("q1", 2, 2), made("q1", 2, 3)]
    records += [trace(4, id="q1-d3-t4", proposer="return"), made("q1", 5, 5)]
    records += [made("q2", 1, 1), made("q2", 2, 2)]
    found = episodes(records)
    assert [one.number for one in found] == [1, 2, 2, 3, 5, 6, 7]
    assert "directive 3, on the decision loop's own account" in why(found[3])[0]


def test_the_loop_names_the_directive_in_its_records():
    world = World(answers={"frontier": exploring((4.0, 4.0, 0.0))})
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.9
    world.answers["semantic_map"] = towards_target
    wait, records = Directive("wait", (Step(StepKind.WAIT, seconds=0.5),)), []
    for directive in (find(), wait, find()):
        world.loop.start(directive, world.now)
        world.run()
        records += [c.decision for c in world.of(RecordDecision)] + [c.trace for c in world.of(RecordTrace)]
        world.commands.clear()
    assert {one.number for one in episodes(records)} == {1, 3}


def test_a_log_has_both_and_readers_of_decisions_skip_traces(tmp_path):
    log = DecisionLog(tmp_path / "decisions.jsonl")
    log.write(decision(1))
    log.write(trace(1))
    log.write(decision(1, outcome=Outcome.ABORTED))
    assert [type(one).__name__ for one in read_records(log.path)] == ["Decision", "Trace", "Decision"]
    assert len(list(read_decisions(log.path))) == 2
    assert len(episodes(read_records(log.path))) == 1


@pytest.mark.parametrize("line", ["nonsense", "[]", "{}", '{"kind": "trace"}', '{"kind": "dance"}', "7"])
def test_a_broken_line_is_named(tmp_path, line):
    path = tmp_path / "decisions.jsonl"
    DecisionLog(path).write(decision(1))
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=r"decisions\.jsonl:2 is neither"):
        list(read_records(path))
