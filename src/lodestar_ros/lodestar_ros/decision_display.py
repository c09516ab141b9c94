"""Markers of the decision loop for RViz: goal, proposals, trail, decision with its reason, traces, open question."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from lodestar.agent.errands.commands import OpenQuestion
from lodestar.scene.captions import clean_text
from lodestar.selection.decisions import Decision
from lodestar.worldmodel.outcomes import ActionOutcome, Result
from lodestar.worldmodel.records import Trace
from lodestar_ros import qos
from lodestar_ros.marker_shapes import arrow_marker, ball_marker, fresh, rgba, text_marker
from lodestar_ros.markers import decision_markers
from lodestar_ros.node import LodestarNode

_TRACES = 10  # number of newest actions that are shown
_LONGEST = 160  # most characters of one text
_RESULT_COLORS = {
    None: (0.9, 0.9, 0.9),  # the action is still running
    Result.COMMITTED: (0.2, 0.9, 0.3),
    Result.ROLLED_BACK: (1.0, 0.2, 0.2),
    Result.CANCELLED: (0.5, 0.5, 0.5),
}


class DecisionDisplay:
    """Publishes ``~/markers`` of the newest decision, traces, path and open question, while the topic has
    subscribers.
    """

    def __init__(self, node: LodestarNode) -> None:
        self._markers = node.create_publisher(MarkerArray, "~/markers", qos.LATCHED)
        self._decision: Decision | None = None
        self._question: OpenQuestion | None = None
        self._trail: deque[np.ndarray] = deque(maxlen=2000)
        self._traces: OrderedDict[str, tuple[Trace, ActionOutcome | None]] = OrderedDict()

    def decided(self, decision: Decision) -> None:
        """Store a decision for display."""
        self._decision = decision

    def traced(self, trace: Trace) -> None:
        """Store an action's trace for display."""
        self._traces[trace.id] = trace, None
        while len(self._traces) > _TRACES:
            self._traces.popitem(last=False)

    def ended(self, outcome: ActionOutcome) -> None:
        """Store the outcome of an action for display."""
        if outcome.trace_id in self._traces:
            self._traces[outcome.trace_id] = self._traces[outcome.trace_id][0], outcome

    def asked(self, question: OpenQuestion | None) -> None:
        """Store the open question, whose choices are shown at their places; None = no question is open."""
        self._question = question

    def passed(self, pose: np.ndarray) -> None:
        """Add the robot's pose (3,) to the path."""
        if not self._trail or np.hypot(*(pose[:2] - self._trail[-1][:2])) > 0.1:
            self._trail.append(pose)

    def show(self, goal: np.ndarray | None, stamp: float) -> None:
        """Publish the markers, if they have subscribers."""
        if self._markers.get_subscription_count() == 0:
            return
        last = self._decision
        arms = () if last is None else [(arm.proposal, arm.expert == last.chosen) for arm in last.arms]
        proposals = [(proposal, chosen) for proposal, chosen in arms if proposal is not None]
        markers = decision_markers(goal, proposals, self._trail, stamp)
        markers += reason_markers(goal, last, stamp)
        markers += trace_markers(self._traces.values(), stamp)
        markers += question_markers(self._question, stamp)
        self._markers.publish(fresh(markers))


def reason_markers(goal: np.ndarray | None, decision: Decision | None, stamp: float) -> list[Marker]:
    """Return a text marker over the goal with the decision's chosen expert and reason; no marker without a goal."""
    if goal is None or decision is None:
        return []
    text = f"{decision.chosen}: {_short(decision.explanation)}"
    return [text_marker("decision", 0, stamp, (goal[0], goal[1], 0.9), text, 0.18)]


def trace_markers(traces: Iterable[tuple[Trace, ActionOutcome | None]], stamp: float) -> list[Marker]:
    """Return an arrow at the goal of each action, coloured by its result, and a text with its reason and outcome."""
    markers = []
    for index, (trace, outcome) in enumerate(traces):
        goal = trace.action.goal
        if goal is None or not np.isfinite(goal).all():
            continue
        color = _RESULT_COLORS[None if outcome is None else outcome.result]
        end = "" if outcome is None else f"\n{outcome.result.value}: {_short(outcome.text)}"
        place = (goal[0], goal[1], 0.65)
        markers += [
            arrow_marker("traces", index, stamp, goal, rgba(*color, 0.7), 0.35),
            text_marker(
                "trace_texts", index, stamp, place, f"{trace.action}: {_short(trace.reason)}{end}", 0.1, color
            ),
        ]
    return markers


def question_markers(question: OpenQuestion | None, stamp: float) -> list[Marker]:
    """Return a numbered ball over each choice that has a place; a click near it answers the question."""
    markers: list[Marker] = []
    for number, choice in enumerate(() if question is None else question.choices, 1):
        if not choice.place:
            continue
        place = np.array(choice.place) + np.array([0.0, 0.0, 0.6])
        text = f"{number}. {_short(choice.words)}?"
        markers += [
            ball_marker("choices", number, stamp, place, rgba(1.0, 0.9, 0.1), 0.25),
            text_marker(
                "choice_texts", number, stamp, place + np.array([0.0, 0.0, 0.3]), text, 0.25, (1.0, 0.9, 0.1)
            ),
        ]
    return markers


def _short(text: str) -> str:
    said = clean_text(text)
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
