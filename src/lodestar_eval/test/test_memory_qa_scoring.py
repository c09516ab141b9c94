"""Tests of the scores of answers about a memory."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from lodestar_eval.memory_qa.questions import (
    DURATION,
    NUMBER,
    PLACE,
    TIME,
    WORDS,
    YES_NO,
    Answer,
    Asked,
    Evidence,
    Gold,
    Question,
)
from lodestar_eval.memory_qa.results import judged
from lodestar_eval.memory_qa.scoring import area_under_risk, judge, redundancy, risk_coverage, set_f1
from lodestar_eval.studies.memory_qa import BENCHMARK

HERE = np.array([1.0, 2.0, 0.5])


def question(gold, kind="spatial", name="q"):
    return Question(Asked(name, "?", 100.0), kind, "form", "development", gold)


def piece(start, end=None, at=HERE, ids=(1,)):
    return Evidence(start, start + 3.0 if end is None else end, np.asarray(at, float), frozenset(ids))


def right(gold, **fields):
    return judge(question(gold), Answer("q", **{"value": gold.value, **fields})).right


def test_a_place_counts_within_five_metres_of_any_of_its_places():
    gold = Gold(PLACE, places=(HERE, HERE + np.array([20.0, 0.0, 0.0])))
    score = judge(question(gold), Answer("q", PLACE, place=HERE + np.array([20.0, 4.0, 3.0])))
    assert score.right and score.error == pytest.approx(5.0)
    score = judge(question(gold), Answer("q", PLACE, place=HERE + np.array([0.0, 5.01, 0.0])))
    assert not score.right and score.error == pytest.approx(5.01)
    assert not right(gold) and not right(gold, place=np.array([math.nan, 0.0, 0.0]))


def test_a_time_has_no_error_within_its_interval_and_two_minutes_around_it():
    gold = Gold(TIME, times=((100.0, 130.0), (400.0, 400.0)))
    for said, error in ((110.0, 0.0), (250.0, 120.0), (0.0, 100.0), (520.0, 120.0)):
        score = judge(question(gold), Answer("q", TIME, time=said))
        assert score.right and score.error == pytest.approx(error)
    assert not right(gold, time=521.0) and not right(gold, time=math.inf) and not right(gold)


def test_zero_is_no_right_answer_to_how_long():
    gold = Gold(DURATION, number=60.0)
    assert right(gold, number=85.0) and not right(gold, number=0.0) and not right(gold, number=91.0)
    assert right(Gold(DURATION, number=900.0), number=1019.0)
    assert not right(Gold(DURATION, number=900.0), number=1021.0)


def test_numbers_and_yes_or_no_are_exact():
    assert right(Gold(NUMBER, number=3.0), number=3) and not right(Gold(NUMBER, number=3.0), number=4)
    assert not right(Gold(NUMBER, number=0.0))
    assert right(Gold(YES_NO, yes=False), yes=False) and not right(Gold(YES_NO, yes=False), yes=True)
    assert not right(Gold(YES_NO, yes=False))  # a missing answer does not count as "no"


def test_words_are_a_set_with_synonyms():
    assert set_f1(frozenset({"Couch"}), frozenset({"sofa"})) == 1.0
    assert set_f1(frozenset(), frozenset({"sofa"})) == 0.0
    two = Gold(WORDS, words=frozenset({"monitor", "telephone"}))
    assert right(two, words=frozenset({"monitor"})) and not right(
        two, words=frozenset({"monitor", "mug", "vase"})
    )
    assert not right(Gold(WORDS, words=frozenset({"red"})), words=frozenset({"red", "blue", "green"}))


def test_not_knowing_and_an_answer_of_another_kind_are_not_right():
    gold = Gold(PLACE, places=(HERE,))
    assert right(gold, place=HERE)
    assert not right(gold, place=HERE, known=False)
    assert not right(gold, place=HERE, value=TIME)


def test_recall_looks_at_six_memories_within_five_seconds_of_a_look():
    gold = Gold(PLACE, places=(HERE,), seen=((50.0, 60.0),))
    far = [piece(200.0)] * 5

    def recalled(*evidence):
        return judge(question(gold), Answer("q", PLACE, evidence=tuple(evidence))).recalled

    assert recalled(*far, piece(42.0, 45.0)) and recalled(piece(65.0))
    assert not recalled(piece(41.0, 44.9)) and not recalled(piece(65.1))
    assert not recalled(*far, far[0], piece(55.0))  # only the first six pieces of evidence count
    assert judge(question(Gold(YES_NO)), Answer("q", YES_NO, evidence=(piece(1.0),))).recalled is None


def test_evidence_is_redundant_at_one_place_with_the_same_things():
    near, far = piece(1.0), piece(1.0, at=HERE + np.array([3.1, 0.0, 0.0]))
    other = piece(1.0, ids=(2,))
    assert (
        redundancy([near, near]) == 1.0
        and redundancy([near, far]) == 0.0
        and redundancy([near, other]) == 0.0
    )
    assert redundancy([near, near, far]) == pytest.approx(1.0 / 3.0)
    assert math.isnan(redundancy([near]))


def test_risk_rises_with_the_answers_of_little_confidence():
    curve = risk_coverage([0.9, 0.1, 0.5, 0.9], [True, False, True, True], [True, True, True, True])
    assert curve.tolist() == [[0.5, 0.0], [0.75, 0.0], [1.0, 0.25]]  # equal confidences enter together
    assert area_under_risk(curve) == pytest.approx(0.0625)
    silent = risk_coverage([0.9, 0.1], [True, False], [True, False])
    assert silent.tolist() == [[0.5, 0.0]]  # "I do not know" lowers coverage and does not raise risk
    assert math.isnan(area_under_risk(risk_coverage([], [], [])))


def rows_of(shares):
    """Return results of rows that answer the given numbers of twenty spatial questions correctly."""
    gold = Gold(PLACE, places=(HERE,), seen=((0.0, 1.0),))
    questions = [question(gold, name=f"q{k}") for k in range(20)]
    results = []
    for row, count in shares.items():
        answers = [
            Answer(f"q{k}", PLACE, place=HERE if k < count else HERE + 9.0, confidence=1.0 - k / 20.0,
                   evidence=(piece(0.0 if k < count else 90.0),))
            for k in range(20)
        ]  # fmt: skip
        results += judged(row, "office", 1, questions, answers)
    return results


def result_of(folder, shares):
    """Return the result of `rows_of`, read from the file of measured cases."""
    return BENCHMARK.result(json.loads(json.dumps([row | {"_tour": {}} for row in rows_of(shares)])), folder)


def test_rows_are_compared_over_the_same_questions(tmp_path):
    result = result_of(tmp_path, {"ours": 18, "cosine": 9, "full": 19})
    metrics = result.metrics
    assert metrics["sr.spatial.ours"] == 0.9 and metrics["recall.spatial.cosine"] == 0.45
    assert metrics["sr.ours_over_cosine.difference"] == pytest.approx(0.45)
    assert metrics["sr.ours_over_cosine.low"] > 0.0 > metrics["sr.ours_over_full.low"]
    assert math.isnan(metrics["sr.look_alikes.ours"]) and math.isnan(metrics["error_s.ours"])
    bars = {bar.name: bar.holds for bar in result.bars}
    assert bars == {"full: spatial": True, "ours over cosine, sr, lower end": True,
                    "ours over cosine, recall, lower end": True}  # fmt: skip
    assert (tmp_path / "risk_coverage.png").stat().st_size > 1000


def test_a_bar_is_missed_where_ours_is_no_better(tmp_path):
    assert not any(bar.holds for bar in result_of(tmp_path, {"ours": 9, "object_captions": 9}).bars)


def test_tables_show_every_kind_that_was_asked(tmp_path):
    by_kind = result_of(tmp_path, {"full": 20}).tables[1]
    assert by_kind.columns == ("kind", "row", "sr", "recall")
    assert by_kind.rows == (("spatial", "full", "1.000 (0.83 to 1.00)", "1.000 (0.83 to 1.00)"),)


def test_answers_must_belong_to_the_questions():
    questions = [question(Gold(YES_NO), name="a"), question(Gold(YES_NO), name="b")]
    with pytest.raises(ValueError, match="one answer with its id"):
        judged("ours", "office", 1, questions, [Answer("b"), Answer("a")])
    with pytest.raises(ValueError, match="one answer with its id"):
        judged("ours", "office", 1, questions, [Answer("a")])
