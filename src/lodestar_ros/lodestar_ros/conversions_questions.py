"""Questions to the experts as they are published: messages there and back."""

from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import PoseStamped

from lodestar.experts.protocol import ProposalRequest
from lodestar_interfaces import action, msg
from lodestar_ros.conversions_agent import request_from_goal, request_to_goal


def question_to_msg(request: ProposalRequest, experts: Sequence[str]) -> msg.Question:
    """experts: names of those that are asked."""
    goal = request_to_goal(request)
    return msg.Question(
        header=goal.robot_pose.header,
        epoch=goal.epoch,
        experts=list(experts),
        directive=goal.directive,
        subtask=goal.subtask,
        robot_pose=goal.robot_pose.pose,
        excluded_entities=goal.excluded_entities,
        excluded_goals=goal.excluded_goals,
        deadline=goal.deadline,
    )


def question_from_msg(message: msg.Question) -> tuple[ProposalRequest, tuple[str, ...]]:
    """The question and who is asked. Raises BadMessage."""
    goal = action.ProposeGoal.Goal(
        epoch=message.epoch,
        directive=message.directive,
        subtask=message.subtask,
        robot_pose=PoseStamped(header=message.header, pose=message.robot_pose),
        excluded_entities=message.excluded_entities,
        excluded_goals=message.excluded_goals,
        deadline=message.deadline,
    )
    return request_from_goal(goal), tuple(message.experts)
