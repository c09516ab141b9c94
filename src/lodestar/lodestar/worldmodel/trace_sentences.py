"""Wording of traces and beliefs as sentences for people."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from lodestar.models.english import with_article
from lodestar.scene.captions import clean_text
from lodestar.worldmodel.records import ROBOT, Belief, Expectation, Phase, Skill, Trace, entity_of, region_of

Names = Callable[[int], str]  # entity id -> name, "" if unknown
_WALL_TIME = 1e9  # s; smaller stamps are simulated time

_RELATIONS = {
    "Near": "near", "NextTo": "next to", "On": "on", "Above": "above", "Below": "below", "Inside": "in",
    "InRegion": "in", "LeftOf": "left of", "RightOf": "right of", "InFrontOf": "in front of", "Behind": "behind",
    "Opposite": "opposite", "Closest": "the one closest to", "Farthest": "the one farthest from",
}  # fmt: skip


def nameless(entity_id: int) -> str:
    """Return "" for every entity: the default of `names` for callers without names."""
    return ""


def moment(stamp: float) -> str:
    """Return a stamp as text: a date and time, or seconds of simulated time."""
    if stamp >= _WALL_TIME:
        return f"At {datetime.fromtimestamp(stamp):%Y-%m-%d %H:%M:%S}"
    return f"At {stamp:.1f} s"


def action_in_words(trace: Trace, names: Names = nameless) -> str:
    """Return the action in words: "go to a red chair (entity 12), standing at (1.0, 2.0)"."""
    action = trace.action
    goal = "" if action.goal is None else f"({action.goal[0]:.1f}, {action.goal[1]:.1f})"
    things = ", ".join(name_in_words(name, names) for name in action.arguments)
    words = {
        Skill.GO_TO: f"go to {things}, standing at {goal}" if things else f"go to {goal}",
        Skill.SEARCH: f"look around from {goal}",
        Skill.TURN: "turn on the spot",
        Skill.RETURN: f"return to the start at {goal}",
        Skill.CHARGE: f"go to the charger at {goal}",
        Skill.STEP_ASIDE: f"step aside to {goal}",
    }
    return words.get(action.skill) or f"do {action.skill.value[:40]}({things})"


def belief_in_words(belief: Belief, names: Names = nameless) -> str:
    """Return a belief in words: "a red chair (entity 12) is next to a desk (entity 7)".

    "nothing" stands for missing arguments.
    """
    things = [name_in_words(name, names) for name in belief.arguments] or ["nothing"]
    verb = "is not" if belief.negated else "is"
    if belief.predicate == "Between" and len(things) == 3:
        return f"{things[0]} {verb} between {things[1]} and {things[2]}"
    relation = _RELATIONS.get(belief.predicate, belief.predicate)
    return f"{things[0]} {verb} {relation} {' and '.join(things[1:])}".rstrip()


def expectation_in_words(expectation: Expectation, stamp: float, names: Names = nameless) -> str:
    """Return the expected state and its deadline as a sentence. stamp: of the trace."""
    phase, about = expectation.phase, name_in_words(expectation.about, names) if expectation.about else ""
    outcomes = {
        Phase.AT: f"stand before {about}" if about else "stand at the goal",
        Phase.EXPLORING: "see new space",
        Phase.RETURNING: "be back",
    }
    wanted = [outcomes.get(phase, f"be {phase.value.lower()}{f' {about}' if about else ''}")]
    if expectation.visible:
        wanted.append(f"see {', '.join(name_in_words(f'entity:{i}', names) for i in expectation.visible)}")
    within = f" within {expectation.by - stamp:.0f} s" if expectation.by < float("inf") else ""
    holding = "".join(f", and that {belief_in_words(belief, names)}" for belief in expectation.beliefs)
    return f"Expected: to {' and to '.join(wanted)}{within}{holding}."


def name_in_words(name: str, names: Names = nameless) -> str:
    """Return a name from a belief in words: "a red chair (entity 12)", "region 3", "the robot"."""
    entity, region = entity_of(name), region_of(name)
    if entity is not None:
        words = clean_text(names(entity))
        return f"{with_article(words)} (entity {entity})" if words else f"entity {entity}"
    if region is not None:
        return f"region {region}"
    return "the robot" if name == ROBOT else clean_text(name)
