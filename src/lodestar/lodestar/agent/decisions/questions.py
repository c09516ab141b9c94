"""Open questions to the experts, those still being worked on, and late answers that still hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lodestar.agent.facts.config import LoopConfig
from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.footprint import footprint_free
from lodestar.grid.occupancy import OccupancyGrid2D

Answer = Proposal | Rejection


@dataclass(frozen=True)
class LateAnswer:
    """An answer that came after the decision which it was asked for. asked_at: loop time of the question."""

    request: ProposalRequest
    answer: Answer
    asked_at: float


@dataclass(frozen=True)
class _Pending:
    """A question that an expert works on. asked_at: loop time. is_over: the errand that it was asked for has ended."""

    request: ProposalRequest
    asked_at: float
    is_over: bool = False


class Questions:
    """The epoch that is open and the experts' answers to it. All times are the loop's.

    An expert that still works on an older question is not asked again, and one whose last answer came late is not
    waited for; its late answer is offered to the next epoch, once.
    """

    def __init__(self, config: LoopConfig) -> None:
        self._config = config
        self.request: ProposalRequest | None = None  # None = no epoch is open
        self.asked: tuple[str, ...] = ()
        self.asked_at = 0.0
        self.is_review = False
        self.slow: set[str] = set()
        self._answers: dict[str, Answer] = {}
        self._thinking: dict[str, _Pending] = {}
        self._late: dict[str, LateAnswer] = {}
        self._answered: dict[str, float] = {}  # when the newest question that was answered was asked

    def open(
        self, request: ProposalRequest, experts: tuple[str, ...], now: float, review: bool = False
    ) -> tuple[str, ...]:
        """Open the epoch of this request at `now`; returns those of the experts that work on nothing yet."""
        patience = self._config.thinking_patience
        self._thinking = {n: r for n, r in self._thinking.items() if now - r.asked_at <= patience}
        idle = tuple(name for name in experts if name not in self._thinking)
        self._thinking |= dict.fromkeys(idle, _Pending(request, now))
        self.request, self.asked, self.asked_at = request, experts, now
        self.is_review, self._answers = review, {}
        return idle

    def close(self) -> None:
        """No epoch is open any more; pending requests keep running."""
        self.request = None

    def end_errand(self) -> None:
        """No answer to a question of before counts any more; who works on one is still not asked anew."""
        self.request = None
        self._late, self._answers = {}, {}
        self._thinking = {name: replace(one, is_over=True) for name, one in self._thinking.items()}

    def hear(self, answer: Answer, now: float) -> None:
        """Take in an answer at `now`; one to a question that nobody has asked this expert, or of an errand that is
        over, is dropped.
        """
        pending = self._thinking.get(answer.expert)
        if pending is None or pending.request.epoch != answer.epoch:
            return
        del self._thinking[answer.expert]
        self._answered[answer.expert] = pending.asked_at
        late = now > self._deadline(pending.asked_at)
        (self.slow.add if late else self.slow.discard)(answer.expert)
        if pending.is_over:
            return
        if self.request is pending.request:
            self._answers[answer.expert] = answer
        else:
            self._late[answer.expert] = LateAnswer(pending.request, answer, pending.asked_at)

    def is_due(self, now: float) -> bool:
        """Whether everybody who is waited for has answered the open epoch, or its deadline has passed."""
        if self.request is None:
            return False
        waited = any(name in self._thinking and name not in self.slow for name in self.asked)
        return not waited or now >= self._deadline(self.asked_at)

    def take(self, now: float, objection: Callable[[LateAnswer], str]) -> dict[str, Answer]:
        """The answers that count in the open epoch, by expert; who still thinks is missing.

        objection(late): why a late answer is of no use any more, "" where it still holds.
        """
        assert self.request is not None
        answers = dict(self._answers)
        for name in self.asked:
            late = self._late.pop(name, None)
            if late is None or name in answers:
                continue
            why = objection(late)
            answers[name] = (
                Rejection(name, self.request.epoch, RejectionReason.DEADLINE, why) if why else late.answer
            )
        if now >= self._deadline(self.asked_at):
            self.slow |= {name for name in self.asked if name in self._thinking}
        return answers

    def is_behind(self, name: str, since: float) -> bool:
        """Whether the expert works on a question and has answered none that was asked at `since` or later."""
        return name in self._thinking and self._answered.get(name, -math.inf) < since

    def _deadline(self, asked_at: float) -> float:
        return asked_at + self._config.expert_deadline


def objection(
    late: LateAnswer,
    now: float,
    step_index: int,
    pose: np.ndarray,
    grid: OccupancyGrid2D,
    is_known: Callable[[int], bool],
    config: LoopConfig,
) -> str:
    """Return why a late answer is of no use at `now` with the robot at pose (3,); "" where it still holds.

    is_known: whether an entity id still means something that is there.
    """
    answer, age = late.answer, now - late.asked_at
    if late.request.step_index != step_index:
        return "late: its answer was for another step"
    if isinstance(answer, Rejection):
        return f"late: {age:.0f} s ago it was asked and had nothing ({answer.message})"
    if age > config.late_answer_age:
        return f"late: its answer is to a question of {age:.0f} s ago"
    if answer.entity_id and not is_known(answer.entity_id):
        return f"late: entity {answer.entity_id} is not there any more"
    goal = np.asarray(answer.goal, np.float64)
    if goal.shape != (3,) or not np.isfinite(goal).all():
        return ""  # admission says what is wrong with it
    if not footprint_free(grid, goal):
        return "late: its goal is not free any more"
    if answer.action is not ActionKind.GO:
        before = late.request.robot_pose
        moved = math.hypot(*(pose[:2] - before[:2])) > config.same_goal_distance
        if moved or abs(float(wrap_angle(pose[2] - before[2]))) > config.same_goal_angle:
            return "late: the robot has moved on since it was to turn"
    return ""
