"""Tests of views into the most likely room from any distance, each with its chance to show the target."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from expert_worlds import CAMERA, camera_pose, furnished, request, thing

from lodestar.experts.config import LikelyConfig
from lodestar.experts.likely_places import mean_within
from lodestar.experts.protocol import Proposal, RejectionReason
from lodestar.experts.semantic_map import SemanticMapConfig, SemanticMapExpert
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Item
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Region, SceneDelta
from lodestar.scene.regions import RegionMap

KETTLE = Item(((QueryGraph((QueryVariable("kettle", "kettle"),)),),))


def beside(anchor: str) -> Item:
    """Return the item for the kettle near this anchor."""
    variables = (QueryVariable("kettle", "kettle"), QueryVariable(anchor, anchor))
    return Item(((QueryGraph(variables, (Predicate("Near", (0, 1)),)),),))


class Kitchenware:
    """Embedder with one axis for kitchen words and one for all others."""

    model, dimension = "kitchenware", 2

    def embed(self, phrases):
        kitchen = ("kettle", "kitchen", "refrigerator")
        return np.array([(1, 0.1) if p in kitchen else (0, 1) for p in phrases], np.float32)


START = (10.0, 2.0, 0.0)
FRIDGE, BED = (
    replace(thing(k, x, 2.0, what), region_id=k)
    for k, x, what in ((1, 1.5, "refrigerator"), (2, 18.5, "bed"))
)
ENDS = np.s_[1:-1, 1:50], np.s_[1:-1, 150:-1]


def expert_of(*things, hidden=ENDS, book=None, config=None, regions=True) -> SemanticMapExpert:
    """Return an expert for a hall of 20 x 4 m with a room at each end, where cameras saw nothing (`hidden`)."""
    expert = SemanticMapExpert(
        SemanticMapConfig(likely=config or LikelyConfig()),
        PhraseBook(Kitchenware()) if book is None else book,
    )
    cells = np.zeros((40, 200), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = 100, 100, 100, 100
    for part in hidden:
        cells[part] = -1
    expert.set_grid(OccupancyGrid2D(cells, 0.1, (0.0, 0.0)))
    mirror = SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, tuple(things)))
    if regions:
        mask = np.full((40, 200), 3, np.int64)
        mask[:, :50], mask[:, 150:] = 1, 2
        mirror.rooms = RegionMap(0.5)
        mirror.rooms.set_mask(mask, (0.0, 0.0), 0.1)
        names = {1: "kitchen", 2: "bedroom", 3: "hallway"}
        mirror.regions = {i: Region(i, name, 0.5, 20.0, np.zeros(2)) for i, name in names.items()}
    expert.set_scene(mirror)
    return expert


def test_a_kettle_is_looked_for_in_the_kitchen_however_far_it_is():
    for x in (6.0, 10.0, 14.5):
        proposal = expert_of(FRIDGE, BED).propose(request((x, 2.0, 0.0), KETTLE))
        assert isinstance(proposal, Proposal) and proposal.entity_id == 0
        assert proposal.goal[0] < 7.5 and abs(proposal.goal[2]) > 1.5
        assert "Looking into the kitchen" in proposal.rationale


def test_the_confidence_is_the_chance_which_falls_with_what_else_may_hide_it(monkeypatch):
    chances = []
    for rest in (1.0, 200.0):
        monkeypatch.setattr("lodestar.experts.likely_places.STOP_BEYOND", rest)
        monkeypatch.setattr("lodestar.experts.viewpoint_survey.STOP_BEYOND", rest)
        expert = expert_of(FRIDGE, BED, config=LikelyConfig(least=0.01))
        chances.append(expert.propose(request(START, KETTLE)).confidence)
    one, more = chances
    assert 1.0 >= one > 2.0 * more > 0.0


def test_floor_that_is_known_is_looked_at_once():
    expert = expert_of(FRIDGE, BED, hidden=())
    expert.add_view(camera_pose(10.0, 2.0, 0.0), CAMERA, 5.0)  # a view of the hallway
    assert "the kitchen" in expert.propose(request(START, KETTLE)).rationale
    for x in (4.0, 3.0, 2.0):
        for yaw in np.arange(0.0, 6.3, 0.5):
            expert.add_view(camera_pose(x, 2.0, float(yaw)), CAMERA, 6.0)
    after = expert.propose(request(START, KETTLE))
    assert not isinstance(after, Proposal) or "the kitchen" not in after.rationale


def test_not_where_all_is_known_and_not_where_no_room_is_likelier():
    assert (
        expert_of(FRIDGE, BED, hidden=()).propose(request(START, KETTLE)).reason
        is RejectionReason.NO_PROPOSAL
    )
    only_balls = [replace(thing(k, x, 2.0, "ball"), region_id=k) for k, x in ((1, 1.5), (2, 18.5))]
    assert expert_of(*only_balls).propose(request(START, KETTLE)).reason is RejectionReason.NO_PROPOSAL


def test_without_rooms_or_vectors_it_simply_has_no_guess():
    for expert in (expert_of(FRIDGE, book=PhraseBook()), expert_of(FRIDGE, BED, regions=False)):
        assert expert.propose(request(START, KETTLE)).reason in (
            RejectionReason.NO_PROPOSAL,
            RejectionReason.NO_DATA,
        )


def test_a_goal_that_was_given_up_is_not_proposed_again():
    first = expert_of(FRIDGE, BED).propose(request(START, KETTLE)).goal
    again = expert_of(FRIDGE, BED).propose(request(START, KETTLE, excluded_goals=(tuple(first),)))
    assert (
        not isinstance(again, Proposal)
        or np.hypot(*(again.goal - first)[:2]) > 0.3
        or again.goal[2] != pytest.approx(first[2])
    )


def test_the_chance_is_of_the_floor_that_the_goals_heading_shows(monkeypatch):
    proposals = []
    for fov in (30.0, 360.0):
        monkeypatch.setattr("lodestar.experts.likely_places.LIKELY_FOV", np.radians(fov))
        expert = expert_of(FRIDGE, BED, config=LikelyConfig(least=0.001))
        proposals.append(expert.propose(request(START, KETTLE)))
    narrow, wide = proposals
    assert 0.0 < 1.5 * narrow.chance < wide.chance


def test_what_lies_off_the_grid_counts_as_overlooked():
    grid = furnished()
    left = np.full(grid.cells.shape, 0.25, np.float32)
    assert mean_within(left, grid, np.zeros(3), np.ones(3)) == pytest.approx(0.25)
    assert mean_within(left, grid, np.full(3, 19.0), np.full(3, 22.0)) == 1.0
    left[grid.occupied] = 0.0  # no floor
    assert mean_within(left, grid, *grid.points_of(np.array([[0, 0], [3, 3]]))) <= 0.25
