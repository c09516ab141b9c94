"""Tests that a logged decision is read back unchanged."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from lodestar.experts.protocol import ActionKind, Proposal
from lodestar.selection.decisions import ArmRecord, Decision, Outcome
from lodestar.worldmodel.decision_log import DecisionLog, read_decisions, read_records


def decision(epoch: int) -> Decision:
    proposal = Proposal(
        "frontier",
        epoch,
        np.array([1.0, 2.0, 0.5]),
        0.7,
        "über 12 m²",
        4,
        ActionKind.TURN_LEFT,
        (4, 5),
        (9,),
        0.1,
        3.0,
    )
    arms = (
        ArmRecord("frontier", True, "", 0.4, 0.9, 0.95, proposal),
        ArmRecord("semantic_map", False, "NO_DATA: no scene yet"),
    )
    return Decision(
        epoch, 12.5, "find it", 1, {"bias": 1.0, "coverage": 0.25}, arms, "frontier",
        reward={"total": 1.5}, evidence_entities=(4,), outcome=Outcome.REACHED, explanation="because",
    )  # fmt: skip


def test_there_and_back(tmp_path):
    log = DecisionLog(tmp_path / "run" / "decisions.jsonl")
    for epoch in (1, 2):
        log.write(decision(epoch))
    back = list(read_decisions(log.path))
    assert [d.epoch for d in back] == [1, 2]
    one, two = decision(1), back[0]
    assert np.array_equal(one.arms[0].proposal.goal, two.arms[0].proposal.goal)
    assert vars(one.arms[0].proposal).keys() == vars(two.arms[0].proposal).keys()
    assert two.arms[0].proposal.action is ActionKind.TURN_LEFT and two.outcome is Outcome.REACHED
    assert (two.context, two.reward, two.arms[1], two.evidence_entities) == (
        one.context, one.reward, one.arms[1], one.evidence_entities,
    )  # fmt: skip
    assert two.arms[0].proposal.rationale == "über 12 m²"


@pytest.mark.parametrize("line", ["{", '{"epoch": 1}', "[]", "7"])
def test_a_broken_line_is_named(tmp_path, line):
    log = DecisionLog(tmp_path / "d.jsonl")
    log.write(decision(1))
    with log.path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=r"d\.jsonl:2"):
        list(read_decisions(log.path))


@pytest.mark.parametrize("cut", [1, 60])
def test_a_crash_within_a_line_costs_that_line_alone(tmp_path, cut):
    log = DecisionLog(tmp_path / "d.jsonl")
    for epoch in (1, 2):
        log.write(decision(epoch))
    os.truncate(log.path, log.path.stat().st_size - cut)
    log.write(decision(3))
    first, *_, last = log.path.read_text().splitlines(keepends=True)
    log.path.write_text(first + last)
    assert [d.epoch for d in read_decisions(log.path)] == [1, 3]


def test_a_full_disk_leaves_no_part_of_a_line(tmp_path, monkeypatch):
    log = DecisionLog(tmp_path / "d.jsonl")
    log.write(decision(1))
    write, room = os.write, [60]

    def filling(handle, data):
        if not room:
            raise OSError(errno.ENOSPC, "full")
        return write(handle, data[: room.pop()])

    with monkeypatch.context() as full:
        full.setattr(os, "write", filling)
        with pytest.raises(OSError, match="full"):
            log.write(decision(2))
    log.write(decision(3))
    assert [d.epoch for d in read_decisions(log.path)] == [1, 3]


def test_lines_of_other_kinds_are_passed_over_where_decisions_are_read(tmp_path):
    log = DecisionLog(tmp_path / "d.jsonl")
    log.write(decision(1))
    with log.path.open("a") as file:
        file.write('{"kind": "note"}\n{"kind": "trace", "version": 99}\n')
    log.write(decision(2))
    assert [d.epoch for d in read_decisions(log.path)] == [1, 2]
    with pytest.raises(ValueError, match=r"d\.jsonl:2"):
        list(read_records(log.path))
