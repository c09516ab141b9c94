"""Tests of skills as data: the robot's own, and a user's skills for an arm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from trace_builders import furnished, trace_to

from lodestar.scene.records import EntityState
from lodestar.storage.journal_file import JournalFile
from lodestar.storage.records import decode, encode
from lodestar.worldmodel.amendments import Change
from lodestar.worldmodel.outcomes import ActionOutcome, Result
from lodestar.worldmodel.records import WALKING, Action, Belief, Expectation, Phase, Skill, Trace, TraceError
from lodestar.worldmodel.skills import BadSkills, load_skills, read_skills, skills_with
from lodestar.worldmodel.trace_sentences import action_in_words
from lodestar.worldmodel.transactions import KIND, VERSION, Line, Transactions
from lodestar.worldmodel.validation import TraceValidator
from lodestar.worldmodel.world_model import Reply, WorldModel

ARM = """
Pick:
  phase: AT
  requires: [{predicate: Near, arguments: [robot, $1]}]
  effects: [{change: DOUBT, entity: $1}]
Place:
  phase: AT
  requires: [{predicate: Near, arguments: [robot, $2]}]
  confirms: [{predicate: "On", arguments: [$1, $2]}]
  effects: [{change: RESTORE, entity: $1}, {change: RELATE, predicate: "On", arguments: [$1, $2]}]
"""
PLACE = Action(Skill("Place"), ("entity:2", "entity:1"))


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(ARM)
    return skills_with(str(file))


class Scene:
    """Scene of boxes that records the changes requested of it."""

    def __init__(self):
        self.world, self.changes = furnished(), []

    @property
    def entities(self):
        return self.world.entities

    def get(self, identity):
        return self.world.entities.get(identity)

    def amend(self, amendments, answered):
        self.changes += [amendment.change for amendment in amendments]
        answered(Reply())


def _trace(action: Action) -> Trace:
    return Trace("arm/1", 1, 10.0, "arm", action, Expectation(Phase.AT), 0.9)


def _placed(scene: Scene, table, journal=None, result=Result.COMMITTED, events=None):
    """Report that the arm has put the cup (2) onto the table (1)."""
    told = [] if events is None else events
    world = WorldModel(Transactions(journal), scene, told.append, skills=table, scene=scene)
    world.take_trace(_trace(PLACE))
    world.take_outcome(ActionOutcome("arm/1", 12.0, result))
    return world


def test_an_arms_effects_are_carried_out_when_perception_confirms_them(table):
    scene = Scene()
    _placed(scene, table)
    assert scene.changes[:2] == [Change.RESTORE, Change.RELATE]


@pytest.mark.parametrize("result", [Result.ROLLED_BACK, Result.CANCELLED])
def test_an_action_that_failed_has_no_effects(table, result):
    scene = Scene()
    _placed(scene, table, result=result)
    assert scene.changes == []


def test_what_perception_denies_is_rolled_back_and_told(table):
    scene, events = Scene(), []
    cup = scene.entities[2]
    away = np.array([3.0, 0.0, -0.8])
    scene.entities[2] = replace(
        cup, mean=cup.mean + away, box_min=cup.box_min + away, box_max=cup.box_max + away
    )
    world = _placed(scene, table, events=events)
    assert scene.changes == [] and not world.transactions.entries
    assert events[0].kind == "REFUSED" and "not so that On(entity:2, entity:1)" in events[0].text


def test_an_action_that_began_before_kill_9_has_its_effects_when_it_ends(table, tmp_path):
    path = tmp_path / "world.journal"
    WorldModel(Transactions(JournalFile(path, KIND, VERSION, Line)), Scene(), skills=table).take_trace(
        _trace(PLACE)
    )
    scene = Scene()
    again = WorldModel(Transactions(JournalFile(path, KIND, VERSION, Line)), scene, skills=table, scene=scene)
    assert not again.transactions.problems
    again.take_outcome(ActionOutcome("arm/1", 12.0, Result.COMMITTED))
    assert scene.changes[:2] == [Change.RESTORE, Change.RELATE]


def test_an_effect_without_its_argument_is_none(table):
    assert table.effects(Action(Skill("Pick")), "t") == () and table.confirmed(Action(Skill("Place"))) == ()


@pytest.mark.parametrize(
    ("action", "pose", "code", "why"),
    [
        (Action(Skill("Pick"), ("entity:2",)), (4.0, 5.0, 0.0), TraceError.NONE, ""),
        (Action(Skill("Pick"), ("entity:2",)), (2.0, 2.0, 0.0), TraceError.INCONSISTENT, "Near(robot"),
        (Action(Skill("Place"), ("entity:2",)), (4.0, 5.0, 0.0), TraceError.MALFORMED, "needs 2 arguments"),
        (Action(Skill("Pick"), ("entity:99",)), (4.0, 5.0, 0.0), TraceError.UNKNOWN_ENTITY, "99"),
        (Action(Skill("Dance"), ("entity:2",)), (4.0, 5.0, 0.0), TraceError.MALFORMED, "no skill 'Dance'"),
    ],
)
def test_an_arms_action_is_validated_by_its_preconditions(table, action, pose, code, why):
    world = furnished()
    world.pose = np.array(pose)
    verdict = TraceValidator(world, skills=table).check(_trace(action))
    assert verdict.code is code and why in verdict.reason


@pytest.mark.parametrize(("thing", "code"), [(2, TraceError.INCONSISTENT), (3, TraceError.NONE)])
def test_a_negated_precondition_is_measured_too(tmp_path, thing, code):
    """The cup on the table (1) must not be put there again; a chair beside it may."""
    file = tmp_path / "arm.yaml"
    file.write_text("Put: {phase: AT, requires: [{predicate: 'On', arguments: [$1, $2], negated: true}]}")
    action = Action(Skill("Put"), (f"entity:{thing}", "entity:1"))
    verdict = TraceValidator(furnished(), skills=skills_with(str(file))).check(_trace(action))
    assert verdict.code is code
    if code is not TraceError.NONE:
        assert "not On(entity:2, entity:1)" in verdict.reason and verdict.excess > 0.0


def test_a_thing_that_is_gone_cannot_be_picked(table):
    world = furnished()
    world.pose = np.array([4.0, 5.0, 0.0])
    world.entities[2] = replace(world.entities[2], state=EntityState.ARCHIVED)
    verdict = TraceValidator(world, skills=table).check(_trace(Action(Skill("Pick"), ("entity:2",))))
    assert verdict.code is TraceError.ARCHIVED


def test_a_trace_of_a_users_skill_reads_as_the_same():
    assert decode(encode(_trace(PLACE)), Trace) == _trace(PLACE)
    assert action_in_words(_trace(PLACE)) == "do Place(entity 2, entity 1)"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("GoTo: {phase: AT}", "the robot has this skill"),
        ("pick up: {phase: AT}", "no name of a skill"),
        ("Pick: {phase: HAPPY}", "HAPPY"),
        ("Pick: {phase: AT, speed: 3}", "speed"),
        ("Pick: {phase: AT, goal: somewhere}", "somewhere"),
        ("Pick: {phase: AT, requires: [{predicate: Owns, arguments: [$1, $2]}]}", "Owns"),
        ("Pick: {phase: AT, effects: [{change: EXPLODE}]}", "EXPLODE"),
        ("[1, 2", "skills"),
        ("GoTo: 7", "skills"),
        ("Pick", "skills"),
    ],
)
def test_a_users_table_that_is_none_is_refused_with_its_file(tmp_path, text, problem):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(BadSkills, match=problem) as refused:
        skills_with(str(file))
    assert "mine.yaml" in str(refused.value)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(BadSkills, match=r"nowhere\.yaml"):
        skills_with("/nowhere.yaml")


def test_the_robots_own_table_names_every_walking_skill_and_none_changes_anything():
    own = load_skills()
    assert all(own.knows(skill) and own.effects(trace_to().action, "t") == () for skill in WALKING)
    assert skills_with("") is own
    assert read_skills(ARM).confirmed(PLACE) == (Belief("On", ("entity:2", "entity:1")),)
