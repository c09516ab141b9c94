"""Tests that the key appears in no answer, message or log, whatever an endpoint or settings file contains."""

from __future__ import annotations

import json
import logging

import cv2
import numpy as np
import pytest
from chat_server import chat_server
from waiting import PATIENCE

from lodestar.language.config import ParserConfig
from lodestar.language.directive import Task
from lodestar.language.grammar import parse_directive
from lodestar.language.model_reasoner import ModelPictures, ModelReasoner
from lodestar.language.parsers import make_parser
from lodestar.language.reasoner import RankRequest
from lodestar.language.views import ViewPoint, ViewQuestion
from lodestar.models.chat import BadAnswer, ChatUnavailable, OpenAiChat
from lodestar.models.chat_key import KEY_VARIABLE, holds_key
from lodestar.models.config import ChatConfig
from lodestar.perception.captioner import make_describer
from lodestar.perception.config import VisionConfig
from lodestar.query.rerank import SCHEMA as RERANK_SCHEMA
from lodestar.scene.records import Entity

pytest.importorskip("openai")

KEY = "sk-SECRET-0123456789abcdef"
SCHEMA = {"type": "object", "required": ["reason"], "properties": {"reason": {"type": "string"}}}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY)


def config_for(server):
    return ChatConfig(model="m", base_url=server.url, timeout=60.0, patience=PATIENCE, rest=0.0)


ECHOES = [
    json.dumps({"reason": f"Bearer {KEY}"}),
    json.dumps({"reason": f"it heard {KEY.upper()}."}),
    json.dumps({"reason": "fine", KEY: 1}),
    '{"reason": "' + "".join(f"\\u{ord(letter):04x}" for letter in KEY) + '"}',
    f"Authorization: Bearer {KEY}",
    f'```json\n{{"reason": "x"}}\n``` {KEY}',
]


@pytest.mark.parametrize("echo", ECHOES)
def test_an_answer_with_the_key_in_it_is_rejected_and_not_sent_back(echo, caplog):
    caplog.set_level(logging.INFO)
    with chat_server(echo) as server:
        with pytest.raises(BadAnswer, match="rejected") as caught:
            OpenAiChat(config_for(server)).complete("rules", "question", SCHEMA)
        assert len(server.requests) == 1
    assert KEY.casefold() not in (str(caught.value) + caplog.text).casefold()


def test_an_answer_that_only_looks_like_a_key_is_taken():
    good = {"reason": "a box that says sk-SECRET, and nobody's business"}
    with chat_server(json.dumps(good)) as server:
        assert json.loads(OpenAiChat(config_for(server)).complete("rules", "question", SCHEMA)) == good


@pytest.mark.parametrize("word", ["none", "red"])
def test_what_local_servers_take_for_a_key_spoils_no_answer(word, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, word)
    good = {"reason": "none is incredible"}
    with chat_server(json.dumps(good)) as server:
        assert json.loads(OpenAiChat(config_for(server)).complete("rules", "question", SCHEMA)) == good
    assert (
        holds_key("Bearer red", "red") and not holds_key("Bearer none", "none") and not holds_key("any", "")
    )


def entity(identity):
    center = np.array([identity, 2.0, 0.5])
    return Entity(identity, "chair", "red chair", center, np.eye(3), center - 0.25, center + 0.25)


class Scored:
    entity_id, score, semantic_score, explanation = 1, 0.9, 0.9, ""


def ranks(chat, warn):
    task = Task(parse_directive("find the red chair").steps[0])
    return ModelReasoner(chat, warn=warn).rank(RankRequest([Scored()], task, {1: entity(1)}))


def judges(chat, warn):
    mark = ViewPoint(1, "chair", (10.0, 20.0), np.array([1.0, 2.0, 0.3]), 2.0, 0.1, 0.5)
    question = ViewQuestion(1.0, np.zeros(3), "red chair", (), (), (mark,), (), {})
    return ModelReasoner(chat, warn=warn).judge_view(question)


def parses(chat, warn):
    parser, _ = make_parser(ParserConfig(True), warn, chat)
    return parser.parse("find the red chair")


def looks(chat, warn):
    done, image = cv2.imencode(".png", np.full((40, 60, 3), 90, np.uint8))
    assert done
    try:
        return ModelPictures(chat)(image.tobytes())
    except (ChatUnavailable, ValueError) as error:
        warn(str(error))


def captions(chat, warn):
    describer, _ = make_describer(VisionConfig())
    describer._chat = chat
    try:
        return describer.describe(np.full((40, 60, 3), 90, np.uint8), "chair")
    except ChatUnavailable as error:
        warn(str(error))


def reranks(chat, warn):
    try:
        return chat.complete("rules", "question", RERANK_SCHEMA)
    except ChatUnavailable as error:
        warn(str(error))


@pytest.mark.parametrize(
    ("asks", "answer"),
    [
        (ranks, {"judgements": [{"id": 1, "confidence": 0.5, "reason": f"Bearer {KEY}"}]}),
        (judges, {"scores": [{"number": 1, "score": 0.5}], "action": "GO", "description": KEY, "reason": KEY}),
        (parses, {"nodes": [{"id": 0, "text": KEY}], "reason": KEY}),
        (looks, {"label": KEY, "caption": KEY, "neighbors": [KEY]}),
        (captions, {"caption": f"Bearer {KEY}", "attributes": [KEY]}),
        (reranks, {"scores": [{"number": 1, "score": 0.5}], KEY: 1}),
    ],
)  # fmt: skip
def test_nobody_who_asks_a_model_gives_the_key_on(asks, answer):
    told: list[str] = []
    with chat_server(json.dumps(answer)) as server:
        outcome = asks(OpenAiChat(config_for(server)), told.append)
        assert len(server.requests) == 1
    assert "contains the key" in told[0]
    assert "SECRET" not in repr(outcome) + "".join(told)


@pytest.mark.parametrize("pasted", [KEY, "9abc", "MY KEY", "", "a=b", "ÄPFEL"])
def test_what_can_be_no_variable_s_name_is_refused_and_not_repeated(pasted):
    with pytest.raises(ValueError, match="key_variable") as caught:
        ChatConfig(key_variable=pasted)
    assert not pasted or pasted not in str(caught.value)


def test_a_key_of_letters_alone_in_the_name_s_place_is_not_repeated_either():
    pasted = "gsk_0123456789abcdef"
    with pytest.raises(ChatUnavailable, match="key_variable names is not set") as caught:
        OpenAiChat(ChatConfig(key_variable=pasted)).complete("s", "u", SCHEMA)
    with pytest.raises(ValueError, match="credentials") as refused:
        OpenAiChat(ChatConfig(key_variable=pasted, base_url="http://user:word@127.0.0.1/v1"))
    assert pasted not in str(caught.value) + str(refused.value)


def test_another_variable_holds_the_key(monkeypatch):
    monkeypatch.setenv("MY_KEY_2", "sk-another-0123456789")
    with chat_server(json.dumps({"reason": "so"})) as server:
        config = ChatConfig(model="m", base_url=server.url, key_variable="MY_KEY_2")
        OpenAiChat(config).complete("rules", "question", SCHEMA)
        assert server.headers[0]["authorization"] == "Bearer sk-another-0123456789"


def test_the_usual_variable_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE)
    with pytest.raises(ChatUnavailable, match="OPENAI_API_KEY is not set"):
        OpenAiChat(ChatConfig()).complete("s", "u", SCHEMA)
