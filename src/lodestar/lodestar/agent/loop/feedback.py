"""Feedback on the running directive, for the client of the action."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.decisions.admission import CHARGER, HOME, PLACE
from lodestar.agent.errands.commands import Feedback, State
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.words import directive_in_words


def feedback_of(context: LoopContext) -> Feedback:
    """Return the feedback on the running directive: state, goal, reason, distances and coverage."""
    facts, run = context.facts, context.run
    navigation = None if run is None else run.under_way.navigation
    proposal = None if navigation is None else navigation.proposal
    return Feedback(
        phase=_phase(context),
        expert="" if proposal is None else proposal.expert,
        subtask=0 if run is None else run.step_index,
        epoch=context.epoch if navigation is None else navigation.epoch,
        distance_remaining=math.nan if navigation is None else navigation.distance_remaining,
        distance_travelled=0.0 if run is None else facts.odometer.distance - run.distance_before,
        coverage=facts.area,
        goal=None if proposal is None else np.asarray(proposal.goal, np.float64).copy(),
        text="" if run is None else run.text,
        understood="" if run is None else directive_in_words(run.directive),
        constraint=str(context.constraint.state),
        unseen="" if run is None else context.words.unseen,
    )


def _phase(context: LoopContext) -> str:
    """Return the name of the state; while the robot drives, the purpose of the drive."""
    navigation = None if context.run is None else context.run.under_way.navigation
    if navigation is None or context.state is not State.NAVIGATING:
        return context.state.name
    proposal = navigation.proposal
    if proposal.expert in (HOME, CHARGER):
        return "RETURNING"
    return "APPROACHING" if proposal.entity_id or proposal.expert == PLACE else "EXPLORING"
