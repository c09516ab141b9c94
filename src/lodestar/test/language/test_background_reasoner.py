"""Tests that callers are answered at once: by the model's last answer while it is fresh, else offline."""

from __future__ import annotations

import json
import threading
import time

import pytest
from reasoning import FakeModel, Scored, entity, judged, point, seen, view
from task_builders import task
from waiting import PATIENCE, Moment

from lodestar.language.background_reasoner import QUESTION_RETRY, RANKING_AGE, BackgroundReasoner
from lodestar.language.model_reasoner import ModelReasoner
from lodestar.language.prompts import RankPromptConfig
from lodestar.language.reasoner import RankRequest
from lodestar.models.chat import ChatCancelled, ChatUnavailable

TASK = task("red chair")
SCENE = {i: entity(i) for i in (1, 2)}
CANDIDATES = [Scored(1, 0.9, 0.9), Scored(2, 0.8, 0.8)]


@pytest.fixture
def reasoner_of(monkeypatch):
    made = []

    def make(*answers, clock=time.monotonic, prompt=None, interval=0.0):
        model = FakeModel(*answers)
        monkeypatch.setattr("lodestar.language.background_reasoner.QUESTION_INTERVAL", interval)
        reasoner = BackgroundReasoner(ModelReasoner(model), prompt=prompt, clock=clock)
        made.append(reasoner)
        return reasoner, model

    yield make
    for reasoner in made:
        reasoner.close()


def rationale(answer):
    return "" if answer is None else answer.rationale


def until(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


@pytest.mark.timed
def test_a_model_that_never_answers_holds_nobody_up(reasoner_of):
    release = threading.Event()
    reasoner, model = reasoner_of(lambda: str(release.wait(20.0)))
    reasoner.judge_view(view(point(1)))
    until(lambda: model.asked)
    began = Moment.now()
    for _ in range(20):
        ranked = reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))
        answer = reasoner.judge_view(view(point(1, score=0.5)))
    assert began.passed() < 2.0
    assert [j.entity_id for j in ranked] == [1, 2] and "thinking" in ranked[0].rationale
    assert answer is None  # no answer about this image yet; the caller decides how long to wait
    assert len(model.asked) == 1  # never two questions at a time
    release.set()


def test_only_an_answer_about_this_very_image_is_one(reasoner_of):
    reasoner, model = reasoner_of(seen(m1=0.7), seen("TURN_LEFT", image="2.000"))
    until(lambda: reasoner.judge_view(view(point(1))) is not None)
    assert reasoner.judge_view(view(point(1))).question.stamp == 1.0
    assert reasoner.judge_view(view(point(1), stamp=2.0)) is None
    until(lambda: reasoner.judge_view(view(point(1), stamp=2.0)) is not None)
    assert reasoner.judge_view(view(point(1), stamp=2.0)).action == "TURN_LEFT"
    assert len(model.asked) == 2


def test_a_new_view_takes_the_place_of_the_one_that_the_model_looks_at(reasoner_of):
    cancelled = threading.Event()

    def slow():
        assert cancelled.wait(20.0)
        raise ChatCancelled("cancelled")

    reasoner, model = reasoner_of(slow, seen(image="2.000", m1=0.7), interval=60.0)
    model.cancel = cancelled.set
    assert reasoner.judge_view(view(point(1))) is None
    until(lambda: model.asked)
    until(lambda: reasoner.judge_view(view(point(1), stamp=2.0)) is not None)
    answer = reasoner.judge_view(view(point(1), stamp=2.0))
    assert (answer.by, answer.question.stamp) == ("model", 2.0)


def test_a_question_that_a_newer_one_interrupts_has_not_failed_and_is_asked_again(reasoner_of):
    cancelled, shown = threading.Event(), threading.Event()

    def slow():
        assert cancelled.wait(20.0)
        raise ChatCancelled("cancelled")

    def looks():
        assert shown.wait(20.0)
        return json.dumps(seen(m1=0.7))

    reasoner, model = reasoner_of(slow, looks, judged((2, 0.9), (1, 0.1)))
    model.cancel = cancelled.set

    def rank():
        return reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))[0]

    rank()
    until(lambda: model.asked)
    reasoner.judge_view(view(point(1)))
    until(lambda: len(model.asked) == 2)
    assert "thinking" in rank().rationale
    shown.set()
    until(lambda: rank().by == "model")
    assert len(model.asked) == 3


def test_a_view_that_was_interrupted_is_asked_about_again(reasoner_of):
    cancelled = threading.Event()

    def slow():
        assert cancelled.wait(20.0)
        raise ChatCancelled("cancelled")

    reasoner, model = reasoner_of(slow, seen(image="2.000", m1=0.7), seen(m1=0.6))
    model.cancel = cancelled.set
    reasoner.judge_view(view(point(1)))
    until(lambda: model.asked)
    until(lambda: reasoner.judge_view(view(point(1), stamp=2.0)) is not None)
    until(lambda: reasoner.judge_view(view(point(1))) is not None)
    assert reasoner.judge_view(view(point(1))).by == "model" and len(model.asked) == 3


def test_an_answer_about_another_image_is_discarded_and_counted(reasoner_of):
    reasoner, _ = reasoner_of(seen(image="0.500", m1=0.7))
    until(lambda: reasoner.judge_view(view(point(1))) is not None)
    answer = reasoner.judge_view(view(point(1, score=0.4)))
    assert answer.by == "offline" and "another image" in answer.rationale
    assert reasoner._model.discarded == 1


def test_the_model_s_word_is_used_once_it_is_there_and_not_asked_for_again(reasoner_of):
    reasoner, model = reasoner_of(judged((2, 0.9)))
    until(lambda: reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))[0].by == "model")
    assert [j.entity_id for j in reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))] == [2, 1]
    assert len(model.asked) == 1
    changed = {**SCENE, 2: entity(2, "blue chair")}
    reasoner.rank(RankRequest(CANDIDATES, TASK, changed))
    until(lambda: len(model.asked) == 2)


def test_an_answer_to_an_earlier_question_gets_old(reasoner_of):
    now = [0.0]
    release = threading.Event()
    reasoner, model = reasoner_of(judged((2, 0.9)), lambda: str(release.wait(20.0)), clock=lambda: now[0])
    until(lambda: reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))[0].by == "model")
    changed = {**SCENE, 2: entity(2, "blue chair")}
    now[0] = RANKING_AGE - 1.0
    assert reasoner.rank(RankRequest(CANDIDATES, TASK, changed))[0].by == "model"
    until(lambda: len(model.asked) == 2)  # the second question gets no answer
    now[0] = RANKING_AGE + 1.0
    assert reasoner.rank(RankRequest(CANDIDATES, TASK, changed))[0].by == "offline"
    release.set()


def test_an_answer_stands_while_nothing_changes(reasoner_of):
    now = [0.0]
    reasoner, model = reasoner_of(judged((2, 0.9)), clock=lambda: now[0])
    until(lambda: reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))[0].by == "model")
    now[0] = 3600.0
    assert reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))[0].by == "model"
    assert len(model.asked) == 1


def all_asked(reasoner, model, *calls):
    """Return the number of questions made from the calls, after the last one has been processed."""
    for call in calls:
        call()
        until(lambda: reasoner._thinker._waiting is None and not reasoner._thinker._busy)
    return len(model.asked)


def test_what_is_said_of_the_newest_view_is_no_new_question(reasoner_of):
    reasoner, model = reasoner_of(judged((2, 0.9)))
    views = [[], *(["a kitchen", f"a hall, {i} steps on"] for i in range(20))]
    calls = [lambda told=told: reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE, told)) for told in views]
    assert all_asked(reasoner, model, *calls) == 1
    moved = {**SCENE, 2: entity(2, probability=0.7)}
    assert (
        all_asked(reasoner, model, lambda: reasoner.rank(RankRequest(CANDIDATES, TASK, moved, ["a kitchen"])))
        == 2
    )
    assert "a kitchen" in model.asked[1][1]  # sent with the next question
    fits = [Scored(1, 0.9, 0.9), Scored(2, 0.2, 0.8)]
    assert (
        all_asked(reasoner, model, lambda: reasoner.rank(RankRequest(fits, TASK, moved, ["a kitchen"]))) == 3
    )
    avoiding = task("red chair", avoid=("stairs",))
    assert (
        all_asked(reasoner, model, lambda: reasoner.rank(RankRequest(fits, avoiding, moved, ["a kitchen"])))
        == 4
    )


def test_what_failed_is_asked_again_after_a_while_though_nothing_changed(reasoner_of):
    now = [0.0]
    reasoner, model = reasoner_of(ChatUnavailable("503"), judged((2, 0.9)), clock=lambda: now[0])
    calls = [lambda: reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))] * 5
    assert all_asked(reasoner, model, *calls) == 1
    assert "503" in reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))[0].rationale
    now[0] = QUESTION_RETRY
    assert all_asked(reasoner, model, *calls) == 2
    assert reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))[0].by == "model"


def test_answers_of_another_task_or_target_are_not_used(reasoner_of):
    reasoner, model = reasoner_of(judged((2, 0.9)))
    until(lambda: reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))[0].by == "model")
    assert reasoner.rank(RankRequest(CANDIDATES, task("lamp"), SCENE))[0].by == "offline"
    reasoner.begin_task()
    assert model.tasks == 1
    assert reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))[0].by == "offline"


def test_what_fails_is_said_and_tried_with_the_next_question(reasoner_of):
    reasoner, _ = reasoner_of(
        ChatUnavailable("the endpoint answered 503"), RuntimeError("bug"), seen(image="3.000", m1=0.7)
    )
    until(lambda: "503" in rationale(reasoner.judge_view(view(point(1)))))
    until(lambda: "RuntimeError" in rationale(reasoner.judge_view(view(point(1), stamp=2.0))))
    until(lambda: reasoner.judge_view(view(point(1), stamp=3.0)) is not None)
    answer = reasoner.judge_view(view(point(1), stamp=3.0))
    assert answer.scores == {1: 0.7} and answer.question.stamp == 3.0


def test_an_unknown_entity_of_an_old_answer_is_left_out(reasoner_of):
    reasoner, _ = reasoner_of(judged((2, 0.9)))
    until(lambda: reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))[0].by == "model")
    assert [j.entity_id for j in reasoner.rank(RankRequest(CANDIDATES[:1], TASK, SCENE))] == [1]


def test_a_budget_too_small_for_the_task_is_said_and_nothing_is_asked(reasoner_of):
    reasoner, model = reasoner_of(judged((2, 0.9)), prompt=RankPromptConfig(characters=60))
    ranked = reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))
    assert [j.entity_id for j in ranked] == [1, 2]
    assert "60 characters do not hold the task" in ranked[0].rationale
    reasoner.judge_view(view(point(1)))
    until(lambda: model.asked)  # the view is asked about first; the list has not been
    assert "seen_earlier" not in model.asked[0][1] and "Turns" in model.asked[0][1]


def test_after_closing_nothing_is_asked(reasoner_of):
    reasoner, model = reasoner_of(judged((2, 0.9)))
    reasoner.close()
    assert [j.by for j in reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))] == ["offline", "offline"]
    assert model.asked == []
