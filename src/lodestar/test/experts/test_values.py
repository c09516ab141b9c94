"""Tests that every expert gives chance and seconds of its goals, which makes them comparable (ADR 0094)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from expert_worlds import Block, furnished, known_from, photograph, red_chair, request, thing, two_rooms
from hypothesis import given
from hypothesis import strategies as st

from lodestar.experts.config import EgocentricConfig, SemanticMapConfig
from lodestar.experts.egocentric import EgocentricExpert
from lodestar.experts.frontier import FrontierExpert
from lodestar.experts.protocol import Proposal
from lodestar.experts.semantic_map import SemanticMapExpert
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta

START = (1.0, 1.0, 0.0)
BARE = Proposal("frontier", 1, np.zeros(3), 0.5, "there")


def of_the_map(x: float) -> Proposal:
    chair = thing(1, x, 4.0, "red chair")
    expert = SemanticMapExpert(SemanticMapConfig(), PhraseBook())
    expert.set_grid(furnished(chair))
    mirror = SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, (chair,)))
    expert.set_scene(mirror)
    return expert.propose(request(START, red_chair()))


def of_the_view(*blocks: Block) -> Proposal:
    pose = (2.0, 4.0, 0.0)
    expert = EgocentricExpert(EgocentricConfig(), PhraseBook())
    expert.set_grid(furnished(*(thing(i, b.x, b.y, b.caption) for i, b in enumerate(blocks, 1))))
    expert.set_scene(SceneMirror())
    expert.set_view(*photograph(pose, *blocks))
    return expert.propose(request(pose, red_chair()))


def of_frontiers() -> Proposal:
    expert = FrontierExpert()
    expert.set_grid(known_from(two_rooms(), [(1.0, 1.0)]))
    return expert.propose(request(START))


def test_every_kind_of_goal_tells_its_value():
    made = [
        of_frontiers(),
        of_the_map(6.0),
        of_the_view(Block(5.0, 4.0, "chair", "red chair")),
        of_the_view(),
    ]
    for proposal in made:
        assert proposal.value is not None and 0.0 < proposal.chance <= 1.0, proposal
    frontier, known, seen, turn = made
    assert turn.value < known.value and turn.chance < frontier.chance < known.chance
    assert turn.seconds < seen.seconds < known.seconds


def test_a_thing_farther_off_is_worth_less():
    near, far = of_the_map(3.0), of_the_map(7.0)
    assert near.seconds < far.seconds and near.value > far.value


@given(st.floats() | st.none(), st.floats() | st.none())
def test_a_value_is_a_number_that_compares_or_none(chance, seconds):
    value = replace(BARE, chance=chance, seconds=seconds).value
    assert value is None or (value >= 0.0 and not math.isnan(value))


@pytest.mark.parametrize(
    "chance, seconds", [(None, 3.0), (0.5, None), (0.5, 0.0), (1.5, 3.0), (math.nan, 3.0)]
)
def test_what_is_not_told_or_cannot_be_has_no_value(chance, seconds):
    assert replace(BARE, chance=chance, seconds=seconds).value is None
