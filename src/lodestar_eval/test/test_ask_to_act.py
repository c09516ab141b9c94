"""Tests of questions about present and absent objects of a building, and of the judgement of answers."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import replace

import pytest

from lodestar.models.kinship import same_kind
from lodestar_eval.__main__ import main
from lodestar_eval.ask_to_act import CASES, VISUAL, CheckOutcome, CheckQuestion, questions_of
from lodestar_eval.registry import all_benchmarks
from lodestar_eval.studies import ask_to_act as study
from lodestar_eval.study import _rows_text
from lodestar_sim.worlds import WorldError, world_from_spec

THERE, ABSENT = (
    CheckQuestion("is there a sofa in the building?", "kind", (3,)),
    CheckQuestion("is there a piano in the building?", "absent kind", ()),
)


@pytest.fixture(scope="module")
def world():
    return world_from_spec("apartment", 711)


def test_a_building_has_one_question_per_case_and_they_follow_the_seed(world):
    questions = questions_of(world, 711)
    assert tuple(q.case for q in questions) == CASES
    assert len({q.text for q in questions}) == len(CASES)
    assert questions == questions_of(world, 711)


def test_what_is_asked_for_is_there_or_is_not(world):
    for question in questions_of(world, 711):
        words = question.text.removeprefix("is there ").split(" ", 1)[1].removesuffix(" in the building?")
        meant = [t for t in world.objects if same_kind(t.category, words)]
        if question.case == "absent kind":
            assert not meant and not question.is_there
        elif question.case == "absent look":
            color = words.split()[0]
            assert meant and not any(color in (t.color, *t.caption.split()) for t in meant)
        else:
            assert {t.id for t in meant} >= set(question.target_ids) != set()


def outcome(question, said, seed=1, path=10.0, shortest=5.0):
    return CheckOutcome("apartment", seed, question, said, "", path, shortest, 60.0)


def result_of(found, monkeypatch):
    monkeypatch.setattr("lodestar_eval.ask_to_act.run", lambda one: one)
    rows = [row for one in found for row in study._measure(one)]
    return study.BENCHMARK.result(json.loads(json.dumps(rows)))


def test_no_answer_is_wrong_and_a_right_yes_is_weighed_by_the_way():
    assert outcome(THERE, True).is_right and outcome(ABSENT, False).is_right
    assert not outcome(ABSENT, None).is_right and not outcome(THERE, False).is_right
    assert outcome(THERE, True).spl == pytest.approx(0.5) and outcome(THERE, None).spl == 0.0
    # NaN, as the SPL is undefined without a target
    assert outcome(ABSENT, False).spl != outcome(ABSENT, False).spl


def test_a_right_yes_is_weighed_by_its_time_and_the_report_tells_where_the_seconds_went(monkeypatch):
    timed = {"quickest": 15.0, "seconds": {"driving": 40.0, "standing": 20.0, "standing.deciding": 5.0}}
    right, wrong = (replace(outcome(THERE, said), **timed) for said in (True, False))
    assert right.sct == pytest.approx(0.25) and wrong.sct == 0.0
    assert math.isnan(replace(outcome(ABSENT, False), **timed).sct)
    result = result_of([right, wrong], monkeypatch)
    assert result.metrics["sct.there"] == pytest.approx(0.125)
    assert result.metrics["time_share.driving.there"] == pytest.approx(2.0 / 3.0)
    (times,) = [table for table in result.tables if table.title == "Where the seconds go"]
    assert times.rows[0][:2] == ("ask-to-act", "there")


def test_the_bars_are_of_all_answers_and_of_the_absent_things(monkeypatch):
    found = [
        outcome(THERE, True),
        outcome(THERE, False),
        outcome(ABSENT, False, 2),
        outcome(ABSENT, False, 2),
    ]
    result = result_of(found, monkeypatch)
    assert result.metrics["right.all"] == 0.75 and result.metrics["right.absent"] == 1.0
    assert result.metrics["right_per_100m"] == pytest.approx(7.5)
    assert [bar.holds for bar in result.bars] == [False, True]
    assert [row[1] for row in result.tables[-1].rows if row[4] == "no"] == [THERE.text]


def test_the_benchmark_is_listed():
    assert "ask-to-act" in all_benchmarks()


def test_each_question_is_a_case_and_a_building_without_questions_is_told(monkeypatch):
    parser = argparse.ArgumentParser()
    study.BENCHMARK.add_options(parser)
    for words, plain, visual in (([], 6, 0), (["--eyes"], 6, 6), (["--eyes", "--only-visual"], 0, 6)):
        cases = list(study._cases(parser.parse_args(["--seeds", "711", *words])))
        assert [case[3] for case in cases] == [False] * plain + [True] * visual
        assert len({repr(case) for case in cases}) == plain + visual

    def nothing(world, seed):
        raise WorldError("no question of each case")

    monkeypatch.setattr("lodestar_eval.ask_to_act.questions_of", nothing)
    assert _rows_text(study._measure, ("apartment", 712, None, False, 0, False)) == "[]"


def test_visual_questions_alone_have_their_own_bars_and_need_eyes(tmp_path, capsys, monkeypatch):
    question = CheckQuestion("is it made of wood?", VISUAL, (1,), True)
    seen = [replace(outcome(question, True if eyes else None), eyes=eyes) for eyes in (False, True)]
    result = result_of(seen, monkeypatch)
    assert [bar.name for bar in result.bars] == ["visual.gain", "visual.wrong"]
    assert result.metrics["visual.wrong_low"] == 0.0 and result.metrics["visual.wrong_high"] == pytest.approx(
        0.975
    )
    assert main(["ask-to-act", "--only-visual", "--out", str(tmp_path)]) == 2
    assert "--eyes" in capsys.readouterr().err


def test_visual_questions_are_told_apart_and_paired(monkeypatch):
    yes, no = (
        CheckQuestion("is it made of wood?", VISUAL, (1,), True),
        CheckQuestion("of tin?", VISUAL, (1,), False),
    )
    said = {(yes, False): None, (yes, True): True, (no, False): None, (no, True): True}
    seen = [replace(outcome(q, answer), eyes=eyes) for (q, eyes), answer in said.items()]
    metrics = (
        result := result_of([outcome(THERE, True), outcome(ABSENT, False), *seen], monkeypatch)
    ).metrics
    assert metrics["questions"] == 2.0 and metrics["right.all"] == 1.0
    assert (metrics["visual.right"], metrics["visual.right_with_eyes"]) == (0.0, 0.5)
    assert metrics["visual.gain"] == 0.5 and metrics["visual.wrong"] == 0.5
    assert [bar.holds for bar in result.bars if bar.name.startswith("visual")] == [True, False]
    assert "visual.gain" not in result_of([outcome(THERE, True), outcome(ABSENT, False)], monkeypatch).metrics
