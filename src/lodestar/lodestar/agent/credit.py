"""Keeps the books of decisions: context, propensities, outcome, reward, and what the policy learns of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lodestar.agent.admission import Admission
from lodestar.experts.protocol import Proposal, ProposalRequest
from lodestar.selection.context import ContextBuilder
from lodestar.selection.decision_log import ArmRecord, Decision, Outcome
from lodestar.selection.policy import Choice, Policy
from lodestar.selection.reward import RewardConfig, success_shares, turn_reward


@dataclass
class _Turn:
    context: np.ndarray
    arm: int


class Ledger:
    """One open decision at a time; closing it teaches the policy and gives the final record."""

    def __init__(self, policy: Policy, builder: ContextBuilder, rewards: RewardConfig) -> None:
        self._policy = policy
        self.builder = builder
        self._rewards = rewards
        self._open: Decision | None = None
        self._turn: _Turn | None = None
        self._area = 0.0
        self._turns: list[_Turn] = []  # of this subtask

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms, in the policy's order."""
        return self._policy.arms

    def begin_subtask(self) -> None:
        """Turns before now get no share of a success to come."""
        self._turns = []

    def choose(
        self, request: ProposalRequest, admission: Admission, area: float, v_sim: float, map_id: int
    ) -> tuple[Decision, Proposal]:
        """Open the decision that the policy takes among the admitted arms, of which there is at least one."""
        proposals = {a.expert: a.proposal for a in admission.arms if a.proposal is not None}
        v_vlm = proposals["ego_vlm"].confidence if "ego_vlm" in proposals else 0.0
        goals = {name: proposal.goal for name, proposal in proposals.items()}
        contexts = self.builder.build(area, goals, v_vlm, v_sim)
        admitted = {a.expert: a.admissible for a in admission.arms}
        admissible = np.array([admitted.get(name, False) for name in self.arms])
        choice = self._policy.choose(contexts, admissible)
        name = self.arms[choice.arm]
        proposal = proposals[name]
        context = {n: float(v) for n, v in zip(self.builder.names, contexts[choice.arm])}
        for index, arm in enumerate(self.arms):
            context[f"backtracking.{arm}"] = float(contexts[index, self.builder.names.index("backtracking")])
        decision = Decision(
            epoch=request.epoch,
            stamp=request.stamp,
            directive=request.directive.text,
            subtask=request.subtask_index,
            context=context,
            arms=_records(self.arms, admission, choice),
            chosen=name,
            map_id=map_id,
            evidence_entities=proposal.evidence_entities
            or ((proposal.entity_id,) if proposal.entity_id else ()),
            evidence_keyframes=proposal.evidence_keyframes,
            explanation=_explanation(name, proposal, admission, choice),
        )
        self._open, self._turn, self._area = decision, _Turn(contexts[choice.arm].copy(), choice.arm), area
        self.builder.chosen(choice.arm, area)
        return decision, proposal

    def close(self, outcome: Outcome, area: float, v_sim: float, success: bool = False) -> Decision | None:
        """The open decision with outcome and reward, learned from; None where none is open."""
        if self._open is None or self._turn is None:
            return None
        names = self.builder.names
        value = dict(zip(names, self._turn.context))
        chosen_vlm = value["vlm"] if self.arms[self._turn.arm] == "ego_vlm" else 0.0
        reward = turn_reward(
            self._rewards,
            coverage_rate=self.builder.rate(area, self._area),
            backtracking=value["backtracking"],
            vlm=chosen_vlm,
            similarity=self.builder.similarity(v_sim),
            reached=outcome in (Outcome.REACHED, Outcome.PREEMPTED),
            success=success,
        )
        self._policy.update(self._turn.context, self._turn.arm, reward["total"])
        for turn, share in zip(self._turns, success_shares(self._rewards, len(self._turns) + 1)):
            if success:
                self._policy.credit(turn.context, turn.arm, share)
        self._turns.append(self._turn)
        decision = replace(self._open, outcome=outcome, reward=reward)
        self._open = self._turn = None
        return decision


def _records(arms: tuple[str, ...], admission: Admission, choice: Choice) -> tuple[ArmRecord, ...]:
    by_name = {a.expert: a for a in admission.arms}
    records = []
    for index, name in enumerate(arms):
        arm = by_name.get(name)
        admissible = arm is not None and arm.admissible
        records.append(
            ArmRecord(
                expert=name,
                admissible=admissible,
                reason=arm.reason if arm is not None else "not asked",
                estimate=float(choice.estimates[index]) if admissible else 0.0,
                bound=float(choice.bounds[index]) if admissible else 0.0,
                propensity=float(choice.propensities[index]),
                proposal=arm.proposal if arm is not None else None,
            )
        )
    return tuple(records)


def _explanation(name: str, proposal: Proposal, admission: Admission, choice: Choice) -> str:
    index_bound = float(choice.bounds[choice.arm])
    others = [a.expert for a in admission.arms if a.admissible and a.expert != name]
    text = f"{name}: {proposal.rationale}"
    if admission.note:
        return f"{text} ({admission.note})"
    if not others:
        return f"{text} (the only one with something to propose)"
    return f"{text} (bound {index_bound:.2f}, picked with probability {choice.propensities[choice.arm]:.2f})"
