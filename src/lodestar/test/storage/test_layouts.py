"""Tests of the layout of stored records: files written by this version are read, with equal records."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.keyframes.folder import KeyframeSet
from lodestar.keyframes.records import AnchoredKeyframe
from lodestar.memory.record_json import from_json, to_json
from lodestar.memory.records import EventKind, MapName, Memory, Primitive, Source
from lodestar.perception.frames import ImageBox
from lodestar.selection.decisions import Outcome
from lodestar.storage.archive import Archive
from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.decision_log import read_records
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
from lodestar.worldmodel.records import Belief, Phase, Skill
from lodestar.worldmodel.way_file import ways_from_archive

STORED = Path(__file__).with_name("stored")
ON = Belief("On", ("entity:3", "entity:4"))
WAY, EVER = ClosedWay((1.0, 2.0), (1.5, 2.0), 500.0, "door", False), ClosedWay((3.0, 2.0), (4.5, 2.0))
GONE = Amendment(Change.ARCHIVE, "it is gone", "recovery", 7, trace_id="q-t1")
OFF = Amendment(Change.RELATE, "said", "operator", 3, belief=Belief("On", ("entity:3", "entity:4"), True))
BLOCKED = Amendment(Change.CLOSE_WAY, "blocked", "recovery", way=WAY)
FOR_GOOD = Amendment(Change.CLOSE_WAY, "blocked for good", "operator", way=EVER)
CUP = Amendment(Change.RELABEL, "it is a cup", "operator", 12, "cup")


def test_memories():
    mug = Primitive(12, "mug", np.array([1.0, 2.0, 0.5]), np.array([0.1, 0.1, 0.12]), "a red mug", 840)
    table = Primitive(4, "table", np.array([1.0, 2.0, 0.2]), np.array([1.0, 0.8, 0.4]))
    text = 'I saw a red mug on the table.\nIt was "hot" – 60 °C'
    place = np.array([1.5, -2.25, 0.125])
    expected = [
        Memory(
            7, text, 100.5, 104.25, place, 0.5, 1, 3, "kitchen", (mug, table), (3, 9), Source.CAPTIONER, None, {},
            "robot", "s-1", MapName(2, "abc"), True, 0, "k-1",
        ),
        Memory(
            8, "The mug moved.", 110.0, 110.0, np.zeros(3), source=Source.EVENT, event=EventKind.MOVED,
            facts={"label": "mug", "from": "kitchen"}, corrects=7,
        ),
    ]  # fmt: skip
    lines = json.loads((STORED / "memories.json").read_text())
    assert list(map(repr, map(from_json, lines))) == list(map(repr, expected))
    assert list(map(to_json, expected)) == lines, "the layout is the same still"


def test_the_log_of_decisions():
    decision, trace, short, failed, done = read_records(STORED / "decisions.jsonl")
    assert (decision.outcome, decision.trace_id, decision.context) == (
        Outcome.REACHED,
        "q-d1-t1",
        {"near": 0.5},
    )
    assert decision.arms[0].proposal.action.name == "TURN_LEFT" and decision.arms[1].proposal is None
    assert (trace.action.skill, trace.action.goal.tolist()) == (Skill.GO_TO, [1.0, 2.0, 0.5])
    assert (trace.expectation.beliefs, trace.expectation.by) == ((ON,), 45.0)
    assert short.expectation.by == float("inf") and short.action.goal is None
    found = Discrepancy(
        ConstraintState(Phase.AT, "entity:7"), ConstraintState(Phase.APPROACHING, "entity:7"), (ON,),
        (Belief("In", ("robot", "region:2"), True),), ((7, 0.5), (8, 1.25)),
    )  # fmt: skip
    causes = CauseEstimate(Cause.TARGET_MOVED, 0.75), CauseEstimate(Cause.DOOR_CLOSED, 0.25)
    diagnosis = Diagnosis(found, causes, Look.TURN, (1.0, 2.0), "it moved")
    all_of_them = (GONE, OFF, BLOCKED, FOR_GOOD, CUP)
    assert failed == ActionOutcome(
        "q-d1-t1", 20.0, Result.ROLLED_BACK, diagnosis, "look_again", all_of_them, "text"
    )
    assert done == ActionOutcome("q-d1-t2", 21.0, Result.COMMITTED)


def test_closed_ways_of_a_saved_map():
    lists = [[[1.0, 2.0], [1.5, 2.0], 500.0, "door", False], [[3.0, 2.0], [4.5, 2.0], None, "", True]]
    assert ways_from_archive(Archive("closed_ways", 1, {"ways": lists, "stamp": 0.0}, {}), 10.0) == (
        WAY,
        EVER,
    )


def test_keyframes(tmp_path):
    root = tmp_path / "keyframes"
    root.mkdir()
    shutil.copy(STORED / "keyframe.json", root / "00000005.json")
    (root / "00000005.jpg").write_bytes(bytes(1232) + b"\xff\xd9")
    index = {"version": 2, "set": "", "next_id": 9, "map_from_anchor": np.eye(4).tolist()}
    (root / "keyframes.json").write_text(json.dumps(index))
    found = KeyframeSet.read(root)
    camera = PinholeCamera(640, 480, 500.0, 501.0, 320.0, 240.0)
    expected = AnchoredKeyframe(5, 12.5, np.eye(4), camera, {7: ImageBox(1, 2, 30, 40)}, 2, "k-1", 1234)
    assert found.damaged == () and repr(found.keyframes) == repr({5: expected})
