"""Choice of the image that a reasoner judges, and of how long the robot stands for the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from lodestar.experts.protocol import ProposalRequest
from lodestar.geometry.poses import apart
from lodestar.language.reasoner import OfflineReasoner, Reasoner
from lodestar.language.views import ViewAnswer, ViewQuestion

STANDING_PATIENCE = 3.0  # seconds from the question; never beyond the decision's deadline; chosen
STANDING_SLACK = 0.2  # seconds before either end at which it decides without the model; chosen
# score of a detection, 0..1, from which the robot does not wait for the model; chosen: the detector suffices
STANDING_SURE = 0.5
STANDING_DISTANCE = 0.2  # metres within which a view is the same one; chosen
STANDING_ANGLE = math.radians(10.0)  # radians within which a view is the same one; chosen
STANDING_AGE = 30.0  # seconds after which the same view is asked about anew; chosen
# seconds without standing after a wait without an answer, doubled for each further one in a row; chosen
STANDING_REST = 30.0
STANDING_LONGEST_REST = 300.0  # seconds without standing, at most; chosen

_LEFT = "the robot has left the view that the language model looks at"


@dataclass(frozen=True)
class _Asked:
    question: ViewQuestion
    epoch: int
    taken_at: np.ndarray


class ViewJudge:
    """Asks the reasoner once per view: at each place and heading where the robot has stopped.

    An answer is used only while the robot stands as it stood when the image was taken, for any decision there.
    Without a confident detection the robot stands for the answer (`judge` returns None) for at most the patience of
    `standing_until`. After a wait without an answer, the next decisions do not stand for a while, but the model is
    still asked.
    """

    def __init__(self, reasoner: Reasoner) -> None:
        self._reasoner = reasoner
        self._offline = OfflineReasoner()
        self._asked: _Asked | None = None
        self._rest, self._rests_until = 0.0, -math.inf

    def forget(self) -> None:
        """Reset the per-task state."""
        self._asked = None
        self._reasoner.begin_task()

    def standing_until(self, request: ProposalRequest) -> float:
        """Return the stamp, seconds, until which the robot stands for an answer."""
        return min(request.stamp + STANDING_PATIENCE, request.deadline) - STANDING_SLACK

    def judge(
        self, request: ProposalRequest, question: ViewQuestion, taken_at: np.ndarray
    ) -> ViewAnswer | None:
        """Return the answer about this view, the offline one if there is no other; None = ask again soon.

        question: about the newest image. taken_at: (3,) pose in map of the robot when the image was taken.
        """
        if not self._reasoner.waits:
            answer = self._reasoner.judge_view(question)
            return answer if answer is not None else self._alone(question, "")
        if request.stamp < self._rests_until - STANDING_LONGEST_REST:  # the clock restarted
            self._rest, self._rests_until = 0.0, -math.inf
        # a request may be open for seconds, and may come while the robot still turns
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
        sure = any(point.score >= STANDING_SURE for point in question.points)
        if request.may_wait and not sure and request.stamp >= self._rests_until:
            return None
        if not request.may_wait:
            self._note_vain(request.stamp)
        return self._alone(question, "offline: the language model has not answered about this view yet")

    def _about(
        self, request: ProposalRequest, question: ViewQuestion, taken_at: np.ndarray | None, here: np.ndarray
    ) -> ViewQuestion | None:
        """Return the question to ask here, one per place and heading; None while there is no image from here.

        taken_at: pose (3,) of an image from here. here: current pose (3,) of the robot.
        """
        if self._asked is not None and self._holds(self._asked, question, here):
            return self._asked.question
        if taken_at is None:
            return None
        self._asked = _Asked(question, request.epoch, taken_at)
        return question

    def _holds(self, before: _Asked, question: ViewQuestion, here: np.ndarray) -> bool:
        """Return whether the earlier question is the same and its image shows the view from the robot's current
        pose.
        """
        asked = before.question
        same = (asked.target, asked.neighbors, asked.constraints) == (
            question.target, question.neighbors, question.constraints,
        )  # fmt: skip
        recent = 0.0 <= question.stamp - asked.stamp <= STANDING_AGE
        return same and recent and self._is_same(before.taken_at, here)

    def _is_same(self, one: np.ndarray, other: np.ndarray) -> bool:
        metres, turned = apart(one, other)
        return metres <= STANDING_DISTANCE and turned <= STANDING_ANGLE

    def _alone(self, question: ViewQuestion, why: str) -> ViewAnswer:
        return replace(self._offline.judge_view(question), rationale=why)

    def _note_vain(self, stamp: float) -> None:
        """Lengthen the time for which the robot does not stand for answers, after a wait without an answer.
        stamp: now, seconds.
        """
        self._rest = min(max(2.0 * self._rest, STANDING_REST), STANDING_LONGEST_REST)
        self._rests_until = stamp + self._rest
