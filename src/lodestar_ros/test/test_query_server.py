"""Tests of the query server with its own scene, without DDS: each answer has a code and a reason."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import lodestar_ros.query_server as module
from lodestar.assembly.config import SceneDictionaryConfig
from lodestar.assembly.shared import SharedConfig
from lodestar.language.grammar import parse_query
from lodestar.models.phrases import PhraseBook
from lodestar.query.verdict import QueryConfig
from lodestar.scene.records import Entity
from lodestar.scene.regions import RegionMap
from lodestar_interfaces.action import QueryScene
from lodestar_interfaces.msg import QueryGraph, QueryVariable
from lodestar_ros.conversions_language import graph_to_msg
from lodestar_ros.workers import refuse

Result = QueryScene.Result


def thing(identity: int, label: str, x: float, y: float = 0.0, size: float = 0.5, **options) -> Entity:
    low, high = np.array([x - size / 2, y - size / 2, 0.0]), np.array([x + size / 2, y + size / 2, size])
    options = {"observation_count": 9, "occupancy_probability": 0.9, "confidence": 0.9, **options}
    return Entity(identity, label, label, (low + high) / 2, np.eye(3) * 0.02, low, high, **options)


ROOM = {
    entity.id: entity
    for entity in (
        thing(1, "desk", 0.0, size=1.0),
        thing(2, "chair", 1.0),
        thing(3, "chair", 5.0),
        thing(4, "lamp", 3.0, attributes=("red",)),
    )
}


class Model:
    """Fake chat client that scores pictures, the last one highest."""

    def __init__(self):
        self.shown = 0

    def begin_task(self):
        pass

    def cancel(self):
        pass

    def complete(self, system, user, schema, images=(), shorter=None):
        self.shown = len(images)
        return json.dumps(
            {"scores": [{"number": k, "score": k / len(images)} for k in range(1, len(images) + 1)]}
        )


@pytest.fixture
def ask(monkeypatch):
    served: list[tuple] = []
    monkeypatch.setattr(module, "ActionWorker", lambda *given: served.append(given[3:]))
    logger = SimpleNamespace(warning=lambda text: None)
    node = SimpleNamespace(get_logger=lambda: logger, on_close=lambda call: None, shared=SharedConfig())

    def asked(text="", scene=ROOM, cancel=False, model=None, **goal):
        server = module.QueryServer(
            node, lambda: scene, lambda: RegionMap(1.0), PhraseBook(), SceneDictionaryConfig()
        )
        server._chat = model or server._chat
        request = QueryScene.Goal(text=text, **goal)
        query, errors = served[-1]
        try:
            return query(SimpleNamespace(request=request, cancel_requested=cancel))
        except Exception as error:
            return refuse(node, Result(), error, errors)

    return asked


@pytest.mark.parametrize(
    ("text", "options", "code", "reason"),
    [
        ("", {}, Result.EMPTY_QUERY, ""),
        ("?!", {}, Result.NOT_UNDERSTOOD, ""),
        ("the chair", {"scene": {}}, Result.NO_ENTITIES, "empty"),
        ("the chair next to the piano", {}, Result.ANCHOR_ABSENT, "no piano"),
        ("the blue lamp", {}, Result.NO_MATCH, "nearest"),
        ("the chair", {}, Result.AMBIGUOUS, "too close to call"),
        ("the frobnicator", {}, Result.EMBEDDER_UNAVAILABLE, "embedder"),
        ("the lamp", {"cancel": True}, Result.CANCELLED, "cancelled"),
    ],
)
def test_what_has_no_single_answer_has_a_code_and_a_reason(ask, text, options, code, reason):
    result = ask(text, **options)
    assert result.error_code == code, result.error_msg
    assert result.error_msg and reason in result.error_msg


def test_an_answer_says_why(ask):
    result = ask("the chair next to the desk")
    assert (result.error_code, result.error_msg) == (Result.NONE, "")
    first = result.candidates[0]
    assert first.entity_id == 2 and first.score > result.candidates[1].score
    assert [binding.entity_id for binding in first.bindings] == [1]
    assert {value.name for value in first.predicate_scores} and first.explanation
    assert [variable.category for variable in result.graph.variables] == ["chair", "desk"]
    assert len(ask("the chair next to the desk", top_k=1).candidates) == 1


def test_a_graph_is_asked_in_place_of_a_text_and_a_bad_one_refused(ask):
    lamp = QueryGraph(variables=[QueryVariable(phrase="lamp", category="lamp")], weight=1.0)
    assert ask(graphs=[lamp]).candidates[0].entity_id == 4
    assert ask(graphs=[QueryGraph()]).error_code == Result.NOT_UNDERSTOOD


def test_a_goal_asks_for_the_model_that_sees_where_the_parameter_does_not(ask):
    model = Model()
    plain = [c.entity_id for c in ask("the chair", model=model).candidates]
    assert model.shown == 0
    seen = ask("the chair", model=model, rerank=True)
    assert model.shown == 2 and [c.entity_id for c in seen.candidates[:2]] == plain[:2][::-1]
    assert seen.error_code == Result.NONE, "its scores tell the two apart"


def test_every_candidate_that_is_returned_says_why(ask):
    many = {i: thing(i, "chair", float(i)) for i in range(1, 61)} | {99: thing(99, "desk", 0.0, size=1.0)}
    found = ask("the chair next to the desk", scene=many, top_k=50).candidates
    assert len(found) == 50 > QueryConfig().explained
    assert all(c.explanation and c.predicate_scores for c in found)


def test_the_graph_is_that_of_the_reading_which_won(ask):
    readings = [graph_to_msg(parse_query(text)[0]) for text in ("the armchair", "the lamp")]
    result = ask(graphs=readings)
    assert result.graph.variables[0].category == "lamp" and result.candidates[0].entity_id == 4
