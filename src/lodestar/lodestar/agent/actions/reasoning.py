"""Traces of the loop's actions: what is believed, expected and done otherwise (VLM-DEWM 3.3.3)."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.decisions.proposers import ASIDE, CHARGER, EXPLORER, HOME, LOOK
from lodestar.agent.decisions.targets import TargetView
from lodestar.agent.errands.context import LoopContext
from lodestar.experts.protocol import ActionKind, Proposal
from lodestar.language.directive import Step
from lodestar.language.query_graph import VIEWED
from lodestar.worldmodel.records import (
    Action,
    Belief,
    Expectation,
    Phase,
    Skill,
    Trace,
    entity_name,
)

_SKILLS = {HOME: Skill.RETURN, CHARGER: Skill.CHARGE, ASIDE: Skill.STEP_ASIDE, LOOK: Skill.TURN}
_PHASES = {
    Skill.GO_TO: Phase.AT,
    Skill.SEARCH: Phase.EXPLORING,
    Skill.TURN: Phase.EXPLORING,
    Skill.RETURN: Phase.RETURNING,
    Skill.CHARGE: Phase.RETURNING,
    Skill.STEP_ASIDE: Phase.EXPLORING,
}
_FALLBACKS = {
    Skill.GO_TO: "look at it from another side, then take the next candidate",
    Skill.SEARCH: "leave this place out and ask the experts again",
    Skill.TURN: "ask the experts again",
    Skill.RETURN: "try again from another pose",
    Skill.CHARGE: "try again from another pose",
    Skill.STEP_ASIDE: "step to another side",
}
_PLACE_FALLBACK = "try another pose there, then report that it cannot be reached"


def goal_patience(start: np.ndarray, goal: np.ndarray, context: LoopContext) -> float:
    """Return seconds that the drive from start (3,) to goal (3,) may take."""
    config = context.config
    straight = math.hypot(goal[0] - start[0], goal[1] - start[1])
    return config.goal_time_base + 2.0 * straight / config.slowest_speed


def trace_of(context: LoopContext, step: Step, proposal: Proposal, epoch: int, view: TargetView) -> Trace:
    """Return the trace of carrying out a proposal. view: of the step's target, for the beliefs about it."""
    facts = context.facts
    entity = facts.entity(proposal.entity_id)
    entity_id = entity.id if entity is not None else proposal.entity_id
    skill = _skill(proposal)
    about = entity_name(entity_id) if entity_id else ""
    goal = np.asarray(proposal.goal, np.float64)
    stamp = facts.stamp.seconds
    beliefs = _beliefs(step, view, entity_id)
    lasting = tuple(b for b in beliefs if b.predicate not in VIEWED)  # the others depend on where one stands
    known = facts.pose is not None and goal.shape == (3,) and np.isfinite(goal).all()
    return Trace(
        id=context.trace_id(epoch),
        epoch=epoch,
        stamp=stamp,
        proposer=proposal.expert,
        action=Action(skill, (about,) if about else (), goal),
        expectation=Expectation(
            Phase.AT if about else _PHASES[skill],
            about,
            lasting,
            visible=(entity_id,) if about else (),
            by=stamp + goal_patience(facts.pose, goal, context)
            if known and facts.pose is not None
            else math.inf,
        ),
        confidence=float(proposal.confidence),
        beliefs=beliefs,
        reason=proposal.rationale,
        fallback=_FALLBACKS[skill] if about or skill != Skill.GO_TO else _PLACE_FALLBACK,
        evidence_entities=proposal.evidence_entities or ((entity_id,) if about else ()),
        evidence_keyframes=proposal.evidence_keyframes,
    )


def _skill(proposal: Proposal) -> Skill:
    if proposal.action is not ActionKind.GO:
        return Skill.TURN
    exploring = proposal.expert == EXPLORER and not proposal.entity_id
    return _SKILLS.get(proposal.expert, Skill.SEARCH if exploring else Skill.GO_TO)


def _beliefs(step: Step, view: TargetView, entity_id: int) -> tuple[Belief, ...]:
    """Return the relations for which an entity was accepted as the target; none while it is only a candidate."""
    candidate = next((c for c in view.accepted if c.entity_id == entity_id), None)
    if candidate is None or candidate.reading >= len(step.graphs):
        return ()
    bound = {0: entity_id, **candidate.bindings}
    return tuple(
        Belief(predicate.name, tuple(entity_name(bound[i]) for i in predicate.arguments))
        for predicate in step.graphs[candidate.reading].predicates
        if not predicate.is_literal and not predicate.negated and _is_bound(predicate.arguments, bound)
    )


def _is_bound(arguments: tuple[int, ...], bound: dict[int, int]) -> bool:
    return len(arguments) > 1 and all(i in bound for i in arguments)
