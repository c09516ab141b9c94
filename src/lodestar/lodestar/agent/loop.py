"""The decision loop (RoboAtlas Algorithm 1): a state machine that `tick(now)` advances.

Whoever owns it hands it facts (`on_...`), calls `tick` and carries out the commands that come back. It has no
thread and no clock; the ROS node and the headless runner drive the same class.
"""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.admission import Admission, heads_for
from lodestar.agent.commands import (
    CancelGoal,
    Command,
    Feedback,
    NavigationEvent,
    NavigationKind,
    State,
)
from lodestar.agent.config import LoopConfig
from lodestar.agent.core import LoopCore, Validator, passes
from lodestar.agent.credit import Ledger
from lodestar.agent.endings import give_up
from lodestar.agent.errors import Busy, ErrorCode, Held
from lodestar.agent.goals import GoalMemory
from lodestar.agent.run import BELOW_ACCEPT, FOUND, UNCONFIRMED, UNREACHABLE, Navigation, Run
from lodestar.agent.targets import SceneTargets, Targets, TargetView
from lodestar.agent.verification import Arrival, Evidence, inspect
from lodestar.agent.words import name_of
from lodestar.experts.protocol import ActionKind, Proposal, Rejection, RejectionReason
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive, DirectiveKind
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity
from lodestar.selection.context import ContextBuilder, ContextConfig
from lodestar.selection.decision_log import Outcome
from lodestar.selection.policy import Policy
from lodestar.selection.reward import RewardConfig

HOME = "return"  # whose goal the way back to the start is
EXPLORER = "frontier"  # the expert whose EXPLORED ends exploration
_REACHED = "reached, and it showed nothing"


class DecisionLoop(LoopCore):
    """Follows one directive at a time; `motion_allowed` is false whenever the robot must stand.

    experts: names of those that are asked, which are the policy's arms.
    """

    def __init__(
        self,
        config: LoopConfig,
        policy: Policy,
        phrases: PhraseBook | None,
        experts: tuple[str, ...],
        *,
        targets: Targets | None = None,
        context: ContextConfig = ContextConfig(),
        rewards: RewardConfig = RewardConfig(),
        validator: Validator = passes,
    ) -> None:
        if tuple(policy.arms) != tuple(experts):
            raise ValueError(f"the policy's arms {policy.arms} are not the experts {experts}")
        if targets is None:
            if phrases is None:
                raise ValueError("a phrase book or targets are needed")
            targets = SceneTargets(phrases)
        ledger = Ledger(policy, ContextBuilder(context, experts), rewards)
        super().__init__(config, ledger, targets, experts, validator)

    # --- requests -------------------------------------------------------------------------------------------

    def start(self, directive: Directive, now: float, time_limit: float = 0.0) -> None:
        """Begin a directive; time_limit in seconds, 0 = the default. Raises Busy or Held."""
        if self.state is State.HELD:
            raise Held("the robot is held; release the hold first")
        if self._run is not None:
            raise Busy(f"another directive runs: {self._run.directive.text!r}")
        self._now = max(self._now, now)
        self._run = Run(
            directive=directive,
            started=self._now,
            time_limit=time_limit if time_limit > 0.0 else self.config.time_limit,
            config=self.config,
            distance_before=self._odometer.distance,
            goals=GoalMemory(self.config),
            idle_since=self._now,
            text="Asking the experts where to go.",
        )
        self._ledger.begin_subtask()
        self._redecide(self._run)

    def cancel(self, now: float) -> None:
        """The directive is over as CANCELLED; motion is refused at once, the commands come with the next tick."""
        self._now = max(self._now, now)
        if self._run is not None:
            self._finish(self._run, ErrorCode.CANCELLED, "Cancelled on request.", Outcome.CANCELLED)

    def hold(self, held: bool, now: float) -> None:
        """Set or release the latch that forbids motion; setting it ends a directive as HELD."""
        self._now = max(self._now, now)
        if not held:
            if self.state is State.HELD:
                self.state = State.IDLE
            return
        if self._run is not None:
            self._finish(self._run, ErrorCode.HELD, "Held: all motion was stopped on request.", Outcome.CANCELLED)
        elif self.state is not State.HELD:
            self._queue.append(CancelGoal("held"))
        self.state = State.HELD

    # --- facts ----------------------------------------------------------------------------------------------

    def on_pose(self, pose: np.ndarray, stamp: float) -> None:
        """The robot is at pose (3,) x, y, yaw in map; a pose older than the last, or not finite, is dropped."""
        pose = np.array(pose, np.float64)
        if stamp < self._pose_stamp or pose.shape != (3,) or not np.isfinite(pose).all():
            return
        self._pose, self._pose_stamp = pose, stamp
        if self._home is None:
            self._home = pose
        self._odometer.observe(pose, stamp)
        self._ledger.builder.observe_pose(pose)

    def on_grid(self, grid: OccupancyGrid2D) -> None:
        """Everything is planned on this grid from now on."""
        self._grid, self._area = grid, grid.free_area

    def on_scene(self, mirror: SceneMirror) -> None:
        """The scene's copy, which may change in place between ticks."""
        self._mirror = mirror

    def on_answer(self, answer: Proposal | Rejection) -> None:
        """An expert's answer; one to an older question, or from someone who was not asked, is dropped."""
        run = self._run
        if run is None or run.request is None or answer.epoch != run.request.epoch or answer.expert not in run.asked:
            return
        run.answers.setdefault(answer.expert, answer)

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
        if run.navigation.proposal.expert == HOME:
            return "RETURNING"
        return "APPROACHING" if run.navigation.proposal.entity_id else "EXPLORING"

    # --- the machine ----------------------------------------------------------------------------------------

    def tick(self, now: float) -> list[Command]:
        """Advance to `now` (seconds; time that runs backwards counts as no time) and say what is to be done."""
        self._now = max(self._now, now)
        run = self._run
        if run is not None:
            if self._now - run.started > run.time_limit:
                self._finish(run, ErrorCode.TIME_LIMIT, f"The time limit of {run.time_limit:.0f} s is reached.")
            else:
                self._step(run)
        commands, self._queue = self._queue, []
        return commands

    def _step(self, run: Run) -> None:
        self._hear_navigator(run)
        if self._run is not run:
            return
        if self.state is State.DECIDING:
            self._deciding(run)
        elif self.state is State.NAVIGATING:
            self._navigating(run)
        elif self.state is State.VERIFYING:
            self._verifying(run)

    def _deciding(self, run: Run) -> None:
        if self._pose is None or self._grid is None:
            if self._now - run.started > self.config.no_map_timeout:
                if self._grid is None:
                    self._finish(run, ErrorCode.NO_MAP, f"No grid came in {self.config.no_map_timeout:.0f} s.")
                else:
                    self._finish(run, ErrorCode.TF_ERROR, "The robot's pose in the map is not known.")
            return
        if run.directive.kind is DirectiveKind.RETURN:
            self._go_home(run)
        elif run.request is None:
            if self._now >= run.ask_after:
                self._ask(run, self.experts)
        elif run.complete or self._now >= run.request.deadline:
            view = self._look(run)
            admission = self._admit(run, view)
            if admission.admissible:
                run.idle_since = self._now
                self._choose(run, admission, view)
            else:
                self._nothing_to_do(run, admission, view)

    def _go_home(self, run: Run) -> None:
        assert self._home is not None
        if self._now < run.ask_after:
            return
        self.epoch += 1
        run.text = "Going back to where I started."
        self._send(run, Proposal(HOME, self.epoch, self._home.copy(), 1.0, run.text), self.epoch)

    def _nothing_to_do(self, run: Run, admission: Admission, view: TargetView) -> None:
        """No expert has an admissible proposal: try excluded goals once more, wait, or give up."""
        run.request = None
        if admission.rejection(EXPLORER) is RejectionReason.EXPLORED:
            if run.directive.kind in (DirectiveKind.EXPLORE, DirectiveKind.INVENTORY):
                self._finish(run, ErrorCode.NONE, f"Explored: {self._area:.0f} m2 known free.", Outcome.REACHED)
            elif run.goals.forgive():
                self._redecide(run)
            else:
                entities = self._mirror.entities if self._mirror is not None else {}
                self._finish(run, *give_up(run, admission, view, entities))
            return
        self._redecide(run, self.config.retry_interval)
        if self._now - run.idle_since > self.config.no_expert_timeout:
            reasons = "; ".join(f"{arm.expert}: {arm.reason}" for arm in admission.arms)
            self._finish(run, ErrorCode.NO_EXPERT, f"No expert could propose anything ({reasons}).")

    # --- driving --------------------------------------------------------------------------------------------

    def _hear_navigator(self, run: Run) -> None:
        events, run.events = run.events, []
        for event in events:
            navigation = run.navigation
            if self._run is not run or navigation is None or event.epoch not in (0, navigation.epoch):
                continue
            if event.kind is not NavigationKind.UNAVAILABLE:
                run.unavailable_since = None
            if event.kind in (NavigationKind.ACCEPTED, NavigationKind.FEEDBACK):
                navigation.accepted = True
                if math.isfinite(event.distance_remaining):
                    navigation.distance_remaining = event.distance_remaining
            elif event.kind is NavigationKind.SUCCEEDED:
                self._arrived(run, navigation)
            elif event.kind is NavigationKind.UNAVAILABLE:
                self._unavailable(run, event.error_msg)
            else:
                detail = f"{event.error_msg or event.kind.value} ({event.error_code})"
                self._failed(run, navigation, f"the navigator {event.kind.value} it: {detail}")

    def _arrived(self, run: Run, navigation: Navigation) -> None:
        """The robot stands at the goal: look before deciding anything."""
        proposal = navigation.proposal
        run.navigation, run.request = None, None
        run.failures = 0
        run.arrival = Arrival(np.asarray(proposal.goal), proposal.entity_id, proposal.expert, self._now)
        entity = self._entity(proposal.entity_id)
        run.text = f"Arrived; checking {name_of(entity)}." if entity is not None else "Arrived; looking around."
        self.state = State.VERIFYING

    def _failed(self, run: Run, navigation: Navigation, why: str) -> None:
        """The goal is excluded, unless the robot already faces a target from where it stands."""
        view = self._look(run)
        if self._faced(view) is not None:
            self._queue.append(CancelGoal(why))
            self._arrived(run, navigation)
            return
        run.navigation = None
        run.failures += 1
        run.last_failure = why
        self._close(Outcome.ABORTED, view)
        run.goals.exclude(navigation.proposal.goal, why, self._grid)
        entity = self._entity(navigation.proposal.entity_id)
        if entity is not None:
            self._spend_viewpoint(run, entity, UNREACHABLE)
        if run.failures >= self.config.max_navigation_failures:
            self._finish(
                run, ErrorCode.NAVIGATION_FAILED, f"Navigation failed {run.failures} times in a row; the last: {why}."
            )
            return
        run.text = f"That goal failed ({why}); choosing another."
        self._redecide(run, self.config.retry_interval)

    def _unavailable(self, run: Run, message: str) -> None:
        if run.unavailable_since is None:
            run.unavailable_since = self._now
        detail = f": {message}" if message else ""
        if self._now - run.unavailable_since >= self.config.navigator_timeout:
            self._finish(run, ErrorCode.NAVIGATOR_UNAVAILABLE, f"The navigator is not available{detail}.")
            return
        run.text = f"Waiting for the navigator{detail}."
        run.navigation = None
        self._close(Outcome.ABORTED)
        self._redecide(run, self.config.retry_interval)

    def _navigating(self, run: Run) -> None:
        navigation = run.navigation
        assert navigation is not None and self._pose is not None
        config = self.config
        if not navigation.accepted and self._now - navigation.sent > config.accept_timeout:
            self._halt(run, "the navigator does not answer")
            self._unavailable(run, "it does not answer")
        elif self._now > navigation.deadline:
            self._halt(run, "it takes too long")
            self._failed(run, navigation, "it took too long")
        elif navigation.accepted and self._odometer.still_for(self._now) > config.stuck_time:
            self._halt(run, "stuck")
            self._failed(run, navigation, f"no movement for {config.stuck_time:.0f} s")
        elif navigation.proposal.expert != HOME:
            if self._now - run.last_check >= config.target_check_interval:
                run.last_check = self._now
                if self._target_news(run, navigation):
                    self._redecide(run)
                    return
            self._review(run, navigation)

    def _target_news(self, run: Run, navigation: Navigation) -> bool:
        """Whether the scene now says to go elsewhere: a target appeared, or this one is none any more."""
        view = self._look(run)
        accepted = self._accepted_entities(view)
        if accepted and not heads_for(navigation.proposal, accepted):
            new = {entity.id for entity in accepted} - run.known_targets
            patience_over = self._now - run.last_decision > 3.0 * self.config.review_interval
            if new or patience_over:
                run.text = f"{name_of(accepted[0])}, may be it; deciding anew."
                return True
        if navigation.proposal.entity_id and self._entity(navigation.proposal.entity_id) is None:
            run.text = "What I was going to is not there any more."
            return True
        return False

    def _review(self, run: Run, navigation: Navigation) -> None:
        """Ask the explorer on the way whether its goal is still worth it; decide anew where it is not."""
        proposal = navigation.proposal
        if run.request is not None and run.is_review:
            if not run.complete and self._now < run.request.deadline:
                return
            answer = run.answers.get(EXPLORER)
            run.request = None
            if answer is None:
                return
            moved = isinstance(answer, Rejection) or (
                math.hypot(*(np.asarray(answer.goal)[:2] - np.asarray(proposal.goal)[:2])) > self.config.review_distance
                or abs(float(wrap_angle(answer.goal[2] - proposal.goal[2]))) > math.pi / 2
            )
            if moved:
                run.text = "What I was going to look at is known by now; deciding anew."
                self._redecide(run)
        elif (
            proposal.expert == EXPLORER
            and proposal.action is ActionKind.GO
            and self._now - run.last_review >= self.config.review_interval
        ):
            run.last_review = self._now
            self._ask(run, (EXPLORER,), review=True)

    # --- arrival --------------------------------------------------------------------------------------------

    def _faced(self, view: TargetView) -> Entity | None:
        """The best accepted entity that the robot stands before, whether seen again or not."""
        if self._pose is None:
            return None
        for entity in self._accepted_entities(view):
            evidence = inspect(entity, self._pose, self._grid, math.inf, self.config)
            if evidence is Evidence.NOT_SEEN:
                return entity
        return None

    def _verifying(self, run: Run) -> None:
        arrival = run.arrival
        assert arrival is not None and self._pose is not None
        if arrival.expert == HOME:
            self._verify_home(run)
            return
        view = self._look(run)
        waited = self._now - arrival.stamp
        faced = self._faced(view)
        if faced is not None:
            if inspect(faced, self._pose, self._grid, arrival.stamp, self.config) is Evidence.CONFIRMED:
                self._succeed(run, faced, view)
            elif waited > self.config.verify_time:
                run.goals.exclude(arrival.goal, UNCONFIRMED, self._grid)
                self._spend_viewpoint(run, faced, UNCONFIRMED)
                self._leave(run, view, f"{name_of(faced)}, was not seen again from here")
            return
        entity = self._entity(arrival.entity_id)
        if entity is None:
            if waited >= self.config.look_time:
                run.goals.exclude(arrival.goal, _REACHED, self._grid)
                self._leave(run, view, "nothing here is it")
            return
        seen = entity.last_seen > arrival.stamp
        if waited <= (self.config.look_time if seen and view.is_accepted(entity.id) else self.config.verify_time):
            return
        run.goals.exclude(arrival.goal, "it does not show the target as it should", self._grid)
        if view.is_accepted(entity.id):  # known better by now, and not faced from here
            self._spend_viewpoint(run, entity, UNREACHABLE)
            self._leave(run, view, f"{name_of(entity)}, is not in front of me; trying another place")
        else:
            run.excluded[entity.id] = BELOW_ACCEPT
            why = view.explanation(entity.id)
            self._leave(run, view, f"{name_of(entity)}, is not it{': ' + why if why else ''}")

    def _spend_viewpoint(self, run: Run, entity: Entity, reason: str) -> None:
        """One viewpoint of the entity is used up; with the last of them the entity is excluded."""
        run.viewpoints[entity.id] += 1
        if run.viewpoints[entity.id] >= self.config.max_viewpoints:
            run.excluded[entity.id] = reason

    def _leave(self, run: Run, view: TargetView, text: str) -> None:
        run.arrival = None
        run.text = f"{text[:1].upper()}{text[1:]}."
        self._close(Outcome.REACHED, view)
        self._redecide(run)

    def _verify_home(self, run: Run) -> None:
        assert self._pose is not None and self._home is not None and run.arrival is not None
        away = math.hypot(self._pose[0] - self._home[0], self._pose[1] - self._home[1])
        run.arrival = None
        if away <= self.config.return_tolerance:
            self._finish(run, ErrorCode.NONE, "Back where I started.", Outcome.REACHED)
        else:
            run.failures += 1
            why = f"the navigator stopped {away:.1f} m from the start"
            if run.failures >= self.config.max_navigation_failures:
                self._finish(run, ErrorCode.NAVIGATION_FAILED, f"Could not come back: {why}.")
            else:
                self._redecide(run, self.config.retry_interval)

    def _succeed(self, run: Run, entity: Entity, view: TargetView) -> None:
        """The target is confirmed: on to the next step, or done."""
        run.arrival = None
        run.found.append(entity.id)
        run.found_here += 1
        text = f"Found {name_of(entity)}: it is in front of me and was seen again on arrival."
        if run.found_here < run.subtask.count:
            run.excluded[entity.id] = FOUND
            run.text = f"{text} {run.subtask.count - run.found_here} more to find."
        elif run.subtask_index + 1 < len(run.directive.subtasks):
            run.next_subtask()
            run.text = f"{text} Next: {run.subtask.target}."
        else:
            self._finish(run, ErrorCode.NONE, text, Outcome.REACHED)
            return
        self._close(Outcome.REACHED, view, success=True)
        self._ledger.begin_subtask()
        self._redecide(run)
