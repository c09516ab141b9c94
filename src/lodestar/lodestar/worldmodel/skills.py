"""Table of skills: preconditions, staged effects, and phase (VLM-DEWM table 1)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from lodestar.language.query_graph import PREDICATES
from lodestar.worldmodel.amendments import Amendment, Change
from lodestar.worldmodel.records import WALKING, Action, Belief, Phase, Skill, entity_of

_NAME = re.compile(r"[A-Z][A-Za-z]{0,39}")
GOALS = ("free", "any", "none")
TARGETS = ("", "faces")


class BadSkills(ValueError):
    """Raised for an invalid table of skills; the message says where it is wrong."""


@dataclass(frozen=True)
class Effect:
    """Amendment that a committed action makes, with placeholders for the action's arguments: "$1", "$2"."""

    change: Change
    entity: str = ""
    label: str = ""
    predicate: str = ""
    arguments: tuple[str, ...] = ()
    negated: bool = False


@dataclass(frozen=True)
class SkillRule:
    """A skill's row in the table. goal: one of GOALS, target: one of TARGETS.

    requires: beliefs that the geometry must not contradict before the action. confirms: beliefs that it must
    not contradict after a reported success; otherwise the action is rolled back. Both have placeholders for
    the action's arguments.
    """

    phase: Phase
    goal: str = "any"
    target: str = ""
    energy: bool = False
    effects: tuple[Effect, ...] = ()
    requires: tuple[Belief, ...] = ()
    confirms: tuple[Belief, ...] = ()
    verbs: tuple[str, ...] = ()  # of a person's request, such as "pick up"
    patience: float = 60.0  # maximum duration, s; chosen: an arm's grasp with a second try

    @property
    def arity(self) -> int:
        """Return the number of arguments that the beliefs need."""
        names = [name for belief in (*self.requires, *self.confirms) for name in belief.arguments]
        return max((int(name[1:]) for name in names if _is_place(name)), default=0)


class SkillTable:
    """The rules of all skills."""

    def __init__(self, rules: Mapping[Skill, SkillRule]) -> None:
        self._rules = dict(rules)

    def knows(self, skill: Skill) -> bool:
        """Return whether the table has this skill."""
        return skill in self._rules

    @property
    def of_users(self) -> tuple[str, ...]:
        """Return the names of the user-defined skills."""
        return tuple(skill.value for skill in self._rules if skill not in WALKING)

    @property
    def verbs(self) -> bool:
        """Return whether any skill has a verb, so that a person can request it in words."""
        return any(rule.verbs for rule in self._rules.values())

    def named_by(self, words: str) -> Skill | None:
        """Return the skill whose verb begins the text, longest verb first; None if there is none.

        Other words may separate the words of a verb: "pick the mug up".
        """
        said = words.casefold().split()
        verbs = [
            (verb.casefold().split(), skill) for skill, rule in self._rules.items() for verb in rule.verbs
        ]
        fitting = [(len(verb), skill) for verb, skill in verbs if _begins(said, verb)]
        return max(fitting, key=lambda pair: pair[0])[1] if fitting else None

    def rule(self, skill: Skill) -> SkillRule:
        """Return the rule of a skill. Raises KeyError if there is none."""
        return self._rules[skill]

    def effects(self, action: Action, trace_id: str) -> tuple[Amendment, ...]:
        """Return the effects of a committed action as amendments. Effects with missing arguments are left out."""
        rule = self._rules.get(action.skill)
        made = (_amendment(effect, action, trace_id) for effect in (() if rule is None else rule.effects))
        return tuple(amendment for amendment in made if amendment is not None)

    def required(self, action: Action) -> tuple[Belief, ...]:
        """Return the preconditions of an action, filled with its arguments, of which none may be missing."""
        return tuple(_filled(belief, action) for belief in self.rule(action.skill).requires)

    def confirmed(self, action: Action) -> tuple[Belief, ...]:
        """Return the postconditions of an action, except those for which an argument is missing."""
        rule = self._rules.get(action.skill)
        made = (_filled(belief, action) for belief in (() if rule is None else rule.confirms))
        return tuple(belief for belief in made if not any(map(_is_place, belief.arguments)))

    def with_more(self, other: SkillTable) -> SkillTable:
        """Return the table with the rows of another one added. Raises BadSkills for a skill that both have."""
        both = [skill.value for skill in other._rules if skill in self._rules]
        if both:
            raise BadSkills(f"{', '.join(both)}: the robot has this skill; give another name")
        return SkillTable({**self._rules, **other._rules})


def _begins(said: list[str], verb: list[str]) -> bool:
    rest = iter(said[1:])
    return said[:1] == verb[:1] and all(part in rest for part in verb[1:])


def _is_place(name: str) -> bool:
    return name.startswith("$") and name[1:].isdecimal()


def _arguments(action: Action) -> dict[str, str]:
    return {f"${n}": name for n, name in enumerate(action.arguments, 1)}


def _filled(belief: Belief, action: Action) -> Belief:
    given = _arguments(action)
    return replace(belief, arguments=tuple(given.get(name, name) for name in belief.arguments))


def _amendment(effect: Effect, action: Action, trace_id: str) -> Amendment | None:
    given = _arguments(action)
    names = [given.get(name, name) for name in (effect.entity, *effect.arguments)]
    if any(name.startswith("$") for name in names):
        return None
    belief = Belief(effect.predicate, tuple(names[1:]), effect.negated) if effect.predicate else None
    entity = entity_of(names[0]) or 0
    return Amendment(
        effect.change, f"{action} succeeded", "skill", entity, effect.label, belief, None, trace_id
    )


def read_skills(text: str) -> SkillTable:
    """Return the table of skills in a YAML text. Raises BadSkills."""
    try:
        table = yaml.safe_load(text)
        return SkillTable({_skill(name): _rule(given) for name, given in table.items()})
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadSkills(f"the table of skills: {error.__class__.__name__}: {error}") from error


def _skill(name: Any) -> Skill:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a skill; write it as PickUp")
    return Skill(name)


def _rule(given: Mapping[str, Any]) -> SkillRule:
    unknown = set(given) - {
        "goal",
        "target",
        "energy",
        "phase",
        "effects",
        "requires",
        "confirms",
        "verbs",
        "patience",
    }
    goal, target = str(given.get("goal", "any")), str(given.get("target", ""))
    if unknown or goal not in GOALS or target not in TARGETS:
        raise ValueError(f"unknown key or value: {sorted(unknown) or (goal, target)}")
    effects = tuple(_effect(effect) for effect in given.get("effects", ()))
    requires, confirms = (tuple(map(_belief, given.get(name, ()))) for name in ("requires", "confirms"))
    energy = bool(given.get("energy", False))
    verbs, patience = given.get("verbs", ()), float(given.get("patience", SkillRule.patience))
    if isinstance(verbs, str) or not all(isinstance(verb, str) and verb.split() for verb in verbs):
        raise ValueError(f"verbs is a list of words such as [pick up], not {verbs!r}")
    if not 0.0 < patience < math.inf:
        raise ValueError(f"patience is a number of seconds, not {patience}")
    return SkillRule(
        Phase(given["phase"]), goal, target, energy, effects, requires, confirms, tuple(verbs), patience
    )


def _belief(given: Mapping[str, Any]) -> Belief:
    predicate = str(given["predicate"])
    if predicate not in PREDICATES or set(given) - {"predicate", "arguments", "negated"}:
        raise ValueError(f"{predicate!r} is no predicate, or a key besides it is unknown")
    return Belief(predicate, tuple(map(str, given["arguments"])), bool(given.get("negated", False)))


def _effect(given: Mapping[str, Any]) -> Effect:
    return Effect(
        Change(given["change"]),
        str(given.get("entity", "")),
        str(given.get("label", "")),
        str(given.get("predicate", "")),
        tuple(map(str, given.get("arguments", ()))),
        bool(given.get("negated", False)),
    )


@lru_cache(maxsize=1)
def load_skills() -> SkillTable:
    """Return the packaged table of the robot's own skills."""
    table = read_skills(Path(__file__).with_name("skills.yaml").read_text())
    missing = [skill.value for skill in WALKING if not table.knows(skill)]
    if missing:
        raise BadSkills(f"the table of skills lacks {', '.join(missing)}")
    return table


def skills_with(file: str) -> SkillTable:
    """Return the robot's own table with the skills of a user's file added; "" = no file.

    Raises BadSkills, which names the file.
    """
    if not file:
        return load_skills()
    try:
        return load_skills().with_more(read_skills(Path(file).read_text(encoding="utf-8")))
    except (OSError, UnicodeError, BadSkills) as error:
        raise BadSkills(f"{file}: {error}") from error
