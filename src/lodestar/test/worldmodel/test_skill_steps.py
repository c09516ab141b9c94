"""Tests that a user's skill becomes a step for words that the robot itself cannot carry out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.language.directive import Directive, Item, Step, StepKind
from lodestar.language.grammar import parse_directive, parse_query
from lodestar.language.sentences import sentence
from lodestar.worldmodel.records import Skill
from lodestar.worldmodel.skill_steps import fault_of, things_of, with_skills
from lodestar.worldmodel.skills import BadSkills, load_skills, read_skills

ARM = """
Pick: {phase: AT, verbs: [pick up, grab], requires: [{predicate: Near, arguments: [robot, $1]}]}
Place: {phase: AT, verbs: [put], confirms: [{predicate: "On", arguments: [$1, $2]}]}
Open: {phase: AT, verbs: [open], requires: [{predicate: Near, arguments: [robot, $1]}]}
"""
SKILLS = load_skills().with_more(read_skills(ARM))


def made_of(text: str) -> list[tuple[str, str]]:
    steps = with_skills(parse_directive(text), SKILLS).steps
    return [(s.skill or s.kind.name, " + ".join(item.phrase for item in things_of(s))) for s in steps]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("pick up the red mug", [("FIND", "red mug"), ("Pick", "red mug")]),
        ("find the red mug and pick it up", [("FIND", "red mug"), ("Pick", "red mug")]),
        ("grab the bottle", [("FIND", "bottle"), ("Pick", "bottle")]),
        ("go to the kitchen, then open the door", [("GO", "kitchen"), ("FIND", "door"), ("Open", "door")]),
        ("put the mug on the table", [("FIND", "mug"), ("FIND", "table"), ("Place", "mug + table")]),
        (
            "find the cup, pick it up and put it on the desk",
            [("FIND", "cup"), ("Pick", "cup"), ("FIND", "desk"), ("Place", "cup + desk")],
        ),
    ],
)
def test_orders_become_steps_after_the_thing_is_found(text: str, steps: list[tuple[str, str]]) -> None:
    assert made_of(text) == steps
    assert not any(step.unable for step in with_skills(parse_directive(text), SKILLS).steps)


@pytest.mark.parametrize("text", ["bring me the mug", "press the button next to the door", "find the mug"])
def test_what_no_skill_does_stays_as_it_was(text: str) -> None:
    before = parse_directive(text)
    assert with_skills(before, SKILLS) == before
    assert with_skills(before, load_skills()) is before, "without a user's skills nothing is touched"


def test_a_ban_ends_with_the_step_with_which_it_ended_before() -> None:
    mug = Item((parse_query("the mug"),))
    ban = parse_directive("find the mug; keep away from the sofa").constraints[0]
    steps = (Step(StepKind.FIND, mug, unable=("pick it up", "wave")), Step(StepKind.RETURN))
    for until, after in ((None, None), (0, 1), (1, 2)):
        made = with_skills(Directive("", steps, (replace(ban, until=until),)), SKILLS)
        assert [s.kind for s in made.steps] == [StepKind.FIND, StepKind.DO, StepKind.RETURN]
        assert made.constraints[0].until == after and made.steps[0].unable == ("wave",)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["FIND", "RETURN", "EXPLORE"]),
            st.lists(st.sampled_from(["pick it up", "put it there", "sing", "grab", ""]), max_size=3),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_no_step_and_no_word_is_lost_whatever_is_said(said) -> None:
    mug = Item((parse_query("the mug"),))
    steps = tuple(
        Step(StepKind[kind], mug if kind == "FIND" else None, unable=tuple(unable)) for kind, unable in said
    )
    made = with_skills(Directive("", steps), SKILLS)
    assert [s.kind for s in made.steps if s.kind is not StepKind.DO] == [s.kind for s in steps]
    words = [w for s in made.steps for w in (*s.unable, *([s.question] if s.kind is StepKind.DO else []))]
    assert sorted(words) == sorted(w for s in steps for w in s.unable)
    for index, step in enumerate(made.steps):
        if step.kind is StepKind.DO and not fault_of(step, SKILLS):
            assert made.steps[index - 1].kind is not StepKind.RETURN or step.item is None


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (Step(StepKind.DO, skill="Dance"), "no skill 'Dance'"),
        (Step(StepKind.DO, skill="Turn"), "the robot's own"),
        (Step(StepKind.DO, skill="Place"), "needs 2 things, and 0"),
        (Step(StepKind.DO, Item((parse_query("the mug"),)), skill="Pick"), ""),
    ],
)
def test_what_cannot_be_done_anywhere_is_said(step: Step, why: str) -> None:
    assert why in fault_of(step, SKILLS) and bool(why) == bool(fault_of(step, SKILLS))


def test_a_step_is_said_in_the_speakers_words_or_by_the_skills_name() -> None:
    spoken = with_skills(parse_directive("find the red mug and pick it up"), SKILLS)
    assert sentence(spoken) == "find the red mug, then pick it up"
    assert with_skills(parse_directive(sentence(spoken)), SKILLS).steps[1].skill == "Pick"
    mug, table = (Item((parse_query(words),)) for words in ("the mug", "the table"))
    built = Step(StepKind.DO, mug, skill="Place", others=(table,))
    assert sentence(Directive("", (built,))) == "do Place with the mug and the table"


def test_verbs_and_patience_are_read_and_checked() -> None:
    rule = read_skills("Pick: {phase: AT, verbs: [pick up], patience: 5}").rule(Skill("Pick"))
    assert rule.verbs == ("pick up",) and rule.patience == 5.0
    assert SKILLS.of_users == ("Pick", "Place", "Open") and not load_skills().verbs
    for bad in (
        "verbs: pick up",
        "verbs: [7]",
        "verbs: ['']",
        "patience: 0",
        "patience: .inf",
        "patience: .nan",
    ):
        with pytest.raises(BadSkills):
            read_skills(f"Pick: {{phase: AT, {bad}}}")
