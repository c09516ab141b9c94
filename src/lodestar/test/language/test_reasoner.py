"""Tests of the reasoner without a model."""

from __future__ import annotations

import pytest
from reasoning import Scored, entity
from task_builders import task

from lodestar.language.reasoner import OfflineReasoner, RankRequest
from lodestar.scene.records import EntityState


def test_rank_is_by_score_with_hope_for_unmet_relations():
    candidates = [Scored(1, 0.1, 1.0), Scored(2, 0.9, 0.9), Scored(3, 0.2, 0.2, "blue chair: not red")]
    ranked = OfflineReasoner(hope=0.5).rank(RankRequest(candidates, task("red chair")))
    assert [(j.entity_id, j.confidence) for j in ranked] == [(2, 0.9), (1, 0.5), (3, 0.2)]
    assert ranked[2].rationale == '"red chair": blue chair: not red'


def test_equal_candidates_come_in_the_order_of_their_ids():
    ranked = OfflineReasoner().rank(RankRequest([Scored(i, 0.7, 0.7) for i in (5, 2, 9)], task("chair")))
    assert [j.entity_id for j in ranked] == [2, 5, 9]


def test_what_is_gone_is_left_out():
    entities = {1: entity(1), 2: entity(2, state=EntityState.ARCHIVED)}
    ranked = OfflineReasoner().rank(
        RankRequest([Scored(i, 0.7, 0.7) for i in (1, 2, 3)], task("chair"), entities)
    )
    assert [j.entity_id for j in ranked] == [1]


def test_hope_is_a_share():
    with pytest.raises(ValueError, match="hope"):
        OfflineReasoner(hope=1.5)
