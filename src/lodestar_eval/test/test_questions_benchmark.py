"""Tests of the benchmark on kinds of answers."""

from __future__ import annotations

import json

import pytest

from lodestar_eval.__main__ import main
from lodestar_eval.studies.questions import first_words

QUESTIONS = {
    "a": ("where is the mug?", "position"),
    "b": ("is the door open?", "binary"),
    "c": ("when did you see the dog?", "time"),
    "d": ("how many doors are there?", "text"),  # a number counts as text if the data set has no numbers
}


def write(folder, rows, gold="type"):
    folder.mkdir()
    lines = [json.dumps({"id": i, "question": text}) for i, (text, _) in rows.items()]
    (folder / "questions.jsonl").write_text("\n".join(lines))
    lines = [json.dumps({"id": i, gold: kind}) for i, (_, kind) in rows.items()]
    (folder / "gold.jsonl").write_text("\n".join(lines))
    return folder


def run(tmp_path, *arguments):
    status = main(["questions", *arguments, "--out", str(tmp_path / "out")])
    report = tmp_path / "out" / "questions.json"
    return status, json.loads(report.read_text())["metrics"] if report.exists() else {}


def test_kinds_are_compared_by_data_set(tmp_path, capsys):
    folder = write(tmp_path / "one", QUESTIONS)
    status, metrics = run(tmp_path, "--data", str(folder))
    assert status == 0, capsys.readouterr().out
    assert metrics["right.one.all"] == 1.0
    assert metrics["first_words.one.all"] == 1.0


def test_a_wrong_kind_misses_the_bar(tmp_path, capsys):
    folder = write(tmp_path / "two", {**QUESTIONS, "e": ("where is the cup?", "binary")})
    status, metrics = run(tmp_path, "--data", str(folder), "--show")
    assert status == 1
    assert metrics["right.two.all"] == pytest.approx(0.8)
    assert "where is the cup?" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["riddle", None])
def test_an_unknown_kind_is_bad_usage(tmp_path, kind):
    folder = write(tmp_path / "three", {"a": ("where is it?", kind)})
    assert run(tmp_path, "--data", str(folder))[0] == 2


def test_no_data_is_bad_usage(tmp_path):
    assert run(tmp_path)[0] == 2
    assert run(tmp_path, "--data", str(tmp_path / "none"))[0] == 2


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Where is it?", "place"),
        ("How long was it?", "duration"),
        ("Is it?", "yes_no"),
        ("What?", "text"),
        ("", "text"),
    ],
)
def test_the_trivial_rule(text, kind):
    assert first_words(text) == kind
