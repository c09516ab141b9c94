"""Tests of the classification of sentences by the parser's reading."""

from __future__ import annotations

import json

import pytest

from lodestar.language.directive import NotUnderstood, StopRequested
from lodestar.language.grammar import parse_directive
from lodestar_eval.directive_scores import score_sentence
from lodestar_eval.registry import BadOptions
from lodestar_eval.studies.directives import is_held_back, read_lines


def step(kind, target=None, region=None, relations=(), count=1, any_of=()):
    return {
        "kind": kind, "target": target, "count": count, "any_of": list(any_of), "region": region, "seconds": None,
        "relations": [{"name": n, "anchors": list(a), "negated": False} for n, *a in relations],
    }  # fmt: skip


def line(steps, avoid=(), note=""):
    return {
        "id": "x-1",
        "source": "x",
        "text": "",
        "steps": steps,
        "avoid": list(avoid),
        "unable": [],
        "note": note,
    }


def outcome(said, *steps, avoid=(), note=""):
    """Return the outcome if the parser reads the sentence as `said`."""
    score = score_sentence(line(list(steps), avoid, note), lambda _: parse_directive(said))
    return score.outcome, score.lost


CHAIR = step("FIND", "red chair", relations=[("NextTo", "desk")])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("find the red chair next to the desk", "exact"),
        ("find the red chair next to the brown desk", "exact"),
        ("find the red chair", "partial"),
        ("find the blue chair next to the desk", "partial"),
        ("find two red chairs next to the desk", "partial"),
        ("find the red chair next to the desk in the kitchen", "partial"),
        ("find the red stool next to the desk", "misread"),
        ("count the red chairs next to the desk", "misread"),
        ("find the red chair next to the desk, then come back", "misread"),
        ("find the red chair next to the desk, avoid the dog", "misread"),
    ],
)
def test_what_differs_decides(said, expected):
    assert outcome(said, CHAIR) == (expected, 0)


def test_a_constraint_that_is_missing_is_lost():
    avoid = [{"target": "dog", "metres": None}]
    assert outcome("find the red chair next to the desk", CHAIR, avoid=avoid) == ("misread", 1)
    assert outcome("find the red chair next to the desk, avoid the dog", CHAIR, avoid=avoid) == ("exact", 0)
    wrong = [{"target": "dog", "metres": 2.0}]
    assert outcome("find the red chair next to the desk, keep 1 m from the dog", CHAIR, avoid=wrong) == (
        "misread",
        1,
    )


def test_what_has_no_steps_is_to_be_refused():
    def refuse(text):
        raise NotUnderstood(text)

    def halt(text):
        raise StopRequested(text)

    assert score_sentence(line([]), refuse).outcome == "exact"
    assert score_sentence(line([CHAIR]), refuse).outcome == "refused"
    assert score_sentence(line([step("STOP")]), halt).outcome == "exact"
    assert score_sentence(line([CHAIR]), halt).outcome == "refused"
    assert outcome("find the chair") == ("misread", 0)


def test_readings_that_are_equal():
    asked = step("ASK", "keys")
    assert outcome("find the keys", asked) == ("misread", 0)
    assert outcome("find the keys", asked, note="FIND is an equal reading") == ("exact", 0)
    room, chair = step("GO", region="kitchen"), step("FIND", "chair", "kitchen")
    assert outcome("find the chair in the kitchen", room, chair) == ("exact", 0)
    assert outcome("go to the kitchen and find the chair", chair) == ("exact", 0)
    assert outcome("come back", step("RETURN", "start")) == ("exact", 0)


def test_alternatives_are_compared_as_a_set():
    either = step("GO", any_of=["red room", "blue room"])
    assert outcome("go to the blue room or the red room", either) == ("exact", 0)
    assert outcome("go to the blue room or the green room", either)[0] != "exact"


def test_the_parts_share_the_lines_out(tmp_path):
    ids = [f"a-{i}" for i in range(60)]
    file = tmp_path / "x.jsonl"
    file.write_text("\n".join(json.dumps({"id": one}) for one in ids))
    parts = [[one["id"] for one in read_lines(file, part)] for part in ("seen", "heldback")]
    assert sorted(parts[0] + parts[1]) == sorted(ids)
    assert all(is_held_back(one) for one in parts[1]) and 10 < len(parts[1]) < 30
    with pytest.raises(BadOptions, match="cannot be read"):
        read_lines(tmp_path / "missing.jsonl")
