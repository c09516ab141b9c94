"""Tests that the semantic-map expert proposes a pose that faces the best matching entity."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from expert_worlds import CAMERA, camera_pose, furnished, red_chair, request, thing

from lodestar.experts.config import LikelyConfig
from lodestar.experts.protocol import Proposal, RejectionReason
from lodestar.experts.semantic_map import SemanticMapConfig, SemanticMapExpert
from lodestar.grid.config import LookConfig
from lodestar.grid.footprint import footprint_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.success_pose import is_facing
from lodestar.language.directive import Item
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import ImageBox
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import EntityState, SceneDelta, View

START = (1.0, 1.0, 0.0)
CHAIR, DESK, OTHER = (6.0, 3.0), (6.9, 3.0), (2.0, 6.0)


def expert_of(*things, grid: OccupancyGrid2D | None = None, config=None, phrases=None) -> SemanticMapExpert:
    expert = SemanticMapExpert(config or SemanticMapConfig(), PhraseBook() if phrases is None else phrases)
    expert.set_grid(grid if grid is not None else furnished(*things))
    mirror = SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, tuple(things)))
    expert.set_scene(mirror)
    return expert


def test_it_faces_the_thing_from_a_free_place():
    chair = thing(1, *CHAIR, "red chair")
    expert = expert_of(chair)
    proposal = expert.propose(request(START, red_chair()))
    assert isinstance(proposal, Proposal) and proposal.entity_id == 1
    assert is_facing(proposal.goal, chair.box_min, chair.box_max)
    assert footprint_free(furnished(chair), proposal.goal)
    assert proposal.confidence >= 0.6
    assert math.dist(proposal.goal[:2], CHAIR) > 0.4  # the goal is never the object's centre


def test_it_comes_from_the_side_that_the_thing_was_seen_from():
    box = ImageBox(0, 0, 10, 10)
    for side in (1.0, -1.0):
        view = View(
            0.0, camera_pose(CHAIR[0], CHAIR[1] + 2.0 * side, -side * math.pi / 2), box, keyframe_id=4
        )
        chair = replace(thing(1, *CHAIR, "red chair"), views=(view,))
        proposal = expert_of(chair).propose(request(START, red_chair()))
        assert (proposal.goal[1] - CHAIR[1]) * side > 0.0
        assert proposal.evidence_keyframes == (4,)


def test_attributes_and_relations_decide_between_two_of_a_kind():
    red, blue = thing(1, *CHAIR, "red chair"), thing(2, 3.0, 3.0, "blue chair")
    assert expert_of(red, blue).propose(request(START, red_chair())).entity_id == 1
    near, far, desk = thing(1, *CHAIR, "red chair"), thing(2, *OTHER, "red chair"), thing(3, *DESK, "desk")
    proposal = expert_of(near, far, desk).propose(request(START, red_chair("NextTo")))
    assert proposal.entity_id == 1
    assert 3 in proposal.evidence_entities


def test_the_nearer_of_two_equal_matches_wins():
    near, far = thing(5, 2.5, 2.5, "red chair"), thing(1, 7.0, 7.0, "red chair")
    assert expert_of(near, far).propose(request(START, red_chair())).entity_id == 5


def test_a_thing_that_was_looked_for_in_vain_gives_way_to_one_that_was_not():
    near = replace(thing(1, 3.0, 2.0, "red chair"), confidence=0.3, state=EntityState.UNCERTAIN)
    far = thing(2, 6.0, 6.0, "red chair")
    assert expert_of(near, far).propose(request((1.0, 1.0, 0.0), red_chair())).entity_id == 2
    alone = expert_of(near).propose(request((1.0, 1.0, 0.0), red_chair()))
    assert alone.entity_id == 1 and alone.rationale.endswith("looked for there in vain, so I look first")


def test_a_chair_that_was_seen_long_ago_gives_way_to_a_fresh_sight_and_is_told_to_be_looked_at():
    day, now = 86_400.0, 40 * 86_400.0
    near = replace(thing(1, 3.0, 2.0, "red chair"), last_seen=now - 30 * day)
    far = replace(thing(2, 6.0, 6.0, "red chair"), last_seen=now - 60.0)
    fresh = expert_of(near, far).propose(replace(request((1.0, 1.0, 0.0), red_chair()), stamp=now))
    assert fresh.entity_id == 2 and "look first" not in fresh.rationale
    alone = expert_of(near).propose(replace(request((1.0, 1.0, 0.0), red_chair()), stamp=now))
    assert alone.entity_id == 1 and alone.rationale.endswith(
        "seen 30 days ago and may have moved, so I look first"
    )


def test_a_stamp_that_is_no_time_raises_no_doubt():
    odd = replace(thing(1, 3.0, 2.0, "red chair"), last_seen=-math.inf)
    assert "look first" not in expert_of(odd).propose(request((1.0, 1.0, 0.0), red_chair())).rationale


def test_excluded_things_and_goals_are_not_proposed():
    one, two = thing(1, *CHAIR, "red chair"), thing(2, *OTHER, "red chair")
    expert = expert_of(one, two)
    assert expert.propose(request(START, red_chair(), excluded_entities=frozenset({1}))).entity_id == 2
    both = expert.propose(request(START, red_chair(), excluded_entities=frozenset({1, 2})))
    assert both.reason is RejectionReason.NO_PROPOSAL
    first = expert.propose(request(START, red_chair(), excluded_entities=frozenset({2})))
    again = expert.propose(
        request(START, red_chair(), excluded_entities=frozenset({2}), excluded_goals=(tuple(first.goal),))
    )
    assert again.entity_id == 1 and math.dist(first.goal[:2], again.goal[:2]) > 0.25


def test_a_thing_that_cannot_be_faced_is_a_reasoned_rejection():
    chair = thing(1, *CHAIR, "red chair")
    grid = furnished(chair)
    cells = grid.cells.copy()
    cells[10:50, 45] = cells[10:50, 75] = 100  # walls on both sides of the object
    cells[10, 45:76] = cells[50, 45:76] = 100
    expert = expert_of(chair, grid=OccupancyGrid2D(cells, grid.resolution, grid.origin))
    rejection = expert.propose(request(START, red_chair()))
    assert rejection.reason is RejectionReason.NO_VIEWPOINT and "entity 1" in rejection.message


def test_a_chair_whose_surroundings_are_unknown_is_worth_a_closer_look():
    chair = thing(1, *CHAIR, "red chair")
    grid = furnished(chair)
    rejection = expert_of(chair).propose(request(START, red_chair("NextTo")))
    assert rejection.reason is RejectionReason.NO_PROPOSAL  # the surroundings are known to have no desk
    cells = grid.cells.copy()
    cells[20:45, 64:80] = -1
    unknown = OccupancyGrid2D(cells, grid.resolution, grid.origin)
    proposal = expert_of(chair, grid=unknown).propose(request(START, red_chair("NextTo")))
    assert proposal.entity_id == 1 and proposal.confidence < 0.6
    assert re.fullmatch(
        r"going closer to the red chair \(entity 1\), \d\.\d m away: it is red and may be the one, "
        r"but as far as the map shows it is not next to a desk",
        proposal.rationale,
    )
    blue = thing(1, *CHAIR, "blue chair")
    assert expert_of(blue, grid=unknown).propose(request(START, red_chair("NextTo"))).reason is (
        RejectionReason.NO_PROPOSAL
    )


@pytest.mark.parametrize(
    "eyes, views, closer", [("nanodet", 4, True), ("nanodet", 90, False), ("", 4, False)]
)
def test_a_chair_beside_which_the_desk_may_have_been_overlooked_is_worth_a_closer_look(eyes, views, closer):
    """NanoDet seldom sees a desk; after many views from other places it would have been seen."""
    looks = LookConfig(eyes=eyes)
    config = SemanticMapConfig(likely=LikelyConfig(look_limits=looks))
    chair = thing(1, *CHAIR, "red chair")
    expert = expert_of(chair, config=config)
    x, y = CHAIR
    for k in range(views):
        angle = 2.0 * math.pi * k / views
        for distance in (1.2, 2.0) if views > 1 else (2.0,):
            pose = camera_pose(x - distance * math.cos(angle), y - distance * math.sin(angle), angle)
            expert.add_view(pose, CAMERA, 0.1 * k)
    answer = expert.propose(request(START, red_chair("NextTo")))
    assert isinstance(answer, Proposal) is closer, answer
    if closer:
        assert 0.0 < answer.chance < answer.confidence


def test_a_lamp_whose_foot_was_not_seen_is_worth_a_closer_look_on_the_desk_and_not_far_above_it():
    desk = thing(2, *CHAIR, "brown desk", size=1.0)
    lamp = QueryVariable("lamp", "lamp")
    graph = QueryGraph((lamp, QueryVariable("desk", "desk")), (Predicate("On", (0, 1)),))
    for foot, closer in ((1.21, True), (1.6, False)):
        low = thing(1, *CHAIR, "lamp", size=0.1)
        up = np.array([0.0, 0.0, foot])
        high = replace(low, mean=low.mean + up, box_min=low.box_min + up, box_max=low.box_max + up)
        expert = expert_of(desk, high, grid=furnished(desk))
        answer = expert.propose(request(START, Item(((graph,),))))
        assert (isinstance(answer, Proposal) and "going closer" in answer.rationale) is closer, answer


def test_archived_things_are_gone():
    chair = replace(thing(1, *CHAIR, "red chair"), state=EntityState.ARCHIVED)
    assert expert_of(chair).propose(request(START, red_chair())).reason is RejectionReason.NO_PROPOSAL


def test_without_facts_or_target_it_says_so():
    expert = SemanticMapExpert(SemanticMapConfig(), PhraseBook())
    assert expert.propose(request(START, red_chair())).reason is RejectionReason.NO_DATA
    expert.set_grid(furnished())
    assert expert.propose(request(START, red_chair())).reason is RejectionReason.NO_DATA
    assert expert_of().propose(request(START)).reason is RejectionReason.NO_PROPOSAL


class Axes:
    """Embedder that gives every phrase a separate axis, by its last word."""

    model, dimension = "axes", 8

    def embed(self, phrases):
        words = ("chair", "desk", "lamp", "sofa")
        vectors = np.zeros((len(phrases), self.dimension), np.float32)
        for row, phrase in enumerate(phrases):
            word = phrase.split()[-1]
            vectors[row, words.index(word) if word in words else 7] = 1.0
        return vectors


@pytest.mark.parametrize("relation", [None, "NextTo"])
def test_the_prefilter_keeps_targets_and_neighbours_only(relation):
    config = SemanticMapConfig(prefilter_from=1)
    things = [thing(1, *CHAIR, "red chair"), thing(2, *DESK, "desk"), thing(3, *OTHER, "lamp")]
    expert = expert_of(*things, config=config, phrases=PhraseBook(Axes()))
    kept = expert._prefilter(red_chair(relation).graphs, {t.id: t for t in things})
    assert set(kept) == ({1, 2} if relation else {1})
    assert expert.propose(request(START, red_chair(relation))).entity_id == 1


def test_missing_vectors_are_no_data_and_no_crash():
    config = SemanticMapConfig(prefilter_from=1)
    expert = expert_of(thing(1, *CHAIR, "red chair"), config=config)
    rejection = expert.propose(request(START, red_chair()))
    assert rejection.reason is RejectionReason.NO_DATA and "vector" in rejection.message
