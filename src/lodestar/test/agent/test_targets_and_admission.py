"""Tests that scene scores equal those of the query, and that answers are admitted or rejected with a reason."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import entity, proposal

from lodestar.agent.decisions.admission import GoalMemory, admit
from lodestar.agent.decisions.approach import faces, heads_for
from lodestar.agent.facts.config import LoopConfig
from lodestar.experts.protocol import ActionKind, Rejection, RejectionReason
from lodestar.grid.config import Footprint, SuccessConfig, ViewpointConfig
from lodestar.grid.success_pose import is_facing
from lodestar.language.directive import Constraint, ConstraintKind, Item
from lodestar.language.grammar import parse_directive
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.models.phrases import PhraseBook
from lodestar.query.targets import SceneTargets
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta
from lodestar.worldmodel.records import TraceError, Verdict


def mirror_of(*entities) -> SceneMirror:
    mirror = SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, entities))
    return mirror


def test_only_what_meets_the_query_is_accepted():
    step = parse_directive("find the red chair").steps[0]
    view = SceneTargets(PhraseBook()).look(mirror_of(entity(1, 1, 1), entity(2, 2, 2, "blue chair")), step)
    assert [c.entity_id for c in view.accepted] == [1]
    assert {c.entity_id for c in view.candidates} == {1, 2}
    assert view.is_accepted(1) and not view.is_accepted(2) and view.score(9) == 0.0


def test_scores_follow_the_revision_of_the_scene():
    step = parse_directive("find the red chair").steps[0]
    targets, mirror = SceneTargets(PhraseBook()), mirror_of(entity(2, 2, 2, "blue chair"))
    assert targets.look(mirror, step) is targets.look(mirror, step)
    assert not targets.look(mirror, step).accepted
    mirror.apply(SceneDelta(1.0, 2, 1, (entity(1, 1, 1),)))
    assert [c.entity_id for c in targets.look(mirror, step).accepted] == [1]


def test_things_to_avoid_are_found_by_their_phrase():
    barred = parse_directive("find the chair, avoid the plant, keep 2 m away from the red chair").constraints
    assert len(barred) == 2
    mirror = mirror_of(entity(1, 1, 1), entity(2, 2, 2, "green plant"))
    targets = SceneTargets(PhraseBook(), keep_away=0.7)
    found = targets.constraints(mirror, barred)
    assert [(e.id, metres) for e, metres in found] == [(2, 0.7), (1, 2.0)]


class Alike(PhraseBook):
    """Phrase book that gives every phrase the same vector."""

    def vectors(self, phrases):
        return np.tile(np.eye(1, 8, dtype=np.float32), (len(phrases), 1))


@pytest.mark.parametrize(
    ("what", "things"), [("the kitchen", []), ("the kitchen area", []), ("the flurb", [1])]
)
def test_a_room_to_avoid_is_no_thing_to_avoid(what, things):
    barred = parse_directive(f"find the chair, never enter {what}").constraints
    mirror = mirror_of(entity(1, 1, 1, "kitchen counter"))
    assert [e.id for e, _ in SceneTargets(Alike()).constraints(mirror, barred)] == things


def test_unknown_words_are_named_as_missing():
    step = parse_directive("find the flurbwidget").steps[0]
    view = SceneTargets(PhraseBook()).look(mirror_of(entity(1, 1, 1, "zargle")), step)
    assert view.missing and not view.candidates


def judge(answer, **changes):
    facts = {
        "goals": GoalMemory(LoopConfig()),
        "excluded": {},
        "accepted": (),
        "avoid": (),
        "config": LoopConfig(),
    }
    return admit(("a",), {"a": answer} if answer is not None else {}, **{**facts, **changes}).arms[0]


def refused(one):
    return Verdict(TraceError.UNKNOWN_ENTITY, f"no entity {one.entity_id}")


def test_every_inadmissible_answer_has_a_reason():
    assert judge(proposal(1, 1)).admissible
    memory = GoalMemory(LoopConfig())
    memory.exclude((1.0, 1.0, 0.0), "blocked", None)
    rejection = Rejection("a", 1, RejectionReason.NO_DATA, "no grid yet")
    cases = [
        (judge(None), "late"),
        (judge(rejection), "NO_DATA: no grid yet"),
        (judge(proposal(1, 1, entity_id=3), excluded={3: "found already"}), "found already"),
        (judge(proposal(1, 1), goals=memory), "blocked"),
        (judge(proposal(1, 1), avoid=((entity(4, 1.5, 1.5, "wet floor"), 1.0),)), "wet floor"),
        (judge(proposal(1, 1, entity_id=9), check=refused), "no entity 9"),
    ]
    for arm, reason in cases:
        assert not arm.admissible and reason in arm.reason


def test_heading_for_a_target_is_facing_it_or_naming_it():
    target, config = entity(7, 8.0, 5.0), LoopConfig()
    assert heads_for(proposal(7.2, 5.0, 0.0), [target], config)
    assert heads_for(proposal(0.0, 0.0, entity_id=7), [target], config)
    assert not heads_for(proposal(7.2, 5.0, np.pi), [target], config)
    assert not heads_for(proposal(7.2, 5.0, 0.0, action=ActionKind.TURN_LEFT), [target], config)


@pytest.mark.parametrize("distance", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("bearing", [0.2, 0.9])
@pytest.mark.parametrize("length", [0.3, 0.7, 1.6])
def test_success_is_one_test_everywhere_and_the_configured_one(distance, bearing, length):
    """Goals and arrivals are checked by the same distance, bearing and length of the robot."""
    target = entity(7, 8.0, 5.0)
    config = LoopConfig(
        success=SuccessConfig(distance, bearing), viewpoints=ViewpointConfig(footprint=Footprint(length, 0.4))
    )
    edge = float(target.box_min[0]) - length / 2.0 - distance
    straight = lambda slack: np.array([edge + slack, 5.0, 0.0])  # noqa: E731
    for slack, turned in itertools.product((-0.05, 0.05, 0.4), (0.0, bearing - 0.05, bearing + 0.05)):
        pose = np.add(straight(slack), (0.0, 0.0, turned))
        body = config.viewpoints.footprint
        found = is_facing(pose, target.box_min, target.box_max, body, distance, bearing)
        assert heads_for(proposal(*pose), [target], config) == faces(pose, target, config) == found
    assert faces(straight(0.05), target, config) and not faces(straight(-0.05), target, config)
    assert heads_for(proposal(*straight(0.05)), [target], config)
    assert not heads_for(proposal(*straight(-0.05)), [target], config)


def test_without_anyone_who_heads_for_it_a_known_target_excludes_nothing():
    admission = admit(
        ("a",), {"a": proposal(1, 1)}, GoalMemory(LoopConfig()), {}, (entity(7, 8.0, 5.0),), (), LoopConfig()
    )
    assert admission.arms[0].admissible and admission.note == ""


def test_what_an_item_excludes_is_no_candidate():
    (step,) = parse_directive("find the chair").steps
    (red,) = parse_directive("find the red chair").steps[0].graphs
    mirror = mirror_of(entity(1, 1, 1), entity(2, 2, 2, "blue chair"))
    view = SceneTargets(PhraseBook()).look(mirror, replace(step, item=replace(step.item, excluded=(red,))))
    assert [c.entity_id for c in view.accepted] == [2] and view.unmeant == {1}


def test_a_path_to_keep_away_from_is_no_thing():
    graph = QueryGraph(
        (QueryVariable("path", "path"), QueryVariable("table", "table")), (Predicate("Between", (0, 1)),)
    )
    barred = (Constraint(ConstraintKind.KEEP_AWAY, Item(((graph,),))),)
    assert SceneTargets(PhraseBook()).constraints(mirror_of(entity(1, 1, 1)), barred) == ()
