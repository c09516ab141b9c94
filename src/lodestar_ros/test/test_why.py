"""Tests of `why`: reading of a decision log and selection of a decision."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.selection.decisions import Decision
from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.decision_log import DecisionLog
from lodestar.worldmodel.outcomes import (
    ActionOutcome,
    Cause,
    CauseEstimate,
    ConstraintState,
    Diagnosis,
    Discrepancy,
    Look,
    Result,
)
from lodestar.worldmodel.records import Action, Expectation, Phase, Skill, Trace
from lodestar_ros import why as module
from lodestar_ros.why import EXIT_NOTHING, EXIT_USAGE, main, stamp_of

EXPECTED = Expectation(Phase.EXPLORING)


def decision(epoch, directive):
    return Decision(
        epoch, 10.0 * epoch, directive, 0, {}, (), "frontier", explanation=f"frontier: reason {epoch}"
    )


@pytest.fixture
def log(tmp_path):
    log = DecisionLog(tmp_path / "decisions.jsonl")
    for epoch, directive in ((1, "find the cup"), (2, "find the cup"), (3, "find the mug")):
        log.write(decision(epoch, directive))
    return str(log.path)


@pytest.mark.parametrize(
    ("options", "reasons"),
    [
        ([], [3]),
        (["--last", "2"], [2, 3]),
        (["--last", "9"], [1, 2, 3]),
        (["--directive", "1"], [2]),
        (["--at", "15"], [1]),
        (["--at", "25", "--directive", "1", "--last", "2"], [1, 2]),
    ],
)
def test_the_decision_that_is_asked_for_is_explained(log, capsys, options, reasons):
    assert main(["--log", log, *options]) == 0
    told = capsys.readouterr().out
    assert [n for n in (1, 2, 3) if f"reason {n}" in told] == reasons


@pytest.mark.parametrize("options", [["--at", "5"], ["--directive", "7"]])
def test_where_nothing_fits_it_says_so(log, capsys, options):
    assert main(["--log", log, *options]) == EXIT_NOTHING
    assert "no decision" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--at", "noon"], "not 'noon'"),
        (["--last", "0"], "1 or more"),
        (["--log", "/nonexistent/decisions.jsonl"], "cannot be read"),
    ],
)
def test_bad_usage_is_told(log, capsys, options, said):
    with pytest.raises(SystemExit) as ended:
        main(["--log", log, *options])
    assert ended.value.code == EXIT_USAGE
    assert said in capsys.readouterr().err


def test_a_broken_log_is_named(log, capsys):
    with open(log, "a") as file:
        file.write("nonsense\n")
    with pytest.raises(SystemExit):
        main(["--log", log])
    assert "decisions.jsonl:4" in capsys.readouterr().err


def test_what_came_of_an_action_is_told_with_its_causes(tmp_path, capsys):
    state = ConstraintState(Phase.AT, "entity:7")
    found = Discrepancy(state, ConstraintState(Phase.INTERRUPTED, "entity:7"))
    causes = (CauseEstimate(Cause.DOOR_CLOSED, 0.9), CauseEstimate(Cause.UNKNOWN, 0.1))
    way = ClosedWay((5.0, 4.5), (5.0, 5.5), 130.0, "DOOR_CLOSED")
    log = DecisionLog(tmp_path / "decisions.jsonl")
    log.write(replace(decision(1, "find the cup"), trace_id="q-t1"))
    doubtful = ActionOutcome("q-t1", 11.0, Result.ROLLED_BACK, Diagnosis(found, causes[::-1], Look.WAIT))
    settled = ActionOutcome(
        "q-t1", 16.0, Result.ROLLED_BACK, Diagnosis(found, causes), "go_round",
        (Amendment(Change.CLOSE_WAY, "it is shut", "recovery", way=way),), "no way (208)",
    )  # fmt: skip
    for outcome in (doubtful, settled):
        log.write(outcome)
    assert main(["--log", str(log.path)]) == 0
    told = capsys.readouterr().out
    assert "ended      failed: no way (208)" in told
    assert "expected AT(entity:7), it is INTERRUPTED(entity:7)" in told
    assert "DOOR_CLOSED 90%, UNKNOWN 10%" in told and "stand and look" in told
    assert "recovery   go round" in told and "corrected" in told


@pytest.mark.parametrize("late", [0.2, 2.0, 60.0])
def test_the_trace_of_the_newest_decision_is_waited_for(monkeypatch, late):
    """A refused proposal has no trace, so that is not waited for in vain for long."""
    now, heard = [0.0], {}
    traced = replace(decision(1, "find the cup"), trace_id="q-t1")
    trace = Trace("q-t1", 1, 1.0, "x", Action(Skill.TURN), EXPECTED, 0.5)
    due = {0.3: ("goal_selector/decision", traced), late: ("goal_selector/traces", trace)}

    def spin(node, timeout_sec):
        now[0] = round(now[0] + timeout_sec, 1)
        topic, record = due.get(now[0], ("", None))
        if topic:
            heard[topic](record)

    monkeypatch.setattr(module.rclpy, "spin_once", spin)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for name in ("trace_from_msg", "decision_from_msg", "outcome_from_msg"):
        monkeypatch.setattr(module, name, lambda record: record)
    listen = lambda kind, topic, take, profile: heard.__setitem__(topic, take)  # noqa: E731
    records, answered = module._heard(SimpleNamespace(create_subscription=listen))
    assert answered and len(records) == (1 if late == 60.0 else 2)
    assert now[0] == pytest.approx({0.2: 0.9, 2.0: 2.6, 60.0: 5.4}[late], abs=0.2)


def test_a_time_of_day_is_of_today():
    today = datetime(2026, 11, 23, 18, 0)
    assert datetime.fromtimestamp(stamp_of("14:05:07", today)).replace(microsecond=0) == datetime(
        2026, 11, 23, 14, 5, 7
    )
    assert stamp_of("12.5") == 12.5
