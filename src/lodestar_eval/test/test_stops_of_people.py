"""Tests of stops in words over recorded speech: every stop is heard, and other sentences stop no robot."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from lodestar.language.halts import heard_stop

MOST_FALSE = 0.01  # share of other texts that may stop a robot


def read(folder: str, name: str) -> list[dict]:
    """Return the lines of a data file; skip the test without it."""
    path = Path(os.environ.get("LODESTAR_DATA", "")) / folder / name
    if not os.environ.get("LODESTAR_DATA") or not path.is_file():
        pytest.skip(f"LODESTAR_DATA is not set to a folder with {folder}")
    with path.open() as file:
        return list(csv.DictReader(file)) if name.endswith("csv") else [json.loads(line) for line in file]


def stops(row: dict) -> bool:
    """Return whether the person wanted the robot to stop, or to drop what it does."""
    return row["kind"] == "stop" or bool(row["kind"] == "correction" and row["gold"].get("cancel"))


def test_every_stop_that_people_said_is_heard():
    rows = [
        row
        for row in read("scout_dev", "utterances.jsonl")
        if row["kind"] == "stop" and row["gold"]["when"] == "now"
    ]
    texts = [row["text"] for row in rows] + [row["asr"] for row in rows if "stop" in (row.get("asr") or "")]
    assert len(texts) > 30 and [text for text in texts if heard_stop(text) is None] == []


def test_what_people_said_otherwise_seldom_stops_a_robot():
    rows = [row for row in read("scout_dev", "utterances.jsonl") if not stops(row)]
    heard = [row["text"] for row in rows if heard_stop(row["text"])]
    assert len(rows) > 5000 and len(heard) <= MOST_FALSE * len(rows), heard


@pytest.mark.parametrize(
    ("folder", "name", "field", "most"),
    [
        ("nr3d_dev", "utterances.csv", "utterance", 0),
        ("reverie_dev", "instructions.jsonl", "text", 0),
        ("navqa_dev", "questions.jsonl", "question", 0),
        ("openeqa_dev", "questions.jsonl", "question", 0),
        ("directives_dev", "dev.jsonl", "text", 3),  # "Actually stop.", "okay don't move, ...", "..., STOP"
    ],
)
def test_descriptions_questions_and_directives_stop_no_robot(folder, name, field, most):
    texts = [row[field] for row in read(folder, name)]
    assert len([text for text in texts if heard_stop(text)]) <= most
