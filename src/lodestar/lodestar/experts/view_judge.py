"""The image that a reasoner is asked about, and the time that a decision stands for its word."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from lodestar.experts.protocol import ProposalRequest
from lodestar.experts.standing import StandingConfig
from lodestar.geometry.poses import apart
from lodestar.language.reasoner import OfflineReasoner, Reasoner
from lodestar.language.views import ViewAnswer, ViewQuestion

_LEFT = "the robot has left the view that the language model looks at"


@dataclass(frozen=True)
class _Asked:
    question: ViewQuestion
    epoch: int
    taken_at: np.ndarray


class ViewJudge:
    """Asks once for each view: where the robot has arrived, and where it has turned to.

    An answer is used only while the robot stands as it stood when the image was taken, for whatever is decided there. A
    decision that has nothing sure stands for the answer (`judge` returns None) up to the patience of `standing_until`;
    after a wait that brought nothing, the next ones do not stand for a while, though the model is still asked.
    """

    def __init__(self, reasoner: Reasoner, config: StandingConfig) -> None:
        self._reasoner, self._config = reasoner, config
        self._offline = OfflineReasoner()
        self._asked: _Asked | None = None
        self._rest, self._rests_until = 0.0, -math.inf

    def forget(self) -> None:
        """Begin another task."""
        self._asked = None
        self._reasoner.begin_task()

    def standing_until(self, request: ProposalRequest) -> float:
        """Return the stamp, seconds, up to which a decision stands for an answer."""
        config = self._config
        return min(request.stamp + config.patience, request.deadline) - config.slack

    def judge(
        self, request: ProposalRequest, question: ViewQuestion, taken_at: np.ndarray
    ) -> ViewAnswer | None:
        """Return the answer about this view, offline where there is none; None = ask again soon.

        question: about the newest image. taken_at: (3,) pose in map of the camera, in plan, when it was taken.
        """
        if not self._reasoner.waits:
            answer = self._reasoner.judge_view(question)
            return answer if answer is not None else self._alone(question, "")
        if request.stamp < self._rests_until - self._config.longest_rest:  # the clock has begun anew
            self._rest, self._rests_until = 0.0, -math.inf
        # a request may stand for seconds, and have come while the robot still turned
        here = taken_at if question.stamp > request.stamp else np.asarray(request.robot_pose, np.float64)
        is_here = self._is_same(taken_at, request.robot_pose)
        asked = self._about(request, question, taken_at if is_here else None, here)
        if asked is not None:
            answer = self._reasoner.judge_view(asked)
            if answer is not None and answer.by != self._offline.name:
                self._rest, self._rests_until = 0.0, -math.inf
                return answer
            if answer is not None:
                return self._alone(question, answer.rationale)
        if not is_here and self._asked is not None and self._asked.epoch == request.epoch:
            return self._alone(question, f"offline: {_LEFT}")
        sure = any(point.score >= self._config.sure for point in question.points)
        if request.may_wait and not sure and request.stamp >= self._rests_until:
            return None
        if not request.may_wait:
            self._note_vain(request.stamp)
        return self._alone(question, "offline: the language model has not answered about this view yet")

    def _about(
        self, request: ProposalRequest, question: ViewQuestion, taken_at: np.ndarray | None, here: np.ndarray
    ) -> ViewQuestion | None:
        """Return what is asked here: once per place and heading; None where no image of it has come yet.

        taken_at: pose (3,) of an image of here. here: pose (3,) of the robot now.
        """
        if self._asked is not None and self._holds(self._asked, question, here):
            return self._asked.question
        if taken_at is None:
            return None
        self._asked = _Asked(question, request.epoch, taken_at)
        return question

    def _holds(self, before: _Asked, question: ViewQuestion, here: np.ndarray) -> bool:
        """Return whether the image that was asked about shows what is asked now, from where the robot stands now."""
        asked = before.question
        same = (asked.target, asked.neighbors, asked.constraints) == (
            question.target, question.neighbors, question.constraints,
        )  # fmt: skip
        recent = 0.0 <= question.stamp - asked.stamp <= self._config.age
        return same and recent and self._is_same(before.taken_at, here)

    def _is_same(self, one: np.ndarray, other: np.ndarray) -> bool:
        metres, turned = apart(one, other)
        return metres <= self._config.distance and turned <= self._config.angle

    def _alone(self, question: ViewQuestion, why: str) -> ViewAnswer:
        return replace(self._offline.judge_view(question), rationale=why)

    def _note_vain(self, stamp: float) -> None:
        """A wait brought nothing."""
        config = self._config
        self._rest = min(max(2.0 * self._rest, config.rest), config.longest_rest)
        self._rests_until = stamp + self._rest
