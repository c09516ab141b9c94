"""What nobody has seen is looked for where it is likely, with little confidence."""

from __future__ import annotations

import numpy as np
from expert_worlds import furnished, request, thing

from lodestar.experts.likely_places import LikelyConfig, unknown_share
from lodestar.experts.protocol import Proposal, RejectionReason
from lodestar.experts.semantic_map import SemanticMapConfig, SemanticMapExpert
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Item
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta

KETTLE = Item(((QueryGraph((QueryVariable("kettle", "kettle"),)),),))


def beside(anchor: str) -> Item:
    """The kettle near this."""
    variables = (QueryVariable("kettle", "kettle"), QueryVariable(anchor, anchor))
    return Item(((QueryGraph(variables, (Predicate("Near", (0, 1)),)),),))


START = (1.0, 1.0, 0.0)
FRIDGE, BED = thing(1, 4.5, 2.0, "refrigerator"), thing(2, 2.0, 4.5, "bed")


class Kitchenware:
    """An embedder with one axis for the kitchen and one for the rest."""

    model, dimension = "kitchenware", 2

    def embed(self, phrases):
        kitchen = ("kettle", "kitchen", "refrigerator")
        return np.array([(1, 0.1) if p in kitchen else (0, 1) for p in phrases], np.float32)


def expert_of(*things, unknown=None, book=None, least=0.8):
    config = SemanticMapConfig(likely=LikelyConfig(least=least))
    expert = SemanticMapExpert(config, PhraseBook(Kitchenware()) if book is None else book)
    grid = furnished(*things)
    if unknown is not None:
        cells = grid.cells.copy()
        cells[unknown] = -1
        grid = OccupancyGrid2D(cells, grid.resolution, grid.origin)
    expert.set_grid(grid)
    mirror = SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, tuple(things)))
    expert.set_scene(mirror)
    return expert


AROUND_BOTH = np.s_[26:80, 26:80]


def test_a_kettle_is_looked_for_near_the_refrigerator():
    proposal = expert_of(FRIDGE, BED, unknown=AROUND_BOTH).propose(request(START, KETTLE))
    assert isinstance(proposal, Proposal)
    assert proposal.entity_id == 0 and proposal.evidence_entities == (1,)
    assert proposal.confidence <= 0.25 and "look around the refrigerator: it is likely" in proposal.rationale


def test_a_far_place_is_left_to_the_frontier_expert():
    far = thing(1, 6.5, 6.5, "refrigerator")
    answer = expert_of(far, unknown=np.s_[50:80, 50:80]).propose(request(START, KETTLE))
    assert answer.reason is RejectionReason.NO_PROPOSAL


def test_a_place_behind_a_wall_is_as_far_as_the_way_to_it():
    expert = expert_of(FRIDGE, BED, unknown=AROUND_BOTH)
    cells = expert._grid.cells.copy()
    cells[1:76, 20] = 100  # a wall between the robot and the refrigerator, open at its far end
    cells[26:80, 1:26] = 0
    expert.set_grid(OccupancyGrid2D(cells, 0.1, (0.0, 0.0)))
    assert expert.propose(request(START, KETTLE)).reason is RejectionReason.NO_PROPOSAL
    near = expert.propose(request((3.0, 1.0, 0.0), KETTLE))
    assert isinstance(near, Proposal) and "look around the refrigerator: it is likely" in near.rationale


def test_not_where_all_was_looked_at_and_not_near_anything():
    assert expert_of(FRIDGE, BED).propose(request(START, KETTLE)).reason is RejectionReason.NO_PROPOSAL
    only_bed = expert_of(BED, unknown=AROUND_BOTH).propose(request(START, KETTLE))
    assert only_bed.reason is RejectionReason.NO_PROPOSAL


def test_what_the_task_names_as_near_it_is_likely():
    by_the_bed = beside("bed")
    proposal = expert_of(BED, unknown=AROUND_BOTH, least=0.7).propose(request(START, by_the_bed))
    assert proposal.evidence_entities == (2,)
    assert (
        expert_of(BED, unknown=AROUND_BOTH).propose(request(START, by_the_bed)).reason
        is RejectionReason.NO_PROPOSAL
    )


def test_without_vectors_it_simply_has_no_guess():
    answer = expert_of(FRIDGE, unknown=AROUND_BOTH, book=PhraseBook()).propose(request(START, KETTLE))
    assert answer.reason in (RejectionReason.NO_PROPOSAL, RejectionReason.NO_DATA)


def test_what_lies_off_the_grid_is_unknown():
    grid = furnished()
    assert unknown_share(grid, np.zeros(3), np.ones(3), 0.0) == 0.0
    assert unknown_share(grid, np.full(3, 20.0), np.full(3, 21.0), 1.0) == 1.0
