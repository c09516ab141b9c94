"""Fake navigator with several kinds of behaviour; it drives the robot of an `errand_stage` along planned paths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from errand_rules import STEP

from lodestar.agent.errands.commands import NavigationEvent, NavigationKind, SendGoal
from lodestar.grid.paths import NoPath, plan_path

if TYPE_CHECKING:
    from errand_stage import Stage

SPEED = 0.8  # m/s of the robot

#: Kinds of behaviour of the navigator.
MANNERS = ("drives", "short", "fails", "at once", "never ends", "mute", "absent", "echoes")


@dataclass
class Navigator:
    """Holds at most one goal. manner: behaviour for new goals; a goal keeps the manner with which it was accepted."""

    stage: Stage
    manner: str = "drives"
    goal: np.ndarray | None = None
    epoch: int = 0
    taken: str = "drives"
    stood: float = 0.0  # s since the robot moved, with an accepted goal
    way: list[np.ndarray] | None = None  # remaining path, (2,) each; None = not planned yet

    def _news(self, kind: NavigationKind, **more) -> None:
        event = NavigationEvent(kind, epoch=self.epoch, **more)
        self.stage.judge.call("news of the navigator", lambda: self.stage.loop.on_navigation(event))

    def take(self, command: SendGoal) -> None:
        """Replace the current goal."""
        self.taken = self.manner
        self.goal, self.epoch = np.array(command.goal, float), command.epoch
        self.stood, self.way = 0.0, None
        if self.taken == "absent":
            self.goal = None
            self._news(NavigationKind.UNAVAILABLE, error_msg="not up")
        elif self.taken != "mute":
            self._news(NavigationKind.ACCEPTED)

    def drive(self) -> None:
        """Drive for one time step, and report its outcome."""
        stage, pose = self.stage, self.stage.pose.copy()
        if self.goal is None:
            return
        if not stage.loop.motion_allowed:  # the velocity gate is closed: the robot stands
            return
        taken = self.taken
        if taken == "fails":
            self.goal = None
            self._news(NavigationKind.ABORTED, error_code=208, error_msg="no valid path")
            return
        if taken == "at once":  # reports success at once, correctly if the robot is already there
            stage.judge.is_reached = math.dist(pose[:2], self.goal[:2]) <= 0.02
            self.goal = None
            self._news(NavigationKind.SUCCEEDED)
            return
        if taken == "echoes":
            old = NavigationEvent(NavigationKind.SUCCEEDED, epoch=max(self.epoch - 1, 1))
            if self.epoch > 1:
                stage.judge.call("news of the goal before", lambda: stage.loop.on_navigation(old))
        if taken in ("never ends", "mute"):
            self.stood += STEP
            return
        left = self._along(self.goal, SPEED * STEP)
        if taken == "short" and left <= 0.9:
            self.goal, stage.judge.is_reached = None, left <= 0.02
            self._news(NavigationKind.SUCCEEDED)
            return
        moved = math.dist(pose[:2], stage.pose[:2])
        if stage.battery is not None:
            stage.battery -= moved
        if left <= 0.02:
            stage.pose[2] = self.goal[2]
            self.goal = None
            stage.judge.is_reached = True
            self._news(NavigationKind.SUCCEEDED)
        elif moved < 0.01:
            self.goal = None
            self._news(NavigationKind.ABORTED, error_code=208, error_msg="no valid path")
        else:
            self._news(NavigationKind.FEEDBACK, distance_remaining=left)

    def _along(self, goal: np.ndarray, metres: float) -> float:
        """Drive along the path to the goal; return the remaining metres."""
        if self.way is None:
            try:
                self.way = list(np.asarray(plan_path(self.stage.grid, self.stage.pose[:2], goal[:2]))[1:])
            except NoPath:
                self.way = []
            if self.way and math.dist(self.way[-1], goal[:2]) < 0.3:
                self.way.append(np.array(goal[:2]))
        here, way = self.stage.pose[:2].copy(), self.way
        while way:
            step = math.dist(here, way[0])
            if step > metres:
                here = here + (way[0] - here) * (metres / step)
                break
            metres -= step
            here = np.array(way.pop(0), float)
        self.stage.pose[:2] = here
        rest = np.vstack([here, *way, goal[:2]])
        return float(np.hypot(*np.diff(rest, axis=0).T).sum())
