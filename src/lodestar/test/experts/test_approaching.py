"""What is seen from afar is walked towards as far as the floor is known."""

from __future__ import annotations

import math

import numpy as np
from expert_worlds import Block, photograph, red_chair, request

from lodestar.experts.approaching import ApproachConfig, place_towards
from lodestar.experts.egocentric import EgocentricConfig, EgocentricExpert
from lodestar.experts.protocol import ActionKind, Proposal
from lodestar.experts.reach import Reach, ReachConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.models.phrases import PhraseBook

POSE = (1.0, 4.0, 0.0)
CHAIR = Block(7.0, 4.0, "chair", "red chair")


def half_known(known_until: float) -> OccupancyGrid2D:
    """A room of 8 x 8 m of which nothing beyond x is known."""
    cells = np.zeros((80, 80), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = 100, 100, 100, 100
    cells[:, int(known_until * 10) :] = -1
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0))


def propose(grid, **changes):
    expert = EgocentricExpert(EgocentricConfig(), PhraseBook())
    expert.set_grid(grid)
    expert.set_view(*photograph(POSE, CHAIR))
    return expert.propose(request(POSE, red_chair(), **changes))


def test_a_thing_seen_once_from_afar_is_gone_towards():
    proposal = propose(half_known(4.0))
    assert isinstance(proposal, Proposal) and proposal.action is ActionKind.GO
    assert 2.5 < proposal.goal[0] < 4.0
    assert abs(math.atan2(4.0 - proposal.goal[1], 7.0 - proposal.goal[0]) - proposal.goal[2]) < 0.1
    near = propose(half_known(8.0))
    assert near.goal[0] > 5.5 and near.confidence > proposal.confidence > 0.5


def test_a_goal_that_was_excluded_is_not_proposed_again():
    first = propose(half_known(4.0))
    second = propose(half_known(4.0), excluded_goals=(tuple(first.goal),))
    assert math.dist(first.goal[:2], second.goal[:2]) > 0.3


def test_where_no_place_is_nearer_or_none_sees_it_there_is_none():
    grid = half_known(1.6)
    reach = Reach(grid, np.array(POSE), ReachConfig())
    assert place_towards(reach, np.array(POSE), np.array([7.0, 4.0]), (), ApproachConfig()) is None
    walled = half_known(8.0)
    walled.cells[:, 40] = 100
    reach = Reach(walled, np.array(POSE), ReachConfig())
    assert place_towards(reach, np.array(POSE), np.array([7.0, 4.0]), (), ApproachConfig()) is None
    blind = place_towards(reach, np.array(POSE), np.array([7.0, 4.0]), (), ApproachConfig(), sight=False)
    assert blind is not None and blind[0] < 4.0
