"""The decision loop (RoboAtlas Algorithm 1): a state machine that `tick(now)` advances.

Whoever owns it hands it facts (`on_...`), calls `tick` and carries out the commands that come back. It has no
thread and no clock; the ROS node and the headless runner drive the same class.
"""

from __future__ import annotations

import logging
import math

import numpy as np

from lodestar.agent.commands import (
    CancelGoal,
    Command,
    Feedback,
    NavigationEvent,
    State,
)
from lodestar.agent.config import LoopConfig
from lodestar.agent.core import CHARGER, HOME, Validator, passes
from lodestar.agent.credit import Ledger
from lodestar.agent.deciding import Deciding
from lodestar.agent.errors import Busy, ErrorCode, Held
from lodestar.agent.goals import GoalMemory
from lodestar.agent.questions import Questions
from lodestar.agent.run import Run
from lodestar.agent.targets import SceneTargets, Targets
from lodestar.agent.words import step_in_words
from lodestar.experts.protocol import Proposal, Rejection
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.selection.context import ContextBuilder, ContextConfig
from lodestar.selection.decision_log import Outcome
from lodestar.selection.policy import Policy
from lodestar.selection.reward import DirectiveReward, RewardModel

_log = logging.getLogger(__name__)


class DecisionLoop(Deciding):
    """Follows one directive at a time; `motion_allowed` is false whenever the robot must stand.

    experts: names of those that are asked, which are the policy's arms. features: of FEATURE_SETS, those that the
    policy learns of.
    """

    def __init__(
        self,
        config: LoopConfig,
        policy: Policy,
        phrases: PhraseBook | None,
        experts: tuple[str, ...],
        *,
        targets: Targets | None = None,
        context: ContextConfig | None = None,
        features: str = "iv_a",
        rewards: RewardModel | None = None,
        validator: Validator = passes,
    ) -> None:
        if tuple(policy.arms) != tuple(experts):
            raise ValueError(f"the policy's arms {policy.arms} are not the experts {experts}")
        if targets is None:
            if phrases is None:
                raise ValueError("a phrase book or targets are needed")
            targets = SceneTargets(phrases)
        builder = ContextBuilder(context or ContextConfig(), experts, features)
        ledger = Ledger(policy, builder, rewards or DirectiveReward())
        super().__init__(config, ledger, targets, experts, validator)

    # --- requests -------------------------------------------------------------------------------------------

    def start(self, directive: Directive, now: float, time_limit: float = 0.0) -> None:
        """Begin a directive; time_limit in seconds, 0 = the default. Raises Busy or Held."""
        if self.state is State.HELD:
            raise Held("the robot is held; release the hold first")
        if self._run is not None:
            raise Busy(f"another directive runs: {self._run.directive.text!r}")
        self._now = self._grid_heard = self._pose_heard = max(self._now, now)
        self._run = Run(
            directive=directive,
            started=self._now,
            time_limit=time_limit if time_limit > 0.0 else self.config.time_limit,
            config=self.config,
            distance_before=self._odometer.distance,
            goals=GoalMemory(self.config),
            questions=Questions(self.config),
        )
        words = step_in_words(directive, 0)
        self._run.text = f"{words[:1].upper()}{words[1:]}: asking the experts where to go."
        self._ledger.begin_directive(self._now, self._run.time_limit)
        self._redecide(self._run)

    def cancel(self, now: float) -> None:
        """The directive is over as CANCELLED; motion is refused at once, the commands come with the next
        tick.
        """
        self._now = max(self._now, now)
        if self._run is not None:
            self._finish(self._run, ErrorCode.CANCELLED, "Cancelled on request.", Outcome.CANCELLED)
        else:
            self._queue.append(CancelGoal("cancelled on request"))

    def hold(self, held: bool, now: float) -> None:
        """Set or release the latch that forbids motion; setting it ends a directive as HELD."""
        self._now = max(self._now, now)
        if not held:
            if self.state is State.HELD:
                self.state = State.IDLE
            return
        if self._run is not None:
            self._finish(
                self._run, ErrorCode.HELD, "Held: all motion was stopped on request.", Outcome.CANCELLED
            )
        elif self.state is not State.HELD:
            self._queue.append(CancelGoal("held"))
        self.state = State.HELD

    def restart_clock(self, now: float) -> None:
        """Time begins anew at `now`: a simulator or a replay has started again, and nothing known of where the
        robot is holds any more. A directive that runs is over.
        """
        if self._run is not None:
            message = "The clock went back: the simulator or the replay has started again."
            self._finish(self._run, ErrorCode.TF_ERROR, message, Outcome.CANCELLED)
        self._now = self._grid_heard = self._pose_heard = now
        self._pose_stamp = -math.inf
        self._pose = self._home = None

    # --- facts ----------------------------------------------------------------------------------------------

    def on_pose(self, pose: np.ndarray, stamp: float) -> None:
        """The robot is at pose (3,) x, y, yaw in map; a pose older than the last, or not finite, is
        dropped.
        """
        pose = np.array(pose, np.float64)
        if stamp < self._pose_stamp or pose.shape != (3,) or not np.isfinite(pose).all():
            return
        self._pose, self._pose_stamp, self._pose_heard = pose, stamp, self._now
        if self._home is None:
            self._home = pose
        self._odometer.observe(pose, stamp)
        self._ledger.builder.observe_pose(pose, stamp)

    def on_grid(self, grid: OccupancyGrid2D) -> None:
        """Everything is planned on this grid from now on."""
        self._grid, self._grid_heard, self._area = grid, self._now, grid.free_area

    def on_scene(self, mirror: SceneMirror) -> None:
        """The scene's copy, which may change in place between ticks."""
        self._mirror = mirror

    def on_answer(self, answer: Proposal | Rejection) -> None:
        """An expert's answer; one that comes late is kept for the next epoch, one that nobody asked for is dropped."""
        if self._run is not None:
            self._run.questions.hear(answer, self._now)

    def on_navigation(self, event: NavigationEvent) -> None:
        """News of the navigator, looked at in the next tick."""
        if self._run is not None and self._run.navigation is not None:
            self._run.events.append(event)

    # --- what others may know -------------------------------------------------------------------------------

    @property
    def motion_allowed(self) -> bool:
        """Whether the robot may move at all."""
        return self._run is not None and self.state not in (State.IDLE, State.HELD)

    @property
    def held(self) -> bool:
        """Whether the latch is set."""
        return self.state is State.HELD

    @property
    def directive(self) -> Directive | None:
        """The one that runs."""
        return self._run.directive if self._run is not None else None

    def feedback(self) -> Feedback:
        """What it does and why."""
        run = self._run
        if run is None:
            return Feedback(self.state.name, "", 0, self.epoch, math.nan, 0.0, self._area, None, "")
        navigation = run.navigation
        proposal = navigation.proposal if navigation is not None else None
        return Feedback(
            phase=self._phase(run),
            expert=proposal.expert if proposal is not None else "",
            subtask=run.subtask_index,
            epoch=navigation.epoch if navigation is not None else self.epoch,
            distance_remaining=navigation.distance_remaining if navigation is not None else math.nan,
            distance_travelled=self._odometer.distance - run.distance_before,
            coverage=self._area,
            goal=None if proposal is None else np.asarray(proposal.goal, np.float64).copy(),
            text=run.text,
        )

    def _phase(self, run: Run) -> str:
        if run.navigation is None or self.state is not State.NAVIGATING:
            return self.state.name
        if run.navigation.proposal.expert in (HOME, CHARGER):
            return "RETURNING"
        return "APPROACHING" if run.navigation.proposal.entity_id else "EXPLORING"

    # --- the machine ----------------------------------------------------------------------------------------

    def tick(self, now: float) -> list[Command]:
        """Advance to `now` (seconds; time that runs backwards counts as no time) and say what is to be
        done.
        """
        self._now = max(self._now, now)
        run = self._run
        if run is not None:
            if self._now - run.started > run.time_limit:
                self._finish(
                    run, ErrorCode.TIME_LIMIT, f"The time limit of {run.time_limit:.0f} s is reached."
                )
            elif not self._inputs_are_old(run):
                self._guarded(run)
        commands, self._queue = self._queue, []
        return commands

    def _inputs_are_old(self, run: Run) -> bool:
        """Whether the directive is over because the robot no longer knows what is around it or where it is."""
        config = self.config
        without_grid, without_pose = self._now - self._grid_heard, self._now - self._pose_heard
        if self._pose is not None and without_pose > config.pose_patience:
            message = (
                f"The robot's pose in the map has not been known for {without_pose:.0f} s; is odometry up?"
            )
            self._finish(run, ErrorCode.TF_ERROR, message)
        elif self._grid is not None and 0.0 < config.grid_patience < without_grid:
            message = f"No newer grid has come for {without_grid:.0f} s; does mapping still run?"
            self._finish(run, ErrorCode.NO_MAP, message)
        return self._run is not run

    def _guarded(self, run: Run) -> None:
        """One step; an error in it ends the directive, because it would come again with every tick."""
        try:
            self._step(run)
        except Exception as error:
            _log.exception("the decision loop failed")
            if self._run is run:
                self._finish(
                    run, ErrorCode.UNKNOWN, f"The decision loop failed: {type(error).__name__}: {error}"
                )

    def _step(self, run: Run) -> None:
        self._hear_navigator(run)
        if self._run is not run:
            return
        if self.state in (State.DECIDING, State.NAVIGATING) and self._energy_low(run):
            return
        if self.state is State.DECIDING:
            self._deciding(run)
        elif self.state is State.NAVIGATING:
            self._navigating(run)
        elif self.state is State.VERIFYING:
            self._verifying(run)
