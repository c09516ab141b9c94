"""Steps that name a skill, in place of what a directive says that the robot cannot do."""

from __future__ import annotations

from dataclasses import replace

from lodestar.language.directive import Directive, Item, Step, StepKind
from lodestar.worldmodel.records import WALKING, Skill
from lodestar.worldmodel.skills import SkillTable


def with_skills(directive: Directive, skills: SkillTable) -> Directive:
    """Return the directive with a step for each thing that it cannot do and that begins with a verb of a skill.

    The step follows the one that finds its thing ("find the mug and pick it up"). A skill of several things has those
    of the steps that follow ("put the mug on the table"), after which it stands.
    """
    if not skills.verbs:
        return directive
    waiting: list[tuple[Step, int]] = []  # steps that name a skill, and the number of things that they lack
    steps: list[Step] = []
    ends: list[int] = []  # by index of the step: the index of the last one made of it
    for step in directive.steps:
        waiting = [_with_thing(made, lack, step.item) for made, lack in waiting]
        able, made = _split(step, skills)
        waiting += made
        steps.append(able)
        steps += [done for done, lack in waiting if lack <= 0]
        waiting = [(one, lack) for one, lack in waiting if lack > 0]
        ends.append(len(steps) - 1)
    steps += [one for one, _ in waiting]  # the check of the arguments says what they lack
    constraints = tuple(
        c if c.until is None else replace(c, until=ends[c.until]) for c in directive.constraints
    )
    return replace(directive, steps=tuple(steps), constraints=constraints)


def fault_of(step: Step, skills: SkillTable) -> str:
    """Return why a step that names a skill cannot be done whatever the world is like; "" where it can."""
    own = sorted(skills.of_users)
    there = f"skills here are {', '.join(own)}" if own else "no skills are added here (shared.skills_file)"
    if Skill(step.skill) in WALKING:
        return f"{step.skill} is the robot's own: say where to go instead"
    if step.skill not in own:
        return f"there is no skill {step.skill[:40]!r}; {there}"
    arity, given = skills.rule(Skill(step.skill)).arity, len(things_of(step))
    return f"{step.skill} needs {arity} things, and {given} are named" if given < arity else ""


def things_of(step: Step) -> tuple[Item, ...]:
    """Return what a step that names a skill is about, in the order of the skill's arguments."""
    return tuple(item for item in (step.item, *step.others) if item is not None)


def _split(step: Step, skills: SkillTable) -> tuple[Step, list[tuple[Step, int]]]:
    """Return the step without what skills do, and the steps that do it, each with the number of things it lacks."""
    made = []
    unable = []
    for words in step.unable:
        skill = skills.named_by(words)
        if skill is None:
            unable.append(words)
            continue
        item = None if step.item is None else replace(step.item, count=1)
        lack = skills.rule(skill).arity - (item is not None)
        made.append((Step(StepKind.DO, item, question=words, skill=skill.value), lack))
    return replace(step, unable=tuple(unable)), made


def _with_thing(made: Step, lack: int, item: Item | None) -> tuple[Step, int]:
    return (made, lack) if item is None else (replace(made, others=(*made.others, item)), lack - 1)
