"""Skills as data: what must hold before, what is staged, and the phase meanwhile (VLM-DEWM table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from lodestar.worldmodel.amendments import Amendment, Change
from lodestar.worldmodel.records import Belief, Phase, Skill, Trace, entity_of

GOALS = ("free", "any", "none")
TARGETS = ("", "faces")


class BadSkills(ValueError):
    """The table is no table of skills; the message says where."""


@dataclass(frozen=True)
class Effect:
    """An amendment with places for the action's arguments: "$1", "$2"."""

    change: Change
    entity: str = ""
    label: str = ""
    predicate: str = ""
    arguments: tuple[str, ...] = ()
    negated: bool = False


@dataclass(frozen=True)
class SkillRule:
    """The table's row of a skill. goal: of GOALS, target: of TARGETS."""

    phase: Phase
    goal: str = "any"
    target: str = ""
    energy: bool = False
    effects: tuple[Effect, ...] = ()


class SkillTable:
    """The rules by skill."""

    def __init__(self, rules: Mapping[Skill, SkillRule]) -> None:
        self._rules = dict(rules)

    def rule(self, skill: Skill) -> SkillRule:
        """Return the rule of a skill."""
        return self._rules[skill]

    def effects(self, trace: Trace) -> tuple[Amendment, ...]:
        """Return what a trace's action changes where it is committed. Effects whose arguments are missing are none."""
        arguments = {f"${n}": name for n, name in enumerate(trace.action.arguments, 1)}
        made = (_amendment(effect, arguments, trace) for effect in self.rule(trace.action.skill).effects)
        return tuple(amendment for amendment in made if amendment is not None)


def _amendment(effect: Effect, arguments: Mapping[str, str], trace: Trace) -> Amendment | None:
    names = [arguments.get(name, name) for name in (effect.entity, *effect.arguments)]
    if any(name.startswith("$") for name in names):
        return None
    belief = Belief(effect.predicate, tuple(names[1:]), effect.negated) if effect.predicate else None
    entity = entity_of(names[0]) or 0
    reason = f"{trace.action} succeeded"
    return Amendment(effect.change, reason, "skill", entity, effect.label, belief, None, trace.id)


def read_skills(text: str) -> SkillTable:
    """Return the table of a YAML text. Raises BadSkills."""
    try:
        table = yaml.safe_load(text)
        rules = {Skill(name): _rule(given) for name, given in table.items()}
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadSkills(f"the table of skills: {error.__class__.__name__}: {error}") from error
    missing = [skill.value for skill in Skill if skill not in rules]
    if missing:
        raise BadSkills(f"the table of skills lacks {', '.join(missing)}")
    return SkillTable(rules)


def _rule(given: Mapping[str, Any]) -> SkillRule:
    unknown = set(given) - {"goal", "target", "energy", "phase", "effects"}
    goal, target = str(given.get("goal", "any")), str(given.get("target", ""))
    if unknown or goal not in GOALS or target not in TARGETS:
        raise ValueError(f"unknown key or value: {sorted(unknown) or (goal, target)}")
    effects = tuple(_effect(effect) for effect in given.get("effects", ()))
    return SkillRule(Phase(given["phase"]), goal, target, bool(given.get("energy", False)), effects)


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
    """Return the robot's own table."""
    return read_skills(Path(__file__).with_name("skills.yaml").read_text())
