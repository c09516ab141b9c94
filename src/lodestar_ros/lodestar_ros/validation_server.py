"""The service that validates traces and proposals for clients other than the decision loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lodestar.experts.protocol import Proposal
from lodestar.worldmodel.records import (
    Action,
    Expectation,
    Phase,
    Skill,
    Trace,
    TraceError,
    Verdict,
    entity_name,
)
from lodestar.worldmodel.validation import TraceValidator
from lodestar_interfaces import msg
from lodestar_interfaces.srv import ValidateTrace
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_agent import proposal_from_msg
from lodestar_ros.conversions_world import belief_to_msg, trace_from_msg
from lodestar_ros.node import LodestarNode
from lodestar_ros.services import ServiceWorker


class ValidationServer:
    """Serves ``~/validate`` on a worker, for a trace, or for a proposal if the trace has no skill.

    has_scene: returns whether the scene was received; before that every entity is unknown.
    """

    def __init__(
        self, node: LodestarNode, validator: TraceValidator, has_scene: Callable[[], bool] = lambda: True
    ) -> None:
        self._node, self._validator, self._has_scene = node, validator, has_scene
        self._refused = 0
        node.diagnostics.value("validate.refused", lambda: self._refused)
        ServiceWorker(node, ValidateTrace, "~/validate", self._validate)

    def _validate(
        self, request: ValidateTrace.Request, response: ValidateTrace.Response
    ) -> ValidateTrace.Response:
        now = self._node.now
        trace_id, phase = request.trace.id, request.trace.expected_phase
        try:
            trace = trace_from_msg(request.trace) if request.trace.skill else _trace_of(request.proposal, now)
            verdict = self._validator.check(trace, now)
        except BadMessage as error:
            verdict = Verdict(TraceError.MALFORMED, str(error))
        if verdict.code is TraceError.UNKNOWN_ENTITY and not self._has_scene():
            verdict = replace(verdict, reason=f"{verdict.reason}: the scene has not been heard yet")
        self._refused += not verdict.accepted
        response.accepted = verdict.accepted
        response.error_code, response.error_msg = int(verdict.code), verdict.reason
        if not verdict.accepted:
            missing = [] if verdict.belief is None else [belief_to_msg(verdict.belief)]
            response.discrepancy = msg.Discrepancy(
                trace_id=trace_id, expected_state=phase, missing=missing, likely_cause=verdict.code.name
            )
        return response


def _trace_of(message: msg.Proposal, now: float) -> Trace:
    """Return the trace of a proposal: go to its goal and stand before its entity. Raises BadMessage."""
    proposal: Proposal = proposal_from_msg(message)
    about = entity_name(proposal.entity_id) if proposal.entity_id else ""
    return Trace(
        id=f"{proposal.expert}-{proposal.epoch}",
        epoch=proposal.epoch,
        stamp=now,
        proposer=proposal.expert,
        action=Action(Skill.GO_TO, (about,) if about else (), np.asarray(proposal.goal, np.float64)),
        expectation=Expectation(Phase.AT, about),
        confidence=float(proposal.confidence),
        reason=proposal.rationale,
    )
