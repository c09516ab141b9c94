"""Tests that the model's parser accepts only valid graphs, and falls back to the grammar."""

from __future__ import annotations

import json

import pytest

from lodestar.language.config import ParserConfig
from lodestar.language.directive import EmptyDirective
from lodestar.language.grammar import parse_query
from lodestar.language.parsers import SCHEMA, GrammarParser, ModelParser, make_parser
from lodestar.models.chat import ChatUnavailable, OpenAiChat
from lodestar.models.chat_key import KEY_VARIABLE
from lodestar.models.config import ChatConfig

TEXT = "the lamp next to the bed"


class Fake:
    """Answers as scripted; raises an exception given as the answer."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def complete(self, system, user, schema, images=(), shorter=None):
        self.asked.append((user, schema))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def graph(**changes):
    data = {
        "variables": [{"phrase": "lamp", "category": "lamp"}, {"phrase": "bed", "category": "bed"}],
        "predicates": [{"name": "NextTo", "arguments": [0, 1], "value": "", "negated": False}],
    }
    return json.dumps({**data, **changes})


def test_the_model_s_graph_is_taken():
    fake = Fake(graph())
    (read,) = ModelParser(fake).parse(TEXT)
    assert str(read) == "x0 'lamp'; x1 'bed': NextTo(x0, x1)"
    assert fake.asked == [(TEXT, SCHEMA)]


@pytest.mark.parametrize(
    "answer",
    [
        ChatUnavailable("no key"), "", "sorry, no", "[]", "{}", "null", graph(variables=[]),
        graph(predicates=[{"name": "Hovers", "arguments": [0, 1]}]),
        graph(predicates=[{"name": "On", "arguments": [0, 9]}]),
        graph(predicates=[{"name": "On", "arguments": [1, 1]}]),
        graph(predicates=[{"name": "LeftOf", "arguments": [1], "value": "towards=0"}]),
        graph(predicates=[{"name": "On", "arguments": [0, 1]}] * 99),
        graph(variables=[{"phrase": " ", "category": " "}], predicates=[]),
    ],
)  # fmt: skip
def test_anything_else_leaves_it_to_the_grammar(answer):
    warnings = []
    assert ModelParser(Fake(answer), warn=warnings.append).parse(TEXT) == parse_query(TEXT)
    assert len(warnings) == 1


def test_an_empty_text_is_not_sent_anywhere():
    fake = Fake(graph())
    with pytest.raises(EmptyDirective):
        ModelParser(fake).parse("  ")
    assert fake.asked == []
    assert GrammarParser().parse(TEXT) == parse_query(TEXT)


def test_without_a_key_the_adapter_says_so_and_never_shows_one(monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with pytest.raises(ChatUnavailable, match=r"not set|not installed"):
        OpenAiChat(ChatConfig()).complete("s", "u", {})


def test_an_endpoint_that_is_not_there_is_unavailable(monkeypatch):
    pytest.importorskip("openai")
    monkeypatch.setenv(KEY_VARIABLE, "secret-key")
    chat = OpenAiChat(ChatConfig(base_url="http://127.0.0.1:9/v1", timeout=2.0))
    with pytest.raises(ChatUnavailable) as error:
        chat.complete("s", "u", {})
    assert "secret" not in str(error.value)


def test_the_configuration_names_the_parser():
    parser, stop = make_parser(ParserConfig())
    assert isinstance(parser, GrammarParser)
    stop()


def test_a_named_model_that_is_not_there_leaves_it_to_the_grammar():
    told = []
    chat = ChatConfig(base_url="http://127.0.0.1:9/v1", timeout=0.5, patience=1.0)
    parser, stop = make_parser(ParserConfig(True, chat), told.append)
    assert parser.parse("the mug on the desk") == parse_query("the mug on the desk")
    assert len(told) == 1 and "the grammar reads the query" in told[0]
    stop()


def test_every_text_has_the_budget_of_a_task():
    begun = []
    parser = ModelParser(Fake("no graph"), warn=lambda _: None, begin=lambda: begun.append(1))
    parser.parse("the mug")
    parser.parse("the desk")
    assert len(begun) == 2
