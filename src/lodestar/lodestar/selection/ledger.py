"""Ledger of decisions: context, propensities, outcome and reward of each, and the policy's learning from them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest
from lodestar.experts.registry import holder
from lodestar.experts.specs import Role
from lodestar.geometry.boxes import box_distance
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Step, StepKind
from lodestar.models.lexicon import load_lexicon, words_of
from lodestar.query.targets import TargetView
from lodestar.scene.records import Entity, EntityState
from lodestar.scene.similarity import TIERS
from lodestar.selection.admission import Admission
from lodestar.selection.context import AREA, CONTEXT_DISPLACEMENT_SCALE, ContextBuilder
from lodestar.selection.decisions import ArmRecord, Decision, Outcome
from lodestar.selection.perceived import Match, Perceived, TaskState
from lodestar.selection.policy import Choice, Policy
from lodestar.selection.reward import RewardModel, SubtaskEnd, Turn, credit_shares


def perceive(
    stamp: float,
    area: float,
    pose: np.ndarray | None,
    grid: OccupancyGrid2D | None,
    entities: Mapping[int, Entity],
    view: TargetView | None,
    step: Step,
) -> Perceived:
    """Return the robot's perception at `stamp` seconds. view: targets of `step`, None = not evaluated; a view without
    a target gives an empty tuple of matches.
    """
    matches = None
    if view is not None:
        known = [c for c in view.candidates if c.entity_id in entities]
        matches = _matches(
            [entities[c.entity_id] for c in known], [c.semantic_score for c in known], pose, step
        )
    present = sum(entity.state is not EntityState.ARCHIVED for entity in entities.values())
    return Perceived(stamp, area, pose, present, matches, view.neighbor if view is not None else 0.0, grid)


def _matches(
    entities: Sequence[Entity], similarities: Sequence[float], pose: np.ndarray | None, step: Step
) -> tuple[Match, ...]:
    distances = np.full(len(entities), math.inf)
    if pose is not None and len(entities):
        here = np.asarray(pose[:2], np.float64)
        low, high = np.array([e.box_min for e in entities]), np.array([e.box_max for e in entities])
        distances = box_distance(here, here, low[:, :2], high[:, :2])
    wanted = _words_wanted(step)
    return tuple(
        Match(float(similarity), float(distance), bool(wanted & _kinds(f"{entity.label} {entity.caption}")))
        for entity, similarity, distance in zip(entities, similarities, distances)
    )


def _words_wanted(step: Step) -> frozenset[str]:
    """Return the kinds that the target may have: the categories of its readings, or the target's last word."""
    categories = [graph.variables[0].category for graph in step.graphs]
    if not categories:
        categories = words_of(step.target)[-1:]
    return frozenset().union(*(_kinds(category) for category in categories))


@lru_cache(maxsize=16384)
def _kinds(text: str) -> frozenset[str]:
    """Return the words of a text in the singular, and their canonical names in the lexicon."""
    known = load_lexicon()
    singular = {known.singular(word) for word in words_of(text)}
    names = {known.canonical(word) for word in singular} | {known.canonical(text)}
    return frozenset(singular | {name for name in names if name is not None})


def modality_of(step: Step) -> str:
    """Return how the target is given: "image", "description" (with attributes, relations or neighbours) or
    "object".
    """
    if step.item is not None and step.item.images:
        return "image"
    described = step.neighbors or any(
        len(graph.variables) > 1 or any(p.name != "IsCategory" for p in graph.predicates)
        for graph in step.graphs
    )
    return "description" if described else "object"


VIEWER = holder(Role.VIEWER)  # the expert whose confidence is V_vlm
STUCK_DISTANCE = 0.15  # m; a turn that ends closer to its start counts as no motion
SHOWN = TIERS[1]  # similarity from which an entity counts as the target; as SEQUENCE_SIGMA
STUCK_TIME = 2.0  # s; a shorter turn does not count as stuck
# multiple of the goal's expected seconds; the rest of a longer turn is a delay and not counted; chosen
HELD_UP = 3.0


@dataclass
class _Open:
    """The decision whose outcome is still unknown. before: perception at the decision; v_vlm: V_vlm at that
    time.
    """

    decision: Decision
    proposal: Proposal
    context: np.ndarray
    arm: int
    backtracking: float
    before: Perceived
    v_vlm: float


class Ledger:
    """Keeps one open decision at a time; closing it trains the policy and returns the final record."""

    def __init__(self, policy: Policy, builder: ContextBuilder, rewards: RewardModel) -> None:
        if tuple(policy.names) != builder.names:
            raise ValueError(f"the policy learns of {policy.names}, the context has {builder.names}")
        self._policy = policy
        self.builder = builder
        self._rewards = rewards
        self._open: _Open | None = None
        self._started, self._limit = 0.0, math.inf
        self._viewed = (0.0, -math.inf)  # newest confidence of the viewer, and its loop time
        self.begin_subtask(0.0)

    @property
    def arms(self) -> tuple[str, ...]:
        """Return the names of the arms, in the policy's order."""
        return self._policy.arms

    @property
    def step(self) -> Step:
        """Return the step of the open decision."""
        return self._step

    def begin_directive(self, stamp: float, time_limit: float) -> None:
        """Begin a directive at `stamp` with `time_limit` seconds, and reset the confidence of the expert that
        judges images.
        """
        self._started, self._limit = stamp, time_limit
        self._viewed = (0.0, -math.inf)
        self.builder.begin()
        self.begin_subtask(stamp)

    def begin_subtask(self, stamp: float) -> None:
        """Begin a subtask: earlier turns get no share of later success, and no arm is masked."""
        self._turns: list[tuple[np.ndarray, int]] = []
        self._empties: Counter[int] = Counter()  # arm -> empty choices in this subtask
        self._streak: Counter[int] = Counter()  # arm -> consecutive empty choices
        self._policy.begin()
        self._began = stamp
        self._step = Step(StepKind.EXPLORE)

    def choose(
        self,
        request: ProposalRequest,
        admission: Admission,
        step: Step,
        now: Perceived,
        newest: float,
        map_id: int,
        trace_id: str = "",
        stood: float = 0.0,
    ) -> tuple[Decision, Proposal]:
        """Open a decision: let the policy choose among the admitted arms (at least one), and return it with
        its proposal.

        newest: stamp in seconds of the facts in `now`. trace_id: id of the trace of its action. stood: see
        `Decision`.
        """
        proposals = {a.expert: a.proposal for a in admission.arms if a.proposal is not None}
        self._step = step
        v_vlm = self._hear(admission, now.stamp, newest)
        contexts, by_arm = self.builder.build(
            now, proposals, v_vlm, now.stamp - self._viewed[1], self._task(request, now.stamp)
        )
        admission = self._masked(admission)
        admitted = {a.expert: a.admissible for a in admission.arms}
        admissible = np.array([admitted.get(name, False) for name in self.arms])
        choice = self._policy.choose(contexts, admissible)
        name = self.arms[choice.arm]
        proposal = proposals[name]
        context = {n: float(v) for n, v in zip(self.builder.names, contexts[choice.arm])}
        for feature, values in by_arm.items():
            context.update({f"{feature}.{arm}": float(value) for arm, value in zip(self.arms, values)})
        context[AREA] = float(now.area)
        decision = Decision(
            epoch=request.epoch,
            stamp=request.stamp,
            directive=request.directive.text,
            subtask=request.step_index,
            context=context,
            arms=_records(self.arms, admission, choice),
            chosen=name,
            map_id=map_id,
            evidence_entities=proposal.evidence_entities
            or ((proposal.entity_id,) if proposal.entity_id else ()),
            evidence_keyframes=proposal.evidence_keyframes,
            trace_id=trace_id,
            explanation=_explanation(name, proposal, admission, choice),
            stood=stood,
        )
        self._open = _Open(
            decision,
            proposal,
            contexts[choice.arm].copy(),
            choice.arm,
            float(by_arm["backtracking"][choice.arm]),
            now,
            v_vlm,
        )
        self.builder.chosen(choice.arm, now)
        return decision, proposal

    def close(
        self, outcome: Outcome, now: Perceived, success: bool = False, ended: bool = False
    ) -> Decision | None:
        """Close the open decision with outcome and reward, train the policy, and return the record; None if none is
        open.

        success: the loop verified the target. ended: the subtask is over, successful or not.
        """
        if self._open is None:
            return None
        turn, self._open = self._open, None
        reward = self._rewards.turn(self._judge(turn, outcome, now))
        shared = 0.0
        if success or ended:
            used = (now.stamp - self._began) / max(self._started + self._limit - self._began, 1e-9)
            end = SubtaskEnd(success, now.matches or (), self.builder.settled, used)
            shared = self._rewards.subtask(end)
        reward["success"] = shared
        reward["total"] = sum(reward.values())
        self._policy.update(turn.context, turn.arm, reward["total"], _seconds(turn, now))
        shares = credit_shares(self._rewards.decay, len(self._turns) + 1)
        for (context, arm), share in zip(self._turns, shares):
            if shared:
                self._policy.credit(context, arm, share * shared)
        self._turns.append((turn.context, turn.arm))
        return replace(turn.decision, outcome=outcome, reward=reward)

    def _hear(self, admission: Admission, now: float, newest: float) -> float:
        """Return V_vlm: the newest confidence of the expert that judges images, which is kept while its next
        answer is late.
        """
        arm = next((a for a in admission.arms if a.expert == VIEWER), None)
        if arm is not None and arm.proposal is not None:
            stamp = arm.proposal.stamp  # of the image
            age = max(newest - stamp, 0.0) if stamp > 0.0 else 0.0
            self._viewed = (arm.proposal.confidence, now - age)
        elif arm is not None and not arm.is_silent:  # the viewer answered that it sees no target
            self._viewed = (0.0, now)
        return self._viewed[0]

    def _task(self, request: ProposalRequest, stamp: float) -> TaskState:
        return TaskState(
            budget_left=1.0 - (stamp - self._started) / self._limit,
            progress=request.step_index / max(len(request.directive.steps), 1),
            modality=modality_of(self._step),
        )

    def _masked(self, admission: Admission) -> Admission:
        """Return the admission without the arms that were chosen too many times in a row without effect,
        unless no other arm is admissible.
        """
        limit = self._rewards.mask_after
        masked = {self.arms[arm] for arm, count in self._streak.items() if 0 < limit <= count}
        if not any(arm.expert not in masked for arm in admission.admissible):
            return admission
        reason = f"masked: {limit} picks in a row led nowhere"
        arms = tuple(
            replace(arm, admissible=False, reason=reason) if arm.admissible and arm.expert in masked else arm
            for arm in admission.arms
        )
        return replace(admission, arms=arms)

    def _judge(self, turn: _Open, outcome: Outcome, now: Perceived) -> Turn:
        """Return the effects of the turn for the reward. Also count choices that gave no goal or were
        aborted.
        """
        builder, before = self.builder, turn.before
        reached = outcome in (Outcome.REACHED, Outcome.PREEMPTED)
        empty = outcome is Outcome.ABORTED or turn.proposal.action is not ActionKind.GO
        self._streak[turn.arm] = self._streak[turn.arm] + 1 if empty else 0
        self._empties[turn.arm] += empty
        moved = builder.displacement(now, before)
        return Turn(
            coverage_rate=builder.rate(now.area, before.area),
            backtracking=turn.backtracking,
            vlm=turn.v_vlm if self.arms[turn.arm] == VIEWER else 0.0,
            similarity=builder.similarity(now),
            similarity_change=now.best - before.best if now.matches is not None else 0.0,
            discovery=builder.discovery(now, before),
            displacement=min(moved / CONTEXT_DISPLACEMENT_SCALE, 1.0),
            stuck=bool(self._turns) and now.stamp - before.stamp >= STUCK_TIME and moved < STUCK_DISTANCE,
            empty=empty and self._empties[turn.arm] <= self._rewards.max_empty,
            reached=reached,
            shown=now.matches is not None and before.best < SHOWN <= now.best,
        )


def _seconds(turn: _Open, now: Perceived) -> float:
    """Return the seconds of a turn from which the policy learns: at most HELD_UP times the expected seconds
    of its goal.
    """
    took, told = max(now.stamp - turn.before.stamp, 0.0), turn.proposal.seconds
    return min(took, HELD_UP * told) if told is not None and told > 0.0 else took


def _records(arms: tuple[str, ...], admission: Admission, choice: Choice) -> tuple[ArmRecord, ...]:
    by_name = {a.expert: a for a in admission.arms}
    records = []
    for index, name in enumerate(arms):
        arm = by_name.get(name)
        admissible = arm is not None and arm.admissible
        estimated = admissible and math.isfinite(choice.bounds[index])
        records.append(
            ArmRecord(
                expert=name,
                admissible=admissible,
                reason=arm.reason if arm is not None else "not asked",
                estimate=float(choice.estimates[index]) if estimated else 0.0,
                bound=float(choice.bounds[index]) if estimated else 0.0,
                propensity=float(choice.propensities[index]),
                proposal=arm.proposal if arm is not None else None,
            )
        )
    return tuple(records)


def _explanation(name: str, proposal: Proposal, admission: Admission, choice: Choice) -> str:
    bound, share = float(choice.bounds[choice.arm]), float(choice.propensities[choice.arm])
    others = [a.expert for a in admission.arms if a.admissible and a.expert != name]
    text = f"{name}: {proposal.rationale}"
    if admission.note:
        return f"{text} ({admission.note})"
    if not others:
        return f"{text} (the only one with something to propose)"
    if not math.isfinite(bound):
        return f"{text} (picked with probability {share:.2f})"
    return f"{text} (bound {bound:.2f}, picked with probability {share:.2f})"
