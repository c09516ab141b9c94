"""Error codes of a directive and of the navigator, and exceptions that refuse a directive."""

from __future__ import annotations

from enum import IntEnum


class ErrorCode(IntEnum):
    """Error codes of the action FollowDirective."""

    NONE = 0
    EMPTY_DIRECTIVE = 11000
    NOT_UNDERSTOOD = 11001
    TARGET_NOT_FOUND = 11002
    TARGET_UNREACHABLE = 11003
    TIME_LIMIT = 11004
    CANCELLED = 11005
    HELD = 11006
    BUSY = 11007
    NAVIGATOR_UNAVAILABLE = 11008
    NAVIGATION_FAILED = 11009
    NO_MAP = 11010
    NO_EXPERT = 11011
    ENERGY = 11012
    CONSTRAINT_VIOLATED = 11013
    TARGET_NOT_CONFIRMED = 11014
    AMBIGUOUS = 11015
    BAD_IMAGE = 11016
    TF_ERROR = 11017
    CANNOT_ANSWER = 11018
    UNABLE = 11019
    OTHER_FLOOR = 11020
    QUESTION_UNKNOWN = 11021
    TARGET_GONE = 11022
    SKILL_REFUSED = 11023
    SKILL_FAILED = 11024
    UNKNOWN = 11099


class DirectiveRefused(RuntimeError):
    """The directive is refused and does not begin; `code` is the reason."""

    code = ErrorCode.UNKNOWN


class OtherFloor(DirectiveRefused):
    """The directive requires a floor that the robot is not on."""

    code = ErrorCode.OTHER_FLOOR


class QuestionUnknown(DirectiveRefused):
    """The directive answers a question that is not open, or with an invalid choice."""

    code = ErrorCode.QUESTION_UNKNOWN


class SkillRefused(DirectiveRefused):
    """The directive names an unknown skill, or too few objects for it."""

    code = ErrorCode.SKILL_REFUSED


class Busy(DirectiveRefused):
    """Another directive is running."""

    code = ErrorCode.BUSY


class Held(DirectiveRefused):
    """The robot is held; the hold must be released first."""

    code = ErrorCode.HELD


GOAL_REFUSED = frozenset({204, 206})  # GOAL_OUTSIDE_MAP, GOAL_OCCUPIED
POSE_REFUSED = frozenset({102, 202, 9002})  # TF errors
LATE = frozenset({107, 207, 9003})  # a server did not answer in time, or planning took too long
_UNKNOWN_PLUGIN = frozenset({101, 201})  # INVALID_CONTROLLER, INVALID_PLANNER
_PLANNER, _CONTROLLER = range(200, 300), range(100, 200)
_SAYS_NOTHING_OF_THE_WAY = GOAL_REFUSED | POSE_REFUSED | LATE | _UNKNOWN_PLUGIN


def is_planner_refusal(code: int) -> bool:
    """Return whether the planner searched for a path and found none."""
    return code in _PLANNER and code not in _SAYS_NOTHING_OF_THE_WAY


def is_controller_stuck(code: int) -> bool:
    """Return whether the controller tried to move the robot and could not."""
    return code in _CONTROLLER and code not in _SAYS_NOTHING_OF_THE_WAY
