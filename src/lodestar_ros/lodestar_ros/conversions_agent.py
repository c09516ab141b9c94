"""Proposals, decisions and frontiers: messages there and back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar.agent.errands.commands import DirectiveResult, Feedback
from lodestar.experts.descriptions import AnnotatedPoint, SceneDescription
from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.selection.decision_log import ArmRecord, Decision, Outcome
from lodestar_interfaces import action, msg
from lodestar_ros.conversions import (
    BadMessage,
    duration_to_msg,
    header,
    planar_from_msg,
    planar_to_msg,
    planar_to_stamped,
    point_from_msg,
    point_to_msg,
    pose_from_msg,
    pose_to_msg,
    stamp_from_msg,
    stamp_to_msg,
)
from lodestar_ros.conversions_directive import directive_from_msg, directive_to_msg

if TYPE_CHECKING:
    from lodestar.query.verdict import Candidate

MAP = "map"


# --- experts -------------------------------------------------------------------------------------------


def request_to_goal(request: ProposalRequest) -> action.ProposeGoal.Goal:
    """The zero stamp means no deadline."""
    deadline = request.deadline if math.isfinite(request.deadline) else 0.0
    return action.ProposeGoal.Goal(
        epoch=request.epoch,
        directive=directive_to_msg(request.directive),
        subtask=request.step_index,
        robot_pose=planar_to_stamped(request.robot_pose, request.stamp),
        excluded_entities=sorted(request.excluded_entities),
        excluded_goals=[planar_to_msg(goal) for goal in request.excluded_goals],
        deadline=stamp_to_msg(deadline),
        errand=request.errand,
        looks_since=stamp_to_msg(max(request.looks_since, 0.0)),
    )


def _planar(pose: Any) -> tuple[float, float, float]:
    x, y, yaw = planar_from_msg(pose)
    return float(x), float(y), float(yaw)


def request_from_goal(goal: action.ProposeGoal.Goal) -> ProposalRequest:
    """Raises BadMessage, also for a subtask that the directive lacks."""
    directive = directive_from_msg(goal.directive)
    if goal.subtask >= len(directive.steps):
        raise BadMessage(f"subtask {goal.subtask} does not exist; the directive has {len(directive.steps)}")
    frame = goal.robot_pose.header.frame_id
    if frame not in ("", MAP):
        raise BadMessage(f"the robot's pose is in frame '{frame}', expected '{MAP}'")
    deadline, since = stamp_from_msg(goal.deadline), stamp_from_msg(goal.looks_since)
    return ProposalRequest(
        epoch=goal.epoch,
        stamp=stamp_from_msg(goal.robot_pose.header.stamp),
        directive=directive,
        step_index=goal.subtask,
        robot_pose=planar_from_msg(goal.robot_pose.pose),
        excluded_entities=frozenset(goal.excluded_entities),
        excluded_goals=tuple(_planar(pose) for pose in goal.excluded_goals),
        deadline=deadline if deadline > 0.0 else math.inf,
        errand=goal.errand,
        looks_since=since if since > 0.0 else -math.inf,
    )


def proposal_to_msg(proposal: Proposal) -> msg.Proposal:
    return msg.Proposal(
        header=header(proposal.stamp, MAP),
        epoch=proposal.epoch,
        expert=proposal.expert,
        goal=planar_to_msg(proposal.goal),
        entity_id=proposal.entity_id,
        confidence=float(proposal.confidence),
        action=int(proposal.action),
        rationale=proposal.rationale,
        evidence_entities=list(proposal.evidence_entities),
        evidence_keyframes=list(proposal.evidence_keyframes),
        time_taken=duration_to_msg(proposal.time_taken),
    )


def proposal_from_msg(message: msg.Proposal) -> Proposal:
    """Raises BadMessage."""
    try:
        kind = ActionKind(message.action)
    except ValueError as error:
        raise BadMessage(str(error)) from error
    return Proposal(
        expert=message.expert,
        epoch=message.epoch,
        goal=planar_from_msg(message.goal),
        confidence=message.confidence,
        rationale=message.rationale,
        entity_id=message.entity_id,
        action=kind,
        evidence_entities=tuple(message.evidence_entities),
        evidence_keyframes=tuple(message.evidence_keyframes),
        time_taken=message.time_taken.sec + message.time_taken.nanosec * 1e-9,
        stamp=stamp_from_msg(message.header.stamp),
    )


def answer_to_result(answer: Proposal | Rejection) -> action.ProposeGoal.Result:
    if isinstance(answer, Rejection):
        return action.ProposeGoal.Result(error_code=answer.reason.value, error_msg=answer.message)
    return action.ProposeGoal.Result(proposal=proposal_to_msg(answer))


def answer_from_result(result: action.ProposeGoal.Result, expert: str, epoch: int) -> Proposal | Rejection:
    """Return the expert's answer; a malformed result becomes a rejection."""
    try:
        if result.error_code == 0:
            return proposal_from_msg(result.proposal)
        reason = RejectionReason(result.error_code)
    except (BadMessage, ValueError) as error:
        return Rejection(expert, epoch, RejectionReason.UNKNOWN, f"{result.error_msg} {error}".strip())
    return Rejection(expert, epoch, reason, result.error_msg)


def frontiers_to_msg(frontiers: Any, stamp: float) -> msg.FrontierArray:
    """Return the expert's frontiers as a message; an unreachable one has its place and its reason."""
    return msg.FrontierArray(
        header=header(stamp, MAP),
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


def description_to_msg(description: Any) -> msg.SceneDescription:
    return msg.SceneDescription(
        header=header(description.stamp, MAP),
        camera_pose=pose_to_msg(description.map_from_camera),
        text=description.text,
        points=[
            msg.AnnotatedPoint(
                number=item.number,
                u=float(item.pixel[0]),
                v=float(item.pixel[1]),
                point=point_to_msg(item.point),
                score=float(item.score),
            )
            for item in description.points
        ],
    )


def description_from_msg(message: msg.SceneDescription) -> SceneDescription:
    points = tuple(
        AnnotatedPoint(item.number, (item.u, item.v), point_from_msg(item.point), item.score)
        for item in message.points
    )
    stamp = stamp_from_msg(message.header.stamp)
    return SceneDescription(stamp, pose_from_msg(message.camera_pose), message.text, points)


# --- decisions -----------------------------------------------------------------------------------------


def _named(values: dict[str, float]) -> list[msg.NamedValue]:
    return [msg.NamedValue(name=name, value=float(value)) for name, value in values.items()]


def decision_to_msg(decision: Decision) -> msg.Decision:
    return msg.Decision(
        header=header(decision.stamp, MAP),
        epoch=decision.epoch,
        map_id=decision.map_id,
        directive=decision.directive,
        subtask=decision.subtask,
        context=_named(decision.context),
        arms=[
            msg.ArmRecord(
                expert=arm.expert,
                admissible=arm.admissible,
                reason=arm.reason,
                estimate=float(arm.estimate),
                bound=float(arm.bound),
                propensity=float(arm.propensity),
                proposal=proposal_to_msg(arm.proposal) if arm.proposal is not None else msg.Proposal(),
            )
            for arm in decision.arms
        ],
        chosen=decision.chosen,
        reward=_named(decision.reward),
        evidence_entities=list(decision.evidence_entities),
        evidence_keyframes=list(decision.evidence_keyframes),
        trace_id=decision.trace_id,
        outcome=int(decision.outcome),
        explanation=decision.explanation,
    )


def decision_from_msg(message: msg.Decision) -> Decision:
    """Raises BadMessage."""
    return Decision(
        epoch=message.epoch,
        stamp=stamp_from_msg(message.header.stamp),
        directive=message.directive,
        subtask=message.subtask,
        context={item.name: item.value for item in message.context},
        arms=tuple(
            ArmRecord(
                arm.expert,
                arm.admissible,
                arm.reason,
                arm.estimate,
                arm.bound,
                arm.propensity,
                proposal_from_msg(arm.proposal) if arm.proposal.expert else None,
            )
            for arm in message.arms
        ),
        chosen=message.chosen,
        map_id=message.map_id,
        reward={item.name: item.value for item in message.reward},
        evidence_entities=tuple(message.evidence_entities),
        evidence_keyframes=tuple(message.evidence_keyframes),
        trace_id=message.trace_id,
        outcome=Outcome(message.outcome),
        explanation=message.explanation,
    )


def feedback_to_msg(feedback: Feedback, stamp: float) -> action.FollowDirective.Feedback:
    message = action.FollowDirective.Feedback(
        phase=feedback.phase,
        expert=feedback.expert,
        subtask=feedback.subtask,
        epoch=feedback.epoch,
        distance_remaining=float(feedback.distance_remaining),
        distance_travelled=float(feedback.distance_travelled),
        coverage=float(feedback.coverage),
        text=feedback.text,
        understood=feedback.understood,
    )
    if feedback.goal is not None:
        message.goal = planar_to_stamped(feedback.goal, stamp)
    return message


def result_to_msg(result: DirectiveResult, stamp: float) -> action.FollowDirective.Result:
    message = action.FollowDirective.Result(
        error_code=int(result.error_code),
        error_msg=result.error_msg,
        success=result.success,
        entity_ids=[int(i) for i in result.entity_ids],
        nearest_matches=[int(i) for i in result.nearest_matches],
        epochs=int(result.epochs),
        distance_travelled=float(result.distance_travelled),
        duration=duration_to_msg(result.duration),
        report=result.report,
        searched_share=float(result.searched_share),
    )
    if result.question is not None:
        message.question, message.question_id = result.question.text, result.question.id
        message.choices = [choice.words for choice in result.question.choices]
    if result.final_pose is not None:
        message.final_pose = planar_to_stamped(np.asarray(result.final_pose), stamp)
    return message


def candidate_to_msg(candidate: Candidate) -> msg.QueryCandidate:
    return msg.QueryCandidate(
        entity_id=int(candidate.entity_id),
        score=float(candidate.score),
        semantic_score=float(candidate.semantic_score),
        predicate_scores=_named(dict(candidate.predicate_scores)),
        bindings=[
            msg.AnchorBinding(variable=int(variable), entity_id=int(entity), score=1.0)
            for variable, entity in dict(candidate.bindings).items()
        ],
        explanation=candidate.explanation,
    )
