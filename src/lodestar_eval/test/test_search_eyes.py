"""Tests of the scripted vision model: it knows the pictures kept for it, and answers in a model's form."""

from __future__ import annotations

import json
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from embedders import LetterEmbedder
from small_building import SINK, small_world

from lodestar.experts.registry import holder
from lodestar.experts.specs import Role
from lodestar.geometry.camera import PinholeCamera
from lodestar.language.model_reasoner import ModelReasoner
from lodestar.language.views import FRONTIER, GO, MEMORY, PICTURE, Offered, ViewPoint, ViewQuestion
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import ImageBox, RgbdFrame
from lodestar.perception.pictures import decode_picture
from lodestar_eval.search_eyes import SearchEyes, SearchImages, serving


def question(*pictures, what="plant", target="red mug", turns=("TURN_LEFT",)):
    mark = ViewPoint(1, what, (1.0, 2.0), np.zeros(3), 1.0, 0.0)
    return ViewQuestion(5.0, np.zeros(3), target, (), (), (mark,), turns, {}, b"view", tuple(pictures))


def offered(keyframe, kind=FRONTIER):
    return Offered(keyframe, kind, np.zeros(3), 2.0, b"picture %d" % keyframe)


def eyes(**seen):
    """Return eyes that know these pictures, such as p7={3: "mug"}."""
    made = SearchEyes(PhraseBook(LetterEmbedder()))
    made.target_ids = frozenset({3})
    for name, things in seen.items():
        made.keep(b"picture %d" % int(name[1:]), things)
    return made


def test_it_takes_the_picture_that_truly_shows_the_target():
    looking = eyes(p7={1: "sofa"}, p8={2: "desk", 3: "mug"})
    answer = ModelReasoner(looking).judge_view(question(offered(7), offered(8, MEMORY)))
    assert answer.action == PICTURE and answer.chosen.keyframe == 8 and looking.chosen == 1


def test_it_goes_to_a_mark_that_names_the_target_first():
    answer = ModelReasoner(eyes(p8={3: "mug"})).judge_view(question(offered(8), what="red mug"))
    assert answer.action == GO and answer.scores == {1: 0.9} and answer.chosen is None


@pytest.mark.parametrize("seen", [{}, {"p7": {1: "sofa"}, "p8": {2: "sofa"}}])
def test_pictures_that_it_does_not_know_or_that_are_alike_are_not_chosen(seen):
    answer = ModelReasoner(eyes(**seen)).judge_view(question(offered(7), offered(8)))
    assert answer.action == "TURN_LEFT" and answer.by == "model"


def test_of_frontiers_it_takes_the_one_whose_things_stand_out():
    looking = eyes(p7={1: "zzz"}, p8={2: "mug"}, p9={4: "zzz"})
    answer = ModelReasoner(looking).judge_view(question(offered(7), offered(8), offered(9), target="mug"))
    assert answer.chosen.keyframe == 8 and "found there" in answer.rationale


def test_its_answer_is_json_of_the_schema_and_without_a_served_endpoint_it_says_so():
    said = json.loads(eyes().complete("", "no data", {"properties": {"action": {"enum": [GO]}}}))
    assert said["action"] == GO
    with pytest.raises(ValueError, match="served"):
        serving()


def test_pictures_that_are_offered_are_outlined_and_known():
    world, camera = small_world(), PinholeCamera(320, 240, 190.0, 190.0, 159.5, 119.5)
    ids = np.zeros((240, 320), int)
    ids[60:120, 100:200] = SINK
    simulator = SimpleNamespace(
        world=world, time=1.0, view_truth=lambda width, height: (ids, np.where(ids > 0, 2.0, np.inf), None)
    )
    outline = (100, 60, 199, 60, 199, 119)  # of a triangle
    observation = SimpleNamespace(instance_id=4, box=ImageBox(100, 60, 100, 60, outline=outline))
    explorer, given = MagicMock(), []
    robot = SimpleNamespace(
        config=SimpleNamespace(shared=SimpleNamespace(map_id=1)), experts={holder(Role.EXPLORER): explorer},
        use_search_pictures=given.append, memory=None,
        map=SimpleNamespace(
            seen=SimpleNamespace(observations=[observation]), mirror=SimpleNamespace(resolve={4: 2}.get)
        ),
    )  # fmt: skip
    looking = SearchEyes(PhraseBook(LetterEmbedder()))
    images = SearchImages(robot, looking, offered=True)
    grey = np.full((240, 320, 3), 128, np.uint8)
    images.take(RgbdFrame(1.0, camera, np.ones((240, 320), np.float32), np.eye(4), rgb=grey), simulator)
    (picture,) = given
    image = picture(1)
    drawn = np.abs(decode_picture(image).astype(int) - 128).max(axis=2) > 40
    assert drawn[60, 150] and drawn[90, 150] and not drawn[100:119, 102:140].any()
    looking.target_ids = frozenset({SINK})
    assert looking._picture("sink", [FRONTIER], [image])[0] == 1
    assert picture(99) is None
    images.close()
