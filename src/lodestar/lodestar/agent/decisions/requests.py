"""Requests to the experts that are open, those still being worked on, and late answers that still hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.newest import Facts
from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.experts.registry import experts
from lodestar.experts.specs import Role
from lodestar.geometry.poses import apart
from lodestar.grid.footprint import footprint_free

Answer = Proposal | Rejection
VIEWERS = frozenset(spec.name for spec in experts() if Role.VIEWER in spec.roles)


@dataclass(frozen=True)
class Asked:
    """A request to one expert. asked_at: loop time. labels: of the things of the scene then, by id. is_over: the errand
    that it was asked for has ended.
    """

    request: ProposalRequest
    asked_at: float
    labels: Mapping[int, str] = field(default_factory=dict)
    is_over: bool = False


@dataclass(frozen=True)
class HeardAnswer:
    """An answer with what was asked. is_late: it came after the decision which it was asked for."""

    asked: Asked
    answer: Answer
    is_late: bool = True


class Requests:
    """The epoch that is open and the experts' answers to it. All times are the loop's.

    An expert that still works on an older request is not asked again, and one whose last answer came late is not
    waited for; its late answer is offered to the next epoch, once.
    """

    def __init__(self, config: LoopConfig) -> None:
        self._config = config
        self.request: ProposalRequest | None = None  # None = no epoch is open
        self.asked: tuple[str, ...] = ()
        self.asked_at = 0.0
        self.is_review = False
        self.slow: set[str] = set()
        self._answers: dict[str, HeardAnswer] = {}
        self._thinking: dict[str, Asked] = {}
        self._late: dict[str, HeardAnswer] = {}
        self._is_sure: bool | None = None  # of what was heard in the open epoch; None = not judged yet
        self._answered: dict[str, float] = {}  # when the newest request that was answered was made
        self._took: dict[str, float] = {}  # s that the newest answer took

    def open(
        self,
        request: ProposalRequest,
        experts: tuple[str, ...],
        now: float,
        labels: Mapping[int, str],
        review: bool = False,
    ) -> tuple[str, ...]:
        """Open the epoch of this request at `now`; returns those of the experts that work on nothing yet.

        labels: see `Asked`.
        """
        patience = self._config.thinking_patience
        self._thinking = {n: r for n, r in self._thinking.items() if now - r.asked_at <= patience}
        idle = tuple(name for name in experts if name not in self._thinking)
        self._thinking |= dict.fromkeys(idle, Asked(request, now, labels))
        self.request, self.asked, self.asked_at = request, experts, now
        self.is_review, self._answers, self._is_sure = review, {}, None
        return idle

    def close(self) -> None:
        """No epoch is open any more; pending requests keep running."""
        self.request = None

    def end_errand(self) -> None:
        """No answer to a request of before counts any more; who works on one is still not asked anew."""
        self.request = None
        self._late, self._answers = {}, {}
        self._thinking = {name: replace(one, is_over=True) for name, one in self._thinking.items()}

    def hear(self, answer: Answer, now: float) -> None:
        """Take in an answer at `now`; one to a request that nobody has made of this expert, or of an errand that is
        over, is dropped.
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
        """Whether everybody who is waited for has answered the open epoch, or its deadline has passed.

        Those that look are not waited for longer than `sure_after` where the proposals of the others are sure enough.
        """
        if self.request is None:
            return False
        waited = {name for name in self.asked if name in self._thinking and name not in self.slow}
        if not waited or now >= self._deadline(self.asked_at):
            return True
        if not waited <= VIEWERS or now < self.asked_at + self._config.sure_after:
            return False
        if self._is_sure is None:
            heard = (one.answer for one in self._answers.values())
            self._is_sure = is_sure([answer for answer in heard if isinstance(answer, Proposal)])
        return self._is_sure

    def take(self, now: float, objection: Callable[[HeardAnswer], str]) -> dict[str, Answer]:
        """The answers that count in the open epoch, by expert; who still thinks is missing.

        objection(heard): why an answer is of no use any more, "" where it still holds.
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
        """Return whether one who looks takes so long for a word, as a model does, that it would be of another view by
        then: the robot has to stand for it. Who is late for every epoch is not waited for here either.
        """
        patience = self._config.pass_answer
        waited = {name: now - one.asked_at for name, one in self._thinking.items()}
        looking = VIEWERS - self.slow
        return any(max(self._took.get(name, 0.0), waited.get(name, 0.0)) > patience for name in looking)

    def is_behind(self, name: str, since: float) -> bool:
        """Whether the expert works on a request and has answered none that was asked at `since` or later."""
        return name in self._thinking and self._answered.get(name, -math.inf) < since

    def _deadline(self, asked_at: float) -> float:
        return asked_at + self._config.expert_deadline


def late_objection(late: HeardAnswer, now: float, step_index: int, facts: Facts, config: LoopConfig) -> str:
    """Return why a late answer is of no use at `now` for a step; "" where it still holds."""
    answer, request, age = late.answer, late.asked.request, now - late.asked.asked_at
    if request.step_index != step_index:
        return "late: its answer was for another step"
    if isinstance(answer, Rejection):
        return f"late: {age:.0f} s ago it was asked and had nothing ({answer.message})"
    if age > config.late_answer_age:
        return f"late: its answer is to a question of {age:.0f} s ago"
    if answer.entity_id and facts.entity(answer.entity_id) is None:
        return f"late: entity {answer.entity_id} is not there any more"
    goal = np.asarray(answer.goal, np.float64)
    if goal.shape != (3,) or not np.isfinite(goal).all():
        return ""  # admission says what is wrong with it
    if not footprint_free(facts.known_grid, goal):
        return "late: its goal is not free any more"
    if answer.action is not ActionKind.GO or answer.view:
        moved, turned = apart(facts.known_pose, request.robot_pose)
        if moved > config.same_goal_distance or turned > config.same_goal_angle:
            return "late: the robot has moved on since it was to turn, or since the image was taken"
    return ""
