"""Client that has a running stack execute a mission's steps: directives, questions, reports of changes, saves."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.duration import Duration
from rclpy.node import Node

from lodestar.missions.records import Outcome, Step, StepKind, Verdict
from lodestar.missions.report import plain_text
from lodestar.missions.sentences import constraints_of
from lodestar_interfaces import msg
from lodestar_interfaces.action import AnswerQuestion, FollowDirective
from lodestar_ros.client_watch import OwnedGoal
from lodestar_ros.conversions_language import constraint_to_msg
from lodestar_ros.directive_run import CANCEL_TIMEOUT, DirectiveRun, End
from lodestar_ros.selector_watch import SelectorWatch
from lodestar_ros.sent_goal import SentGoal, goal_of
from lodestar_ros.terminal import not_heard

# Timeouts in seconds of wall time.
_SERVER_TIMEOUT = 20.0  # a node that died is restarted after 0.5 s, and starts for some seconds
_QUESTION_TIMEOUT = 90.0  # loading the grammar takes seconds once, a language model up to 30 s
_COMMAND_TIMEOUT = 600.0
_POLL = 0.1
_HALTS = (FollowDirective.Result.HELD, FollowDirective.Result.CANCELLED)
_DRIVES = (StepKind.DIRECTIVE, StepKind.WAYPOINT)


class StackPerformer:
    """Executes one step at a time, on the calling thread.

    Every drive is a directive, also one to a waypoint: motion_gate passes no velocity without a directive, and only
    the goal selector keeps the navigator out of keep-out zones and obeys a hold. stop: event that ends the mission and
    cancels the current step. tell: called with each line of progress.
    """

    def __init__(self, node: Node, stop: threading.Event, tell: Callable[[str], None]) -> None:
        self._node, self._stop, self._tell = node, stop, tell
        self._owner = OwnedGoal(node)
        self._directives = ActionClient(node, FollowDirective, "follow_directive")
        self._questions = ActionClient(node, AnswerQuestion, "memory/answer")
        self._watch = SelectorWatch(node, lambda text: tell(plain_text(text)))

    def pause(self, seconds: float) -> bool:
        """Wait; return whether the mission must stop."""
        end = time.monotonic() + seconds
        while not self._stop.is_set() and (left := end - time.monotonic()) > 0.0:
            rclpy.spin_once(self._node, timeout_sec=min(left, _POLL))
        return self._stop.is_set()

    def perform(self, step: Step, token: str) -> Outcome:
        """Execute a step and return its outcome; see `lodestar.missions.runner.Performer`."""
        if step.kind in _DRIVES:
            return self._follow(_goal_of(step), bytes.fromhex(token))
        if step.kind is StepKind.QUESTION:
            return self._ask(step.text)
        return self._command(*_command_of(step))

    def take_back(self, kind: StepKind, token: str) -> Outcome | None:
        """Cancel the goal of a step sent before; return its outcome if it had ended already, else None.

        See `lodestar.missions.runner.Performer`. No answer means that the goal selector does not know the goal.
        """
        if kind not in _DRIVES or not self._is_there(self._directives):
            return None
        handle = goal_of(self._directives, FollowDirective, bytes.fromhex(token))
        for _ in range(2):  # the first answer is lost if the server has not discovered this client yet
            handle.cancel_goal_async()
            ended = handle.get_result_async()
            if self._wait(ended, CANCEL_TIMEOUT):
                response = ended.result()
                known = response.status != GoalStatus.STATUS_UNKNOWN
                mine = response.result.error_code == FollowDirective.Result.CANCELLED
                return _directive_outcome(response.result) if known and not mine else None
        return None

    # --- directives ---

    def _follow(self, goal: Any, identity: bytes) -> Outcome:
        if not self._is_there(self._directives):
            return self._absent("No goal selector answered.")
        run = DirectiveRun(self._directives, self._watch, self._wait)
        end = run.follow(self._owner.mark(goal), identity, self._stop.is_set)
        if end is End.STOPPED:
            self._tell("Cancelling; the robot stops.")
            run.cancel(self._wait_through)
            return Outcome(Verdict.INTERRUPTED)
        if end is End.UNANSWERED:
            return self._absent("The goal selector did not answer.")
        if end is End.REFUSED:
            return Outcome(
                Verdict.FAILED, "The goal selector refused the directive; see its log for the reason."
            )
        if end is End.SILENT:
            return Outcome(
                Verdict.GONE,
                f"Nothing was heard of the goal selector for {run.silent:.0f} s. The motion gate has stopped the "
                "robot; a goal selector that comes back is held until: python -m lodestar_ros.hold off",
            )
        assert run.result is not None
        return _directive_outcome(run.result)

    def _absent(self, what: str) -> Outcome:
        if self._stop.is_set():
            return Outcome(Verdict.INTERRUPTED)
        return Outcome(Verdict.GONE, f"{what} {not_heard(self._node)}")

    # --- questions ---

    def _ask(self, question: str) -> Outcome:
        """Ask the memory; the outcome holds its answer as text, which is never executed."""
        if not self._is_there(self._questions):
            return self._interrupted_or(f"No memory node answered. {not_heard(self._node)}")
        sent = SentGoal(
            self._questions, AnswerQuestion, AnswerQuestion.Goal(question=question), lambda message: None
        )
        if not sent.wait(self._wait, _QUESTION_TIMEOUT):
            self._wait_through(sent.cancel(), CANCEL_TIMEOUT)
            return self._interrupted_or("The memory did not answer.")
        handle = sent.answer.result()
        if not handle.accepted:
            return Outcome(Verdict.FAILED, "The memory has too many questions.")
        finished = handle.get_result_async()
        if not self._wait(finished, _QUESTION_TIMEOUT):
            self._wait_through(handle.cancel_goal_async(), CANCEL_TIMEOUT)
            return self._interrupted_or(f"The memory did not answer within {_QUESTION_TIMEOUT:.0f} s.")
        result = finished.result().result
        good = result.error_code == AnswerQuestion.Result.NONE
        text = plain_text(result.answer if good else result.error_msg or result.answer)
        facts = {
            "answer": plain_text(result.answer),
            "confidence": result.confidence,
            "number": result.number,
        }
        return Outcome(Verdict.DONE if good else Verdict.FAILED, text, int(result.error_code), finite(facts))

    def _interrupted_or(self, failure: str) -> Outcome:
        return Outcome(Verdict.INTERRUPTED) if self._stop.is_set() else Outcome(Verdict.FAILED, failure)

    # --- programs ---

    def _command(self, module: str, *arguments: str) -> Outcome:
        """Run a terminal command to its end, as its own process, because it may need much memory."""
        line = [sys.executable, "-m", module, *arguments]
        if self._node.get_namespace() != "/":
            line += ["--namespace", self._node.get_namespace()]
        process = subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
            errors="replace", start_new_session=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        end = time.monotonic() + _COMMAND_TIMEOUT
        said = ""
        while process.returncode is None:
            try:
                said, _ = process.communicate(timeout=_POLL)
            except subprocess.TimeoutExpired:
                if self._stop.is_set() or time.monotonic() > end:
                    process.kill()
                    process.communicate()
                    return self._interrupted_or(f"It took longer than {_COMMAND_TIMEOUT:.0f} s.")
        verdict = Verdict.DONE if process.returncode == 0 else Verdict.FAILED
        return Outcome(verdict, plain_text(said), max(0, process.returncode))

    # --- waiting ---

    def _is_there(self, client: ActionClient) -> bool:
        end = time.monotonic() + _SERVER_TIMEOUT
        while not client.server_is_ready():
            if self._stop.is_set() or time.monotonic() > end:
                return False
            rclpy.spin_once(self._node, timeout_sec=_POLL)
        return True

    def _wait(self, future: Any, seconds: float) -> bool:
        """Wait for a future; give up when the mission must stop. Return whether the future is done."""
        end = time.monotonic() + seconds
        while not future.done() and not self._stop.is_set() and (left := end - time.monotonic()) > 0.0:
            rclpy.spin_until_future_complete(self._node, future, timeout_sec=min(left, _POLL))
        return future.done()

    def _wait_through(self, future: Any, seconds: float) -> bool:
        """Wait for a future even if the mission must stop; return whether it is done."""
        rclpy.spin_until_future_complete(self._node, future, timeout_sec=seconds)
        return future.done()


def _goal_of(step: Step) -> FollowDirective.Goal:
    """Return the FollowDirective goal of a directive or waypoint step."""
    goal = FollowDirective.Goal(time_limit=Duration(seconds=step.time_limit).to_msg())
    if step.place is None:
        goal.text = step.words
        return goal
    pose = msg.PlanarPose(x=step.place.x, y=step.place.y, heading=step.place.heading)
    goal.directive = msg.Directive(
        text=step.words,
        subtasks=[msg.Subtask(kind=msg.Subtask.KIND_GO, pose=[pose])],
        constraints=[constraint_to_msg(constraint) for constraint in constraints_of(step.keep_away_from)],
    )
    return goal


def _command_of(step: Step) -> list[str]:
    """Return module and arguments of a step that is executed by a terminal command."""
    if step.changes is None:
        return ["lodestar_ros.maps", "save", _absolute(step.folder)]
    given = step.changes
    line = [
        "lodestar_ros.changes",
        _absolute(given.since),
        *([_absolute(given.after)] if given.after else []),
    ]
    for option, path in (("--json", given.json), ("--priors", given.priors)):
        line += [option, _absolute(path)] if path else []
    return line + [option for option, wanted in (("--learn", given.learn), ("--tell", given.tell)) if wanted]


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().absolute())


def _directive_outcome(result: FollowDirective.Result) -> Outcome:
    code = int(result.error_code)
    verdict = Verdict.HALTED if code in _HALTS else Verdict.DONE if result.success else Verdict.FAILED
    question = f"{result.question} {'; '.join(result.choices)}" if result.question else ""
    parts = (result.report, "" if result.success else result.error_msg, question)
    facts = {
        "entity_ids": [int(identity) for identity in result.entity_ids],
        "distance_travelled": float(result.distance_travelled),
        "searched_share": float(result.searched_share),
    }
    text = plain_text("\n".join(dict.fromkeys(part for part in parts if part)))
    return Outcome(verdict, text, code, finite(facts))


def finite(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts without numbers that are not finite."""
    return {
        key: value for key, value in facts.items() if not isinstance(value, float) or math.isfinite(value)
    }
