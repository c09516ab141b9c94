"""Tests of experts with a language model, whose answers count only as far as they can be checked."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from expert_worlds import Block, furnished, photograph, red_chair, request, thing

from lodestar.experts import egocentric
from lodestar.experts.descriptions import DescriptionMemory, SceneDescription
from lodestar.experts.egocentric import EgocentricConfig, EgocentricExpert
from lodestar.experts.protocol import ActionKind, Proposal, Rejection, RejectionReason
from lodestar.experts.semantic_map import SemanticMapConfig, SemanticMapExpert
from lodestar.language.model_reasoner import ModelReasoner
from lodestar.models.chat import ChatUnavailable
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta

POSE = (2.0, 4.0, 0.0)
PLANT = Block(5.0, 4.0, "plant", "green plant")


class FakeModel:
    """Answers with the given texts in turn; raises those that are exceptions."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def complete(self, system, user, schema, images=(), shorter=None):
        self.asked.append((user, images))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer if isinstance(self.answer, str) else json.dumps(self.answer)


def seen(action, *pairs):
    scores = [{"number": n, "score": s} for n, s in pairs]
    return {
        "image": "9.900",
        "scores": scores,
        "action": action,
        "description": "A hall with a plant.",
        "reason": "it is open there",
    }


def ego(answer, *blocks, rgb=True, entities=()):
    model = FakeModel(answer)
    expert = EgocentricExpert(EgocentricConfig(), PhraseBook(), ModelReasoner(model, warn=lambda text: None))
    expert.set_grid(furnished())
    mirror = SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, tuple(entities)))
    expert.set_scene(mirror)
    frame, segmented = photograph(POSE, *blocks, background=3.0)
    if rgb:
        frame = replace(frame, rgb=np.full((120, 160, 3), 80, np.uint8))
    expert.set_view(frame, segmented)
    return expert, model


def test_the_model_sees_the_annotated_image_and_its_mark_is_gone_to():
    expert, model = ego(seen("GO", (2, 0.1), (9, 0.8)))
    proposal = expert.propose(request(POSE, red_chair()))
    assert isinstance(proposal, Proposal) and proposal.action is ActionKind.GO
    mark = next(p for p in expert.describe().points if p.number == 9)
    assert mark.score == 0.8
    assert math.dist(proposal.goal[:2], mark.point[:2]) < 0.6
    assert proposal.confidence == pytest.approx(0.8) and "it is open there" in proposal.rationale
    assert model.asked[0][1][0].startswith(b"\xff\xd8\xff")
    assert expert.describe().text.startswith("A hall with a plant.")


def test_a_view_is_drawn_once_however_often_an_expert_that_thinks_is_asked(monkeypatch):
    drawn = []
    monkeypatch.setattr(egocentric, "annotated_jpeg", lambda frame, *more: drawn.append(frame) or b"jpeg")
    expert, model = ego(seen("GO", (2, 0.1), (9, 0.8)))
    for _ in range(3):
        expert.propose(request(POSE, red_chair()))
    assert len(drawn) == 1 and [images for _, images in model.asked] == [(b"jpeg",)] * 3
    frame, segmented = photograph(POSE, PLANT, background=3.0)
    expert.set_view(replace(frame, stamp=drawn[0].stamp + 0.1), segmented)
    expert.propose(request(POSE, red_chair()))
    assert len(drawn) == 2 and drawn[1] is not drawn[0]


def test_its_turn_is_taken():
    expert, _ = ego(seen("TURN_AROUND"))
    proposal = expert.propose(request(POSE, red_chair()))
    assert proposal.action is ActionKind.TURN_AROUND
    assert abs(proposal.goal[2]) == pytest.approx(math.pi)


@pytest.mark.parametrize(
    "answer",
    [ChatUnavailable("no answer within 20 s"), "{", seen("GO", (999, 1.0)), seen("GO", (2, 1e9)), seen("FLY", (2, 0.5)),
     {**seen("GO", (2, 1.0)), "image": "9.650"},
     '{"image": "9.900", "scores": [{"number": 2, "score": NaN}], "action": "GO", "description": "", "reason": ""}'],
)  # fmt: skip
def test_without_a_usable_answer_it_decides_offline_and_says_why(answer):
    expert, _ = ego(answer, Block(5.0, 4.0, "chair", "red chair"))
    proposal = expert.propose(request(POSE, red_chair()))
    assert (
        proposal.action is ActionKind.GO
        and "red chair" in proposal.rationale
        and "offline" in proposal.rationale
    )


def test_an_excluded_thing_is_not_gone_to_whatever_the_model_says():
    expert, _ = ego(seen("GO", (1, 1.0)), PLANT, entities=(thing(7, 5.0, 4.0, "green plant"),))
    assert expert.propose(request(POSE, red_chair())).entity_id == 7
    answer = expert.propose(request(POSE, red_chair(), excluded_entities=frozenset({7})))
    assert isinstance(answer, Rejection) or answer.action is not ActionKind.GO


def test_without_a_colour_image_the_marks_still_go_to_the_model():
    expert, model = ego(seen("GO", (9, 0.8)), rgb=False)
    assert isinstance(expert.propose(request(POSE, red_chair())), Proposal)
    assert model.asked[0][1] == ()


def judged(*pairs):
    return {"judgements": [{"id": i, "confidence": c, "reason": "it is by the window"} for i, c in pairs]}


def remembered(answer, *things):
    model = FakeModel(answer)
    expert = SemanticMapExpert(
        SemanticMapConfig(), PhraseBook(), ModelReasoner(model, warn=lambda text: None)
    )
    expert.set_grid(furnished(*things))
    mirror = SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, tuple(things)))
    expert.set_scene(mirror)
    return expert, model


NEAR, FAR = thing(1, 3.0, 3.0, "red chair"), thing(2, 6.0, 6.0, "red chair")
START = (1.0, 1.0, 0.0)


def test_the_model_s_ranking_decides_between_two_of_a_kind():
    expert, model = remembered(judged((1, 0.3), (2, 0.95)), NEAR, FAR)
    view = SceneDescription(1.0, np.eye(4), "A desk by the window.", ())
    expert.hear(view)
    proposal = expert.propose(request(START, red_chair()))
    assert proposal.entity_id == 2 and proposal.confidence == 0.95 and "by the window" in proposal.rationale
    assert "A desk by the window." in model.asked[0][0]


@pytest.mark.parametrize(
    "answer",
    [judged((99, 1.0)), judged((2, 1e9)), '{"judgements": [{"id": 2, "confidence": NaN, "reason": ""}]}', "",
     ChatUnavailable("the endpoint answered 500")],
)  # fmt: skip
def test_an_answer_that_cannot_be_used_leaves_the_query_s_order(answer):
    expert, _ = remembered(answer, NEAR, FAR)
    assert expert.propose(request(START, red_chair())).entity_id == 1


def test_what_the_model_denies_is_not_gone_to():
    expert, _ = remembered(judged((1, 0.0), (2, 0.0)), NEAR, FAR)
    assert expert.propose(request(START, red_chair())).reason is RejectionReason.NO_PROPOSAL


def test_descriptions_are_kept_by_place_and_bounded():
    memory = DescriptionMemory()
    pose = np.eye(4)
    memory.add(SceneDescription(1.0, pose, "one", ()))
    memory.add(SceneDescription(2.0, pose, "two", ()))
    for i in range(200):
        other = np.eye(4)
        other[0, 3] = 2.0 * (i + 1)
        memory.add(SceneDescription(3.0 + i, other, f"far {i}", ()))
    assert len(memory) == 60 and memory.texts()[-1] == "from (400.0, 0.0): far 199"
    memory = DescriptionMemory()
    memory.add(SceneDescription(1.0, pose, "one", ()))
    memory.add(SceneDescription(2.0, pose, "two", ()))
    assert memory.texts() == ("from (0.0, 0.0): two",)
