"""Tests of amendments: all or none apply, an inverse undoes them, and later observations overrule them."""

from __future__ import annotations

import numpy as np
import pytest
from scene_builders import archive, instance, sighting

from lodestar.mapping.instances.records import CaptionVote
from lodestar.scene.amendments import AmendmentRefused, Edit, EntityEdit
from lodestar.scene.config import SceneConfig
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.persistence import scene_from_archive, scene_to_archive
from lodestar.scene.records import EntityState, Refusal, Stated
from lodestar.scene.relations import Relation, RelationTable

OPERATOR = "operator"
HOLDS = Relation("Holds", ("robot", "entity:1"), (1,), author=OPERATOR, reason="it took it")


@pytest.fixture
def known(scene, feed):
    scene.update(feed(updated=(instance(1), instance(2, (3.0, 0.0, 0.5)))))
    return scene


def state_of(scene, identity=1):
    return scene.entities()[identity].state


def test_an_archived_entity_is_published_so_and_a_sighting_restores_it(known, feed):
    before = known.revision
    amended = known.amend((EntityEdit(Edit.ARCHIVE, 1),))
    assert [e.id for e in amended.delta.updated] == [1]
    assert (amended.delta.previous_revision, amended.delta.revision) == (before, before + 1)
    assert state_of(known) is EntityState.ARCHIVED and state_of(known, 2) is EntityState.ACTIVE
    known.update(feed(observations=(sighting(1, stamp=9.0),)))
    assert state_of(known) is EntityState.ACTIVE


def test_a_new_instance_in_its_place_continues_an_archived_entity(known, feed):
    known.amend((EntityEdit(Edit.ARCHIVE, 1),))
    delta = known.update(feed(updated=(instance(7, (0.1, 0.0, 0.5), stamp=9.0),)))
    assert [(merge.loser, merge.winner) for merge in delta.merges] == [(1, 7)]


@pytest.mark.parametrize("edit", [Edit.ARCHIVE, Edit.DOUBT, Edit.RESTORE])
@pytest.mark.parametrize("start", list(EntityState))
def test_the_inverse_takes_every_state_back(known, feed, edit, start):
    if start is EntityState.ARCHIVED:
        archive(known, feed, 1)
    elif start is EntityState.UNCERTAIN:
        known.amend((EntityEdit(Edit.DOUBT, 1),))
    inverse = known.amend((EntityEdit(edit, 1),)).inverse
    known.amend(inverse)
    assert state_of(known) is start


def test_a_doubted_entity_is_uncertain_until_it_is_seen(known, feed):
    known.amend((EntityEdit(Edit.DOUBT, 1),))
    entity = known.entities()[1]
    assert entity.state is EntityState.UNCERTAIN and 0.1 < entity.confidence < 0.6
    known.update(feed(observations=(sighting(1, stamp=9.0),)))
    assert state_of(known) is EntityState.ACTIVE


def test_an_operators_label_is_stronger_than_votes_and_another_one_is_not(known, feed):
    inverse = known.amend((EntityEdit(Edit.RELABEL, 1, "stool", OPERATOR),)).inverse
    more = (CaptionVote("chair", "red chair", 50.0),)
    known.update(feed(updated=(instance(1, votes=more, stamp=9.0),)))
    assert (known.entities()[1].label, known.entities()[1].caption) == ("stool", "red stool")
    known.amend(inverse)
    assert known.entities()[1].label == "chair"
    known.amend((EntityEdit(Edit.RELABEL, 2, "stool", "recovery"),))
    assert known.entities()[2].label == "stool"
    known.update(feed(updated=(instance(2, (3.0, 0.0, 0.5), votes=more, stamp=9.0),)))
    assert known.entities()[2].label == "chair", "as many votes again outweigh the robot's own correction"


def test_a_merge_keeps_the_operators_label(known, feed):
    known.amend((EntityEdit(Edit.RELABEL, 1, "stool", OPERATOR), EntityEdit(Edit.ARCHIVE, 1)))
    known.update(feed(updated=(instance(7, (0.1, 0.0, 0.5), stamp=9.0),)))
    assert known.entities()[7].label == "stool"


def test_amendments_of_merged_ids_reach_the_winner(known, feed):
    known.amend((EntityEdit(Edit.ARCHIVE, 1),))
    known.update(feed(updated=(instance(7, (0.1, 0.0, 0.5), stamp=9.0),)))
    assert known.amend((EntityEdit(Edit.ARCHIVE, 1),)).inverse[0].entity_id == 7


@pytest.mark.parametrize(
    ("edits", "revision", "refusal"),
    [
        ((EntityEdit(Edit.ARCHIVE, 1), EntityEdit(Edit.ARCHIVE, 99)), 0, Refusal.UNKNOWN_ENTITY),
        ((EntityEdit(Edit.ARCHIVE, 1), EntityEdit(Edit.RELABEL, 2, "  ")), 0, Refusal.BAD_REQUEST),
        ((EntityEdit(Edit.ARCHIVE, 1), EntityEdit(Edit.RELABEL, 2, "\x00#!")), 0, Refusal.BAD_REQUEST),
        ((EntityEdit(Edit.ARCHIVE, 1), EntityEdit(Edit.RELATE)), 0, Refusal.BAD_REQUEST),
        (
            (EntityEdit(Edit.ARCHIVE, 1), EntityEdit(Edit.RELATE, relation=Relation("On", ("x",), (99,)))),
            0,
            Refusal.UNKNOWN_ENTITY,
        ),
        ((EntityEdit(Edit.ARCHIVE, 2), EntityEdit(Edit.ARCHIVE, 1)), 1, Refusal.STALE),
    ],
)
def test_one_bad_amendment_refuses_all(known, feed, edits, revision, refusal):
    known.update(feed(observations=(sighting(1, stamp=5.0),)))  # revision 2 changes entity 1
    before = known.revision
    with pytest.raises(AmendmentRefused) as refused:
        known.amend(edits, revision)
    assert refused.value.refusal is refusal
    assert known.revision == before and state_of(known) is state_of(known, 2) is EntityState.ACTIVE


def test_a_fresh_revision_is_not_stale(known):
    known.amend((EntityEdit(Edit.ARCHIVE, 1),), known.revision)
    assert state_of(known) is EntityState.ARCHIVED


def test_relations_are_kept_with_their_author_and_negated_by_the_inverse(known):
    inverse = known.amend((EntityEdit(Edit.RELATE, relation=HOLDS),)).inverse
    assert known.relations == (HOLDS,)
    known.amend(inverse)
    assert known.relations == (HOLDS.opposite,)


def test_the_oldest_of_too_many_relations_is_dropped():
    table = RelationTable(Relation("On", (str(i),)) for i in range(1001))
    kept = list(table)
    assert len(kept) == 1000 and kept[0].arguments == ("1",)


def test_amendments_outlive_a_save(known):
    known.amend(
        (
            EntityEdit(Edit.RELABEL, 1, "stool", OPERATOR),
            EntityEdit(Edit.ARCHIVE, 2),
            EntityEdit(Edit.RELATE, relation=HOLDS),
        )
    )
    archive = scene_to_archive(known)
    again = SceneDictionary()
    again.replace(scene_from_archive(archive, SceneConfig(), np.inf).state, 1, "")
    again.flush()
    assert again.entities()[1].label == "stool" and state_of(again, 2) is EntityState.ARCHIVED
    assert again.relations == (HOLDS,)


def test_a_persons_word_of_two_things_is_published_with_the_first_and_taken_back(known):
    said = Relation("On", ("entity:1", "entity:2"), (1, 2), author=OPERATOR)
    made = known.amend((EntityEdit(Edit.RELATE, relation=said),))
    assert [entity.id for entity in made.delta.updated] == [1]
    assert known.entities()[1].stated == (Stated("On", 2),)
    measured = Relation("On", ("entity:1", "entity:2"), (1, 2), negated=True, author="world_model")
    found = known.amend((EntityEdit(Edit.RELATE, relation=measured),))
    assert found.delta.updated and known.entities()[1].stated == ()  # the newest statement is not a person's
    known.amend(found.inverse)
    assert known.entities()[1].stated == (Stated("On", 2),)
    archive = scene_to_archive(known)
    again = SceneDictionary()
    again.replace(scene_from_archive(archive, SceneConfig(), np.inf).state, 1, "")
    again.flush()
    assert again.entities()[1].stated == (Stated("On", 2),)
