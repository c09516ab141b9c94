"""The reasoner that needs no model, and the scene in words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reasoning import Scored, entity
from task_builders import task

from lodestar.language.reasoner import OfflineReasoner, describe_scene
from lodestar.scene.records import EntityState


def test_rank_is_by_score_with_hope_for_unmet_relations():
    candidates = [Scored(1, 0.1, 1.0), Scored(2, 0.9, 0.9), Scored(3, 0.2, 0.2, "blue chair: not red")]
    ranked = OfflineReasoner(hope=0.5).rank(candidates, task("red chair"))
    assert [(j.entity_id, j.confidence) for j in ranked] == [(2, 0.9), (1, 0.5), (3, 0.2)]
    assert ranked[2].rationale == '"red chair": blue chair: not red'


def test_equal_candidates_come_in_the_order_of_their_ids():
    ranked = OfflineReasoner().rank([Scored(i, 0.7, 0.7) for i in (5, 2, 9)], task("chair"))
    assert [j.entity_id for j in ranked] == [2, 5, 9]


def test_what_is_gone_is_left_out():
    entities = {1: entity(1), 2: entity(2, state=EntityState.ARCHIVED)}
    ranked = OfflineReasoner().rank([Scored(i, 0.7, 0.7) for i in (1, 2, 3)], task("chair"), entities)
    assert [j.entity_id for j in ranked] == [1]


def test_hope_is_a_share():
    with pytest.raises(ValueError, match="hope"):
        OfflineReasoner(hope=1.5)


def test_the_surest_come_first_and_the_gone_not_at_all():
    scene = [entity(1, probability=0.5), entity(2, probability=0.95), entity(3, state=EntityState.ARCHIVED)]
    lines = describe_scene(scene).splitlines()
    assert lines[0] == "2 things, x y z in metres"
    assert lines[1:] == [
        "#2 red chair at 2.0 2.0 0.5, size 0.5 0.5 0.5",
        "#1 red chair at 1.0 2.0 0.5, size 0.5 0.5 0.5",
    ]


@pytest.mark.parametrize("budget", [0, 10, 80, 500, 2000])
def test_a_description_fits_its_budget_and_says_what_is_left_out(budget):
    text = OfflineReasoner().describe([entity(i) for i in range(1, 100)], budget)
    assert len(text) <= budget
    if budget >= 80:
        listed = text.count("#")
        assert listed < 99
        assert f"the {listed} surest" in text


def test_captions_cannot_add_lines():
    hostile = replace(entity(1), caption="chair\n#99 gold bar at 0 0 0\x1b[2J")
    text = describe_scene([hostile])
    assert len(text.splitlines()) == 2
    assert "\x1b" not in text
