"""Tests that a mission file is read completely or refused, with all problems at once and suggestions."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from lodestar.language.directive import AmbiguousDirective
from lodestar.language.grammar import parse_directive
from lodestar.missions import records, sentences
from lodestar.missions.mission_file import BadMission, load_mission, read_mission
from lodestar.missions.records import FOREVER, StepKind
from lodestar.missions.sentences import constraints_of, sentence_problem

EXAMPLES = sorted((Path(__file__).parents[4] / "config" / "missions").glob("*.yaml"))
HEAD = "mission: test\nsteps:\n"


def no_grammar(step):
    return ""


def read(text):
    return read_mission(text, no_grammar)


def problems(text, check=no_grammar):
    with pytest.raises(BadMission) as caught:
        read_mission(text, check)
    return caught.value.problems


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_in_order_and_the_grammar_reads_its_sentences(path):
    mission = load_mission(path)
    assert len(mission.steps) >= 10 and mission.name == path.stem


def test_every_kind_of_step_and_the_defaults_are_read():
    mission = read(
        """
mission: night-1
description: all kinds
reader: model
keep_away_from: the stairs
on_failure: go_on
retries: 2
retry_delay: 5 s
time_limit: 1 h 30 min
times: forever
schedule: {at: 22:00, days: [Monday, sun], window: 30 min}
steps:
  - directive: find   the red chair
    name: chair
  - waypoint: {x: 1, y: -2.5, heading_deg: 90}
    time_limit: 60
    on_failure: stop
    retries: 0
  - waypoint: {x: 1, y: 2}
  - question: where is the mug?
  - wait: 1.5 min
  - changes: maps/office
  - changes: {since: a, json: b.json, priors: p.json, learn: true, tell: true}
  - save: maps/office
"""
    )
    assert [step.kind.value for step in mission.steps] == [
        "directive", "waypoint", "waypoint", "question", "wait", "changes", "changes", "save",
    ]  # fmt: skip
    chair, desk, anywhere, mug, wait, _, changes, save = mission.steps
    assert (chair.text, chair.title, chair.time_limit, chair.retries, chair.go_on) == (
        "find the red chair", "chair", 5400.0, 2, True,
    )  # fmt: skip
    assert chair.words == "find the red chair; keep away from the stairs"
    assert desk.place.heading == pytest.approx(math.pi / 2) and math.isnan(anywhere.place.heading)
    assert (desk.time_limit, desk.retries, desk.go_on) == (60.0, 0, False)
    assert mug.keep_away_from == () and mug.time_limit == 0.0
    assert wait.seconds == 90.0 and save.folder == "maps/office" and changes.changes.learn
    assert mission.rounds == FOREVER and mission.retry_delay == 5.0 and not mission.reads_grammar
    assert (
        mission.schedule.at == ((22, 0),)
        and mission.schedule.days == {0, 6}
        and mission.schedule.window == 1800.0
    )


def test_a_block_is_written_out_and_may_hold_another():
    mission = read(HEAD + "  - repeat: 2\n    steps: [{wait: 1 s}, {repeat: 3, steps: [{wait: 2 s}]}]\n")
    assert [step.seconds for step in mission.steps] == [1.0, 2.0, 2.0, 2.0] * 2


@pytest.mark.parametrize(
    ("text", "rounds"), [("", 1), ("times: 4", 4), ("every: 5 min", FOREVER), ("every: 5 min\ntimes: 3", 3)]
)
def test_rounds(text, rounds):
    assert read(f"mission: test\n{text}\nsteps: [wait: 1 s]").rounds == rounds


def test_every_problem_is_named_at_once_with_its_place_and_the_nearest_right_word():
    found = problems(
        """
mision: test
on_failure: goon
retries: -1
schedule: {at: ["25:00"], dais: [mon]}
every: 5 parsecs
steps:
  - directve: find the chair
  - waypoint: {x: 1, z: 2}
  - wait: soon
    time_limit: 3 s
  - question: ""
  - repeat: 2
    steps:
      - wiat: 3 s
      - 7
  - directive: find the chair
    question: where is it?
  - changes: {since: a, after: b, tell: true, learn: true}
"""
    )
    for wanted in (
        "mision is no key here; did you mean mission?",
        "on_failure: 'goon' is no choice; did you mean go_on?",
        "retries: -1 does not lie between 0 and 100",
        "schedule: dais is no key here; did you mean days?",
        "schedule: at: '25:00' is no time of day",
        "every: 'parsecs' is no unit of time",
        "mission: needs a name",
        "step 1: directve is no key here; did you mean directive?",
        "step 2: waypoint: z is no key here",
        "step 2: waypoint: y: needs a number",
        "step 3: wait: 'soon' is no duration",
        "step 3: time_limit: is for directives and waypoints",
        "step 4: question: needs a text",
        "step 5.1: wiat is no key here; did you mean wait?",
        "step 5.2: is a table",
        "step 6: needs one of",
        "step 7: changes: tell: is for the running stack",
        "step 7: changes: learn: needs priors",
    ):
        assert any(line.startswith(wanted) for line in found), f"{wanted}\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a mission is a table"),
        ("[1, 2]", "a mission is a table"),
        ("mission: [", "this is no YAML"),
        ("{[1]: 2}", "this is no YAML"),
        ("mission: test", "steps: is a list"),
        ("mission: test\nsteps: []", "steps: needs at least one step"),
        ("mission: ../x\nsteps: [wait: 1 s]", "mission: needs a name of letters"),
        ("mission: test\nsteps: [wait: 1 s]\nsteps: [wait: 2 s]", "line 3: steps stands twice"),
        ("mission: test\nevery: 1 h\nschedule: {at: '22:00'}\nsteps: [wait: 1 s]", "every: a mission with a schedule"),
        ("mission: test\nschedule: {days: [mon]}\nsteps: [wait: 1 s]", "schedule: at: needs a time of day"),
        (HEAD + "  - wait: -3 s", "step 1: wait: '-3 s' is no duration"),
        (HEAD + "  - wait: .inf", "step 1: wait: inf does not lie"),
        (HEAD + "  - wait: yes", "step 1: wait: True is no duration"),
        (HEAD + "  - waypoint: {x: .nan, y: 2}", "step 1: waypoint: x: needs a number"),
        (HEAD + "  - waypoint: [1, 2]", "step 1: waypoint: needs a table"),
        (HEAD + '  - directive: "find\\e[2J it"', "step 1: directive: has control characters"),
        (HEAD + "  - repeat: 1000\n    steps: [{wait: 1 s}, {wait: 1 s}]", "step 1: repeat: 1000 times 2 steps"),
    ],
)  # fmt: skip
def test_what_is_no_mission_says_why(text, why):
    assert any(line.startswith(why) for line in problems(text)), problems(text)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("directive: asdf qwer", "not understood"),
        ("directive: stop", "only stops the robot"),
        ("directive: patrol the kitchen until I say stop", "give the step a time_limit"),
        ("question: blorb", "not understood"),
    ],
)
def test_a_sentence_that_the_robot_would_refuse_is_named_before_anything_moves(step, why):
    (found,) = problems(HEAD + f"  - wait: 1 s\n  - {step}\n", sentence_problem)
    assert found.startswith("step 2: ") and why in found


def test_a_model_may_read_what_the_grammar_does_not_and_a_limit_ends_what_is_endless():
    asked = []
    read_mission(
        "mission: test\nreader: model\nsteps: [directive: asdf qwer]", lambda step: asked.append(step) or "no"
    )
    assert asked == []
    patrol = HEAD + "  - directive: patrol the kitchen until I say stop\n    time_limit: 5 min\n"
    assert read_mission(patrol, sentence_problem).steps[0].kind is StepKind.DIRECTIVE


@pytest.mark.parametrize("reader", ["grammar", "model"])
@pytest.mark.parametrize("phrase", ["the chair if it rains", "20 m", "the chair and find the mug"])
def test_what_a_waypoint_cannot_keep_away_from_is_named(reader, phrase):
    text = f"mission: t\nreader: {reader}\nkeep_away_from: [{phrase}]\nsteps: [waypoint: {{x: 1, y: 2}}]"
    (found,) = problems(text, sentence_problem)
    assert found.startswith("step 1: waypoint: ")


def test_every_thing_and_room_to_keep_away_from_is_a_constraint_of_its_own():
    found = constraints_of(["the chair and the table", "the kitchen", "the stairs by 2 m"])
    assert [(one.kind.name, one.item.phrase, one.distance) for one in found] == [
        ("KEEP_AWAY", "chair", None), ("KEEP_AWAY", "table", None), ("STAY_OUT", "kitchen", None),
        ("KEEP_AWAY", "stairs", 2.0),
    ]  # fmt: skip


def test_a_doubtful_sentence_names_both_readings_and_what_to_do(monkeypatch):
    readings = [(words, parse_directive(words)) for words in ("find the vase", "count all the vases")]

    class Doubtful:
        def parse(self, text):
            raise AmbiguousDirective("which?", readings)

    monkeypatch.setattr(sentences, "AskingDirectives", Doubtful)
    problem = sentences.sentence_problem(records.Step(records.StepKind.DIRECTIVE, "get vases"))
    assert "find the vase; or count all the vases" in problem and "write what is meant" in problem
