"""Requests to the experts in rounds (epochs): the open round, pending requests of earlier ones, and late
answers that are still valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar.agent.facts.config import LOOP_SAME_GOAL_ANGLE, LOOP_THINKING_PATIENCE
from lodestar.agent.facts.newest import Facts
from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.experts.registry import experts
from lodestar.experts.specs import Role
from lodestar.geometry.poses import apart
from lodestar.grid.config import SAME_GOAL
from lodestar.grid.footprint import footprint_free

# s from a request until a decision with a known target no longer waits for experts that use images (ours)
LOOP_SURE_AFTER = 0.3
LOOP_LATE_ANSWER_AGE = 60.0  # s since the oldest request whose late answer may be used (ours)
# s that an expert that looks at images may take; for a slower one, the robot stops at viewpoint goals (ours)
LOOP_PASS_ANSWER = 1.0

Answer = Proposal | Rejection
VIEWERS = frozenset(spec.name for spec in experts() if Role.VIEWER in spec.roles)


@dataclass(frozen=True)
class Asked:
    """A request that was sent to one expert. asked_at: loop time. labels: entity id -> label at that time.
    is_over: the errand of the request has ended.
    """

    request: ProposalRequest
    asked_at: float
    labels: Mapping[int, str] = field(default_factory=dict)
    is_over: bool = False


@dataclass(frozen=True)
class HeardAnswer:
    """An answer with its request. is_late: it arrived after the decision for which it was requested."""

    asked: Asked
    answer: Answer
    is_late: bool = True


class Requests:
    """The current round of requests to the experts (the open epoch) and their answers. All times are loop
    times.

    An expert with a pending request is not asked again. An expert whose last answer was late is not waited
    for; its late answer is used once, in the next epoch.
    """

    def __init__(self, deadline: float) -> None:
        self._allowed = deadline
        self.request: ProposalRequest | None = None  # None = no epoch is open
        self.asked: tuple[str, ...] = ()
        self.asked_at = 0.0
        self.is_review = False
        self.slow: set[str] = set()
        self._answers: dict[str, HeardAnswer] = {}
        self._thinking: dict[str, Asked] = {}
        self._late: dict[str, HeardAnswer] = {}
        self._is_sure: bool | None = None  # of the `is_sure` check in the open epoch; None = not checked
        self._answered: dict[str, float] = {}  # expert -> loop time of its newest answered request
        self._took: dict[str, float] = {}  # expert -> seconds its newest answer took

    def open(
        self,
        request: ProposalRequest,
        experts: tuple[str, ...],
        now: float,
        labels: Mapping[int, str],
        review: bool = False,
    ) -> tuple[str, ...]:
        """Open the epoch (round) of this request at `now`. Return the experts that must be sent the request:
        those without a pending one.

        labels: see `Asked`.
        """
        patience = LOOP_THINKING_PATIENCE
        self._thinking = {n: r for n, r in self._thinking.items() if now - r.asked_at <= patience}
        idle = tuple(name for name in experts if name not in self._thinking)
        self._thinking |= dict.fromkeys(idle, Asked(request, now, labels))
        self.request, self.asked, self.asked_at = request, experts, now
        self.is_review, self._answers, self._is_sure = review, {}, None
        return idle

    def close(self) -> None:
        """Close the epoch; pending requests keep running."""
        self.request = None

    def end_errand(self) -> None:
        """Ignore answers to earlier requests from now on. Experts with a pending request are still not asked
        again.
        """
        self.request = None
        self._late, self._answers = {}, {}
        self._thinking = {name: replace(one, is_over=True) for name, one in self._thinking.items()}

    def hear(self, answer: Answer, now: float) -> None:
        """Store an answer at `now`. Drop it if the expert has no such request pending, or the request's errand is
        over.
        """
        pending = self._thinking.get(answer.expert)
        if pending is None or pending.request.epoch != answer.epoch:
            return
        del self._thinking[answer.expert]
        self._answered[answer.expert] = pending.asked_at
        self._took[answer.expert] = now - pending.asked_at
        late = now > self._deadline(pending.asked_at)
        (self.slow.add if late else self.slow.discard)(answer.expert)
        if pending.is_over:
            return
        is_late = self.request is not pending.request
        (self._late if is_late else self._answers)[answer.expert] = HeardAnswer(pending, answer, is_late)
        self._is_sure = None

    def is_due(self, now: float, is_sure: Callable[[list[Proposal]], bool] = lambda proposals: False) -> bool:
        """Return whether all awaited experts have answered the open epoch, or its deadline has passed.

        Experts that look at images (VIEWERS) are awaited for LOOP_SURE_AFTER at most if `is_sure` accepts the other
        proposals.
        """
        if self.request is None:
            return False
        waited = {name for name in self.asked if name in self._thinking and name not in self.slow}
        if not waited or now >= self._deadline(self.asked_at):
            return True
        if not waited <= VIEWERS or now < self.asked_at + LOOP_SURE_AFTER:
            return False
        if self._is_sure is None:
            heard = (one.answer for one in self._answers.values())
            self._is_sure = is_sure([answer for answer in heard if isinstance(answer, Proposal)])
        return self._is_sure

    def take(self, now: float, objection: Callable[[HeardAnswer], str]) -> dict[str, Answer]:
        """Return the valid answers of the open epoch by expert; experts that have not answered are missing.

        objection(heard): returns why an answer is no longer valid, "" if it is.
        """
        assert self.request is not None
        answers: dict[str, Answer] = {}
        for name in self.asked:
            late = self._late.pop(name, None)
            heard = self._answers.get(name, late)
            if heard is None:
                continue
            reason = RejectionReason.DEADLINE if heard.is_late else RejectionReason.NO_PROPOSAL
            why = objection(heard)
            answers[name] = Rejection(name, self.request.epoch, reason, why) if why else heard.answer
        if now >= self._deadline(self.asked_at):
            self.slow |= {name for name in self.asked if name in self._thinking}
        return answers

    def views_take_time(self, now: float) -> bool:
        """Return whether an expert that looks at images takes longer than LOOP_PASS_ANSWER seconds to answer,
        as a vision model does. The robot must then stand, since the answer would concern another view.
        Experts that are always late are ignored.
        """
        waited = {name: now - one.asked_at for name, one in self._thinking.items()}
        looking = VIEWERS - self.slow
        return any(
            max(self._took.get(name, 0.0), waited.get(name, 0.0)) > LOOP_PASS_ANSWER for name in looking
        )

    def is_behind(self, name: str, since: float) -> bool:
        """Return whether the expert has a pending request and has answered none made at `since` or later."""
        return name in self._thinking and self._answered.get(name, -math.inf) < since

    def _deadline(self, asked_at: float) -> float:
        return asked_at + self._allowed


def late_objection(late: HeardAnswer, now: float, step_index: int, facts: Facts) -> str:
    """Return why a late answer is no longer valid at `now` for a step; "" if it is."""
    answer, request, age = late.answer, late.asked.request, now - late.asked.asked_at
    if request.step_index != step_index:
        return "late: its answer was for another step"
    if isinstance(answer, Rejection):
        return f"late: {age:.0f} s ago it was asked and had nothing ({answer.message})"
    if age > LOOP_LATE_ANSWER_AGE:
        return f"late: its answer is to a question of {age:.0f} s ago"
    if answer.entity_id and facts.entity(answer.entity_id) is None:
        return f"late: entity {answer.entity_id} is not there any more"
    goal = np.asarray(answer.goal, np.float64)
    if goal.shape != (3,) or not np.isfinite(goal).all():
        return ""  # admission reports the error
    if not footprint_free(facts.known_grid, goal):
        return "late: its goal is not free any more"
    if answer.action is not ActionKind.GO or answer.view:
        moved, turned = apart(facts.known_pose, request.robot_pose)
        if moved > SAME_GOAL or turned > LOOP_SAME_GOAL_ANGLE:
            return "late: the robot has moved on since it was to turn, or since the image was taken"
    return ""
