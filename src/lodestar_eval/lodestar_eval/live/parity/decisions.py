"""Replay of a recorded run's requests for a decision ("questions") to a headless robot, and comparison of the
decisions.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.robot import HeadlessRobot
from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection, Thinking
from lodestar.experts.registry import FRONTIER
from lodestar.language.directive import Directive
from lodestar.scene.mirror import SceneMirror
from lodestar.selection.decisions import ArmRecord, Decision, Outcome
from lodestar_eval.live.parity.agreement import counterpart, goals_equal
from lodestar_eval.live.parity.policy import FollowingPolicy
from lodestar_eval.live.parity.recording import LiveRecording
from lodestar_eval.shadow import ShadowSelector
from lodestar_interfaces import msg
from lodestar_ros.conversions_agent import decision_from_msg, question_from_msg
from lodestar_ros.conversions_scene import scene_from_msg

_TIME_LIMIT = 3600.0  # s, never reached: the recording ends the directive
_SCENES = 100  # number of kept scenes, one per image; the live nodes may lag behind the newest
_GRID_EXPERT = FRONTIER.name  # expert whose proposals have the stamp of their grid
_NO_ANSWER = ("late: no answer", "not asked")  # reasons of arms without an answer in the live selector


@dataclass(frozen=True)
class ComparedGoal:
    """Goals (3,) of a live decision and of the headless robot at that time; headless: None = no goal."""

    live: Decision
    goal: np.ndarray
    headless: np.ndarray | None
    expert: str = ""

    @property
    def equal(self) -> bool:
        """Return whether both goals agree in position and heading."""
        return self.headless is not None and goals_equal(self.goal, self.headless)


class DecisionReplay:
    """Passes each live request for a decision ("question") to the headless experts, and lets the headless
    selector decide at the same time as the live one.

    The inputs are those of the live nodes: the recorded question, the grid and the scene of the newest stamps that
    the live nodes had, and only answers that the live selector had. After each decision the headless robot
    continues from the live decision, so that one difference does not cause the next.
    """

    def __init__(self, recording: LiveRecording, robot: HeadlessRobot) -> None:
        config = robot.config
        self.goals: list[ComparedGoal] = []
        self._recording, self._robot = recording, robot
        self._policy = FollowingPolicy(parts.policy(config.goal_selector))
        context = parts.loop_context(config.goal_selector, config.shared, robot.phrases, self._policy)
        self._shadow = ShadowSelector(context)
        self._live = SceneMirror()
        self._scenes: deque[SceneMirror] = deque(maxlen=_SCENES)
        self._begun = False
        self._grid_stamp = 0.0
        # (request, stamp of the grid that it waits for)
        self._waiting: tuple[ProposalRequest, float] | None = None
        # answers that the live selector has not received yet
        self._answers: dict[str, Proposal | Rejection] = {}
        self._asked = 0  # epoch of the newest question
        self._early: dict[int, list[msg.Decision]] = {}  # decisions received before their question, by epoch
        self._grid_stamps = {
            arm.proposal.epoch: arm.proposal.stamp
            for decision in recording.decisions.values()
            for arm in decision.arms
            if arm.expert == _GRID_EXPERT and arm.proposal is not None
        }

    def begin(self, directive: Directive, now: float) -> None:
        """Start a directive that the live robot follows."""
        self._begun = True
        self._robot.map.follow(directive)
        self._shadow.begin(directive, now, _TIME_LIMIT)

    def end(self) -> None:
        """End the replay; a live decision without a recorded question counts as without a headless goal."""
        for message in (message for waiting in self._early.values() for message in waiting):
            live = decision_from_msg(message)
            goal = _goal_of(live, live.chosen)
            if live.outcome is Outcome.PENDING and goal is not None:
                self.goals.append(ComparedGoal(live, goal, None))

    # --- facts ----------------------------------------------------------------------------------------------

    def on_pose(self, pose: np.ndarray, now: float) -> None:
        """Set the live robot's pose (3,)."""
        self._shadow.on_pose(pose, now)

    def on_view(self) -> None:
        """Store a snapshot of the headless scene; called after every image."""
        self._scenes.append(self._robot.map.mirror.snapshot())

    def on_live_scene(self, message: msg.SceneDelta) -> None:
        """Apply a delta of the live scene."""
        self._live.apply(scene_from_msg(message))

    def on_live_grid(self, stamp: float) -> None:
        """Record that both robots have a grid of this stamp; ask the question that waited for it."""
        self._grid_stamp = stamp
        self._ask_the_waiting(stamp)

    def _scene(self) -> SceneMirror:
        """Return the newest headless scene that is not newer than the live one."""
        known = [scene for scene in self._scenes if scene.stamp <= self._live.stamp + 1e-6]
        return known[-1] if known else (self._scenes[0] if self._scenes else self._robot.map.mirror)

    # --- questions and decisions ----------------------------------------------------------------------------

    def on_question(self, message: msg.Question) -> None:
        """Pass a question of the live selector to the headless experts."""
        if not self._begun:
            return
        request, experts = question_from_msg(message)
        request = replace(request, excluded_entities=self._known_here(request.excluded_entities))
        self._ask_the_waiting()
        for name in experts:  # a new question implies that the expert has answered the previous one
            self._hear(name)
        is_review = request.epoch not in self._recording.decisions
        self._shadow.facts.mirror = self._scene()
        self._shadow.ask(request, experts if is_review else None)
        for name in experts:
            if name == _GRID_EXPERT:
                self._waiting = request, self._grid_stamps.get(request.epoch, 0.0)
            else:
                self._ask(name, request)
        self._ask_the_waiting(self._grid_stamp)
        self._asked = request.epoch
        for decision in self._early.pop(request.epoch, []):
            self.on_decision(decision)

    def _known_here(self, identities: frozenset[int]) -> frozenset[int]:
        """Return the ids of the headless entities that match the live entities with these ids."""
        here = self._scene().entities.values()
        live = (self._live.get(identity) for identity in identities)
        found = (counterpart(entity, list(here)) for entity in live if entity is not None)
        return frozenset(entity.id for entity in found if entity is not None)

    def _ask_the_waiting(self, stamp: float = float("inf")) -> None:
        """Pass the waiting question to the expert that uses the grid, if this grid stamp is new enough."""
        if self._waiting is not None and self._waiting[1] <= stamp + 1e-6:
            request, self._waiting = self._waiting[0], None
            self._ask(_GRID_EXPERT, request)

    def _ask(self, name: str, request: ProposalRequest) -> None:
        scene = self._scene()
        self._robot.panel.set_scene(scene)
        answer = self._robot.propose(name, replace(request, may_wait=False))
        if not isinstance(answer, Thinking):
            self._answers[name] = answer

    def _hear(self, name: str) -> None:
        answer = self._answers.pop(name, None)
        if answer is not None:
            self._shadow.on_answer(answer)

    def on_decision(self, message: msg.Decision) -> None:
        """Compare a live decision, or apply the outcome of an earlier one."""
        decision = decision_from_msg(message)
        if not self._begun or not decision.chosen:
            return
        # decisions have their own topic, so they may arrive before their question
        if decision.epoch > self._asked:
            self._early.setdefault(decision.epoch, []).append(message)
            return
        facts = self._shadow.facts
        facts.mirror = self._scene()
        facts.take_grid(self._robot.grid, facts.stamp.seconds)
        if decision.outcome is Outcome.PENDING:
            self._decide(decision)
        else:
            self._shadow.close(decision.outcome)

    def _decide(self, live: Decision) -> None:
        self._ask_the_waiting()
        for arm in live.arms:
            if not arm.reason.startswith(_NO_ANSWER):
                self._hear(arm.expert)
        self._policy.live = live.chosen
        own = self._shadow.decide()
        goal = _goal_of(live, live.chosen)
        if goal is not None:
            expert = self._policy.own
            headless = None if own is None else _goal_of(own, expert)
            self.goals.append(ComparedGoal(live, goal, headless, expert if own is not None else ""))
        explored = _goal_of(live, _GRID_EXPERT)
        if explored is not None:
            explorer: Any = self._robot.experts[_GRID_EXPERT]
            explorer.take_up(explored)


def _goal_of(decision: Decision, expert: str) -> np.ndarray | None:
    """Return the goal (3,) that an arm of a decision proposed; None without one."""
    arm: ArmRecord | None = next((arm for arm in decision.arms if arm.expert == expert), None)
    if arm is None or arm.proposal is None:
        return None
    return np.asarray(arm.proposal.goal, np.float64)
