"""Steps for user-defined skills (DO steps), made from clauses of a directive that the robot cannot do."""

from __future__ import annotations

from dataclasses import replace

from lodestar.language.directive import Directive, Item, Step, StepKind
from lodestar.worldmodel.records import WALKING, Skill
from lodestar.worldmodel.skills import SkillTable


def with_skills(directive: Directive, skills: SkillTable) -> Directive:
    """Return the directive with a DO step for each clause that only a user-defined skill can do.

    A skill is recognised by its verb at the begin of the clause. The DO step follows the step that finds its
    object ("find the mug and pick it up"). A skill with several objects takes the objects of the next steps
    too ("put the mug on the table"), and its DO step follows the last of them.
    """
    if not skills.verbs:
        return directive
    waiting: list[tuple[Step, int]] = []  # (step of a skill, number of missing objects)
    steps: list[Step] = []
    ends: list[int] = []  # step index -> index of its last resulting step
    for step in directive.steps:
        waiting = [_with_thing(made, lack, step.item) for made, lack in waiting]
        able, made = _split(step, skills)
        waiting += made
        steps.append(able)
        steps += [done for done, lack in waiting if lack <= 0]
        waiting = [(one, lack) for one, lack in waiting if lack > 0]
        ends.append(len(steps) - 1)
    steps += [one for one, _ in waiting]  # `fault_of` reports the missing objects
    constraints = tuple(
        c if c.until is None else replace(c, until=ends[c.until]) for c in directive.constraints
    )
    return replace(directive, steps=tuple(steps), constraints=constraints)


def fault_of(step: Step, skills: SkillTable) -> str:
    """Return why a DO step is impossible in any state of the world; "" if it is possible."""
    own = sorted(skills.of_users)
    there = f"skills here are {', '.join(own)}" if own else "no skills are added here (shared.skills_file)"
    if Skill(step.skill) in WALKING:
        return f"{step.skill} is the robot's own: say where to go instead"
    if step.skill not in own:
        return f"there is no skill {step.skill[:40]!r}; {there}"
    arity, given = skills.rule(Skill(step.skill)).arity, len(things_of(step))
    return f"{step.skill} needs {arity} things, and {given} are named" if given < arity else ""


def things_of(step: Step) -> tuple[Item, ...]:
    """Return the objects of a DO step, in the order of the skill's arguments."""
    return tuple(item for item in (step.item, *step.others) if item is not None)


def _split(step: Step, skills: SkillTable) -> tuple[Step, list[tuple[Step, int]]]:
    """Return the step without clauses of skills, and the DO steps, each with its count of missing objects."""
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
