"""Tests from configuration to servers that are slow, hostile or healthy: no caller waits, no wrong answer is used."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
from reasoning import Scored, entity, judged, point, seen, view
from task_builders import task
from waiting import PATIENCE, Moment

from lodestar.language.background_reasoner import BackgroundReasoner
from lodestar.language.reasoner import OfflineReasoner, RankRequest
from lodestar.language.reasoners import ReasonerConfig, make_reasoner
from lodestar.models.chat import ChatConfig
from lodestar.models.chat_retries import RetryConfig

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from chat_server import chat_server

pytest.importorskip("openai")

TASK = task("red chair")
SCENE = {i: entity(i) for i in (1, 2)}
CANDIDATES = [Scored(1, 0.9, 0.9), Scored(2, 0.8, 0.8)]


@pytest.fixture
def handle_of(monkeypatch):
    made = []

    def make(server):
        retries = RetryConfig(tries=1, base=0.01, longest=0.02)
        chat = ChatConfig("m", server.url, timeout=60.0, patience=PATIENCE, rest=0.0, retries=retries)
        monkeypatch.setattr("lodestar.language.background_reasoner.QUESTION_INTERVAL", 0.01)
        made.append(make_reasoner(ReasonerConfig(True, chat), warn=lambda text: None))
        return made[-1]

    yield make
    for handle in made:
        handle.close()


def until(ask, fits, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not fits(answer := ask()):
        assert time.monotonic() < end, answer
        time.sleep(0.01)
    return answer


def test_offline_is_the_default():
    handle = make_reasoner(ReasonerConfig())
    assert isinstance(handle.reasoner, OfflineReasoner) and handle.tokens() == 0


@pytest.mark.timed
def test_a_server_that_never_answers_costs_nobody_any_time(handle_of):
    with chat_server(("do", "silent")) as server:
        reasoner = handle_of(server).reasoner
        began = Moment.now()
        for _ in range(10):
            ranked = reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE))
            seen_there = reasoner.judge_view(view(point(1, score=0.5)))
        assert began.passed() < 2.0
        assert isinstance(reasoner, BackgroundReasoner)
        assert "thinking" in ranked[0].rationale and seen_there is None


def test_a_good_answer_is_used_and_counted(handle_of):
    with chat_server(json.dumps(judged((2, 0.9)))) as server:
        handle = handle_of(server)
        ranked = until(
            lambda: handle.reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE)), lambda r: r[0].by == "model"
        )
        assert [j.entity_id for j in ranked] == [2, 1]
        assert handle.tokens() == 15


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps(judged((77, 1.0))), json.dumps(judged((2, 1e9))), "I am sorry", (500, "{}"), (401, "{}"),
        ("do", "cut"), '{"judgements": [{"id": 2, "confidence": NaN, "reason": ""}]}', (200, "[" * 10_000),
    ],
)  # fmt: skip
def test_a_bad_answer_leaves_it_to_the_offline_reasoner_with_the_reason(handle_of, answer):
    with chat_server(answer) as server:
        reasoner = handle_of(server).reasoner
        ranked = until(
            lambda: reasoner.rank(RankRequest(CANDIDATES, TASK, SCENE)),
            lambda r: "thinking" not in r[0].rationale,
        )
        assert [j.entity_id for j in ranked] == [1, 2]
        assert all(j.by == "offline" and "(offline: " in j.rationale for j in ranked)


def test_a_view_is_judged_over_the_wire(handle_of):
    with chat_server(json.dumps(seen("TURN_LEFT", m1=0.1))) as server:
        reasoner = handle_of(server).reasoner
        answer = until(lambda: reasoner.judge_view(view(point(1))), lambda a: a is not None)
        assert answer.by == "model"
        assert answer.action == "TURN_LEFT" and answer.description == "a room"
