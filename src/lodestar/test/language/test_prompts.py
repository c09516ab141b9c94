"""Tests that prompts keep to their token budget for all captions, tasks and descriptions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reasoning import FakeModel, Scored, entity, judged
from task_builders import task

from lodestar.language.model_reasoner import ModelReasoner
from lodestar.language.prompts import NothingFits, RankPromptConfig, rank_question
from lodestar.language.reasoner import RankRequest
from lodestar.models.answer_size import answer_tokens
from lodestar.models.chat_budget import tokens_in, tokens_of

TASK = task("red chair", ("desk", "lamp"), ("stairs",))
PLAIN = "large brown wooden chair with a high back and two arms, standing next to a table of the same wood"
# cases in which a single line exceeds the budget
TOO_LITTLE = {("escaped", 1500), ("escaped", 4000), ("chinese", 1500), ("emoji", 1500)}
CAPTIONS = {
    "plain": PLAIN,
    "escaped": "<" * 200,
    "chinese": "一把放在窗边的红色木椅子" * 10,
    "emoji": "🪑" * 60,
}


def scene_of(caption, count=150):
    # Spaced so that each has a few neighbours; confidence grows with the id.
    scene = {i: entity(i, caption, probability=0.5 + i / (2.0 * count + 2.0)) for i in range(1, count + 1)}
    return scene, [Scored(i, 0.9, 0.9) for i in scene]


def asked(budget, caption=PLAIN, task=TASK, context=(), count=150):
    scene, candidates = scene_of(caption, count)
    return prompted(candidates, task, scene, context, RankPromptConfig(characters=budget, candidates=400))


def prompted(candidates, task, scene, context, config):
    question = rank_question(RankRequest(candidates, task, scene, context), config)
    return question.text(context), set(question.ids)


def listed(text):
    records = [json.loads(line) for line in text.splitlines()[2:-1]]
    return [record["id"] for record in records if "id" in record]


@pytest.mark.parametrize("budget", [1500, 4000, 24_000])
@pytest.mark.parametrize("kind", CAPTIONS)
def test_the_question_as_it_is_sent_keeps_to_its_tokens(kind, budget):
    caption = CAPTIONS[kind]
    try:
        text, ids = asked(budget, caption, context=[f"a room, {caption}"] * 8)
    except NothingFits:
        assert (kind, budget) in TOO_LITTLE
        return
    assert len(text) <= budget and tokens_in(text) <= budget / 4
    assert ids and set(listed(text)) == ids


def test_a_budget_is_used():
    text, ids = asked(24_000)
    assert len(text) > 23_000 and len(ids) < 150
    text, ids = asked(24_000, count=5)
    assert len(ids) == 5 and text.startswith("Which of these 5 candidates")


def test_the_surest_are_kept_in_order_and_a_long_one_gives_way(monkeypatch):
    monkeypatch.setattr("lodestar.language.prompts.RANK_PROMPT_RADIUS", 0.0)
    scene, candidates = scene_of("red chair", 6)
    scene[5] = entity(5, "<" * 200, probability=scene[5].occupancy_probability)
    config = RankPromptConfig(characters=900)
    text, ids = prompted(candidates, TASK, scene, (), config)
    assert listed(text)[:2] == [6, 4] and 5 not in ids
    assert text.startswith(f"Which of these {len(ids)} of 6 candidates")


def test_chinese_is_not_taken_for_english():
    english, _ = asked(8000, "red chair " * 5)
    chinese, _ = asked(8000, "红木椅子" * 12)
    assert tokens_in("红木椅子") >= 4.0 and tokens_in("abcd") == 1.0
    assert len(listed(chinese)) < len(listed(english))
    # the tokens of a task count in the same way
    assert tokens_of([{"role": "user", "content": "红" * 1000}]) >= 1000


def test_descriptions_leave_candidates_their_room_and_the_newest_are_told():
    context = [f"view {i}: {PLAIN}" for i in range(9)]
    text, ids = asked(3000, context=context)
    told = [json.loads(line)["seen_earlier"] for line in text.splitlines() if "seen_earlier" in line]
    assert told and told[-1].startswith("view 8") and told == sorted(told)
    _, without = asked(3000)
    assert ids <= without and len(ids) >= len(without) / 2
    assert len(text) <= 3000


def test_descriptions_keep_no_more_room_than_they_can_take():
    context = ["view of a long hall " * 20] * 5
    text, _ = asked(24_000, context=context)
    assert text.count("seen_earlier") == 5 and len(text) > 23_000


LONG_TASK = task(
    "<" * 200, tuple(f"{i}{'<' * 199}" for i in range(10)), tuple(f"{i}{'红' * 199}" for i in range(10))
)


@pytest.mark.parametrize(("budget", "task"), [(0, TASK), (100, TASK), (5000, LONG_TASK)])
def test_a_task_that_does_not_fit_is_not_asked_about(budget, task):
    with pytest.raises(NothingFits, match=f"{budget} characters do not hold"):
        asked(budget, task=task, context=["a room"])
    scene, candidates = scene_of("red chair", 3)
    told: list[str] = []
    model = FakeModel(judged((1, 1.0)))
    reasoner = ModelReasoner(model, prompt=RankPromptConfig(characters=budget), warn=told.append)
    ranked = reasoner.rank(RankRequest(candidates, task, scene))
    assert model.asked == [] and [j.by for j in ranked] == ["offline"] * 3
    assert "do not hold the task" in told[0] and "do not hold the task" in ranked[0].rationale


@settings(max_examples=60, deadline=None)
@given(
    captions=st.lists(st.text(max_size=250), min_size=1, max_size=12),
    told=st.lists(st.text(max_size=250), max_size=7),
    budget=st.integers(300, 4000),
)
def test_no_text_breaks_the_budget(captions, told, budget):
    scene = {i: entity(i, caption or "x") for i, caption in enumerate(captions, start=1)}
    config = RankPromptConfig(characters=budget)
    try:
        text, ids = prompted([Scored(i, 0.9, 0.9) for i in scene], TASK, scene, told, config)
    except NothingFits:
        return
    assert len(text) <= budget and tokens_in(text) <= budget / 4
    assert sorted(listed(text)) == sorted(ids)
    assert text.count("<data>") == text.count("</data>") == 1


def test_as_many_are_asked_about_as_are_configured_and_the_answer_has_room_for_each():
    scene = {i: entity(i, probability=0.5 + i / 200) for i in range(1, 91)}
    request = RankRequest([Scored(i, 0.9, 0.9) for i in scene], TASK, scene)
    question = rank_question(request, RankPromptConfig(candidates=30))
    assert question.ids == tuple(range(90, 60, -1)) and "30 of 90" in question.text()
    assert question.schema["properties"]["judgements"]["maxItems"] == 30
    assert answer_tokens(question.schema) > 30 * 60 > answer_tokens(question.surest().schema)
    half = question.surest()
    assert half.ids == tuple(range(90, 75, -1)) and len(half.text()) < 0.6 * len(question.text())
    assert all(f'"id": {i},' in half.text() for i in half.ids) and '"id": 75,' not in half.text()
