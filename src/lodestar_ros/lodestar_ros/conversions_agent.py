"""Conversion of questions to experts, proposals, decisions and frontiers to and from messages."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped

from lodestar.agent.errands.commands import DirectiveResult, Feedback
from lodestar.experts.descriptions import AnnotatedPoint, SceneDescription
from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.language.directive import Directive
from lodestar.selection.decisions import ArmRecord, Decision, Outcome
from lodestar_interfaces import action, msg
from lodestar_ros.codec import BadMessage, codec, convert_values
from lodestar_ros.conversions import (
    MAP,
    header,
    planar_from_msg,
    planar_to_msg,
    planar_to_stamped,
    point_to_msg,
    stamp_from_msg,
    stamp_to_msg,
)
from lodestar_ros.conversions_language import directive_from_msg

# --- experts -------------------------------------------------------------------------------------------


def _directive_with_step(message: Any, _: Any) -> Directive:
    directive = directive_from_msg(message.directive)
    if message.subtask >= len(directive.steps):
        count = len(directive.steps)
        raise BadMessage(f"subtask {message.subtask} does not exist; the directive has {count}")
    return directive


def _pose_in_map(frame: str, pose: Any) -> np.ndarray:
    if frame not in ("", MAP):
        raise BadMessage(f"the robot's pose is in frame '{frame}', expected '{MAP}'")
    return planar_from_msg(pose)


def _since(message: action.ProposeGoal.Goal, _: Any) -> float:
    since = stamp_from_msg(message.looks_since)
    return since if since > 0.0 else -math.inf


#: A zero deadline means none. Reading raises BadMessage, also for a subtask index outside the directive.
request_to_goal, request_from_goal = codec(
    ProposalRequest,
    action.ProposeGoal.Goal,
    names={"step_index": "subtask"},
    to={
        "robot_pose": lambda request, _: planar_to_stamped(request.robot_pose, request.stamp),
        "looks_since": lambda request, _: stamp_to_msg(max(request.looks_since, 0.0)),
    },
    of={
        "directive": _directive_with_step,
        "robot_pose": lambda message, _: _pose_in_map(
            message.robot_pose.header.frame_id, message.robot_pose.pose
        ),
        "stamp": lambda message, _: stamp_from_msg(message.robot_pose.header.stamp),
        "looks_since": _since,
    },
    alone=("may_wait",),
)
#: The question as a published message. The codec's context is the names of the experts that were asked.
question_to_msg, _request_from_question = codec(
    ProposalRequest,
    msg.Question,
    names={"step_index": "subtask"},
    to={"experts": lambda _, experts: list(experts)},
    of={
        "directive": _directive_with_step,
        "robot_pose": lambda message, _: _pose_in_map(message.header.frame_id, message.robot_pose),
    },
    alone=("errand", "looks_since", "may_wait"),
)


def question_from_msg(message: msg.Question) -> tuple[ProposalRequest, tuple[str, ...]]:
    """Return the request and the names of the experts that were asked. Raises BadMessage."""
    return _request_from_question(message), tuple(message.experts)


def _of_number(kind: type[Enum]) -> Callable[[int], Enum]:
    """Return a function that converts a message's number to the enum member at that position in the enum."""
    members = list(kind)

    def member(number: int) -> Enum:
        if number >= len(members):
            raise BadMessage(f"{number} is no {kind.__name__}; the last one is {len(members) - 1}")
        return members[number]

    return member


for _kind in (ActionKind, Outcome):
    convert_values(_kind, "uint8", list(_kind).index, _of_number(_kind))
_CHANCE_SLACK = 1e-6  # tolerance for a probability that was rounded to float32


def _chance(message: msg.Proposal, _: Any) -> float | None:
    """Return the probability; None if the message has none. Raises BadMessage for a value outside [0, 1]."""
    if math.isnan(message.chance) or message.seconds <= 0.0:
        return None
    if not -_CHANCE_SLACK <= message.chance <= 1.0 + _CHANCE_SLACK:
        raise BadMessage(f"chance is {message.chance:g}; it must lie in [0, 1]")
    return min(max(float(message.chance), 0.0), 1.0)


def _seconds(message: msg.Proposal, _: Any) -> float | None:
    return float(message.seconds) if message.seconds > 0.0 else None


proposal_to_msg, proposal_from_msg = codec(
    Proposal, msg.Proposal, of={"chance": _chance, "seconds": _seconds}
)


def answer_to_result(answer: Proposal | Rejection) -> action.ProposeGoal.Result:
    if isinstance(answer, Rejection):
        return action.ProposeGoal.Result(error_code=answer.reason.value, error_msg=answer.message)
    return action.ProposeGoal.Result(proposal=proposal_to_msg(answer))


def answer_from_result(result: action.ProposeGoal.Result, expert: str, epoch: int) -> Proposal | Rejection:
    """Return the expert's proposal or rejection; a malformed result becomes a rejection."""
    try:
        if result.error_code == 0:
            return proposal_from_msg(result.proposal)
        reason = RejectionReason(result.error_code)
    except ValueError as error:
        return Rejection(expert, epoch, RejectionReason.UNKNOWN, f"{result.error_msg} {error}".strip())
    return Rejection(expert, epoch, reason, result.error_msg)


def frontiers_to_msg(frontiers: Any, stamp: float) -> msg.FrontierArray:
    """Return the expert's frontiers as a message; an unreachable frontier has a position and a reason."""
    return msg.FrontierArray(
        header=header(stamp),
        frontiers=[
            msg.Frontier(
                id=item.id,
                centroid=point_to_msg(item.centroid),
                viewpoint=planar_to_msg(
                    item.viewpoint if item.viewpoint is not None else (*item.centroid[:2], 0.0)
                ),
                cell_count=int(item.cell_count),
                information_gain=float(item.gain),
                path_length=float(item.path_length),
                reachable=item.reachable,
                reason=item.reason,
                keyframe_id=item.keyframe_id,
            )
            for item in frontiers
        ],
    )


codec(
    AnnotatedPoint,
    msg.AnnotatedPoint,
    to={"u": lambda point, _: float(point.pixel[0]), "v": lambda point, _: float(point.pixel[1])},
    of={"pixel": lambda message, _: (message.u, message.v)},
)
description_to_msg, description_from_msg = codec(
    SceneDescription, msg.SceneDescription, names={"map_from_camera": "camera_pose"}
)


# --- decisions -----------------------------------------------------------------------------------------

codec(
    ArmRecord,
    msg.ArmRecord,
    to={"proposal": lambda arm, _: proposal_to_msg(arm.proposal) if arm.proposal else msg.Proposal()},
    of={
        "proposal": lambda message, _: (
            proposal_from_msg(message.proposal) if message.proposal.expert else None
        )
    },
)
decision_to_msg, decision_from_msg = codec(Decision, msg.Decision)

#: The codec's context is the stamp of the goal, seconds.
feedback_to_msg, _feedback_from_msg = codec(
    Feedback,
    action.FollowDirective.Feedback,
    to={"goal": lambda feedback, stamp: _stamped(feedback.goal, stamp)},
)
#: The codec's context is the stamp of the pose, seconds.
result_to_msg, _result_from_msg = codec(
    DirectiveResult,
    action.FollowDirective.Result,
    to={
        "question": lambda result, _: result.question.text if result.question else "",
        "question_id": lambda result, _: result.question.id if result.question else "",
        "choices": lambda result, _: (
            [choice.words for choice in result.question.choices] if result.question else []
        ),
        "final_pose": lambda result, stamp: _stamped(result.final_pose, stamp),
    },
)


def _stamped(pose: np.ndarray | None, stamp: float) -> Any:
    return PoseStamped() if pose is None else planar_to_stamped(pose, stamp)
