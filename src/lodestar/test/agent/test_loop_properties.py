"""Property tests: for all events in all orders the loop never raises, never moves when forbidden, and always ends."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from agent_fakes import EXPERTS, World, entity, explore, find, proposal, room
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lodestar.agent.errands.commands import (
    CancelGoal,
    Finish,
    NavigationEvent,
    NavigationKind,
    RequestProposals,
    SendGoal,
    State,
)
from lodestar.agent.facts.errors import Busy, Held
from lodestar.experts.protocol import Rejection, RejectionReason
from lodestar.language.directive import Directive, Item, Step, StepKind

coordinates = st.one_of(st.floats(-20.0, 20.0), st.sampled_from([math.nan, math.inf]))
directives = st.sampled_from(
    [
        find(),
        find("red chair", "green plant"),
        Directive("odd", (Step(StepKind.FIND, Item()),)),
        explore(),
        Directive("list", (Step(StepKind.LIST),)),
        Directive("come back", (Step(StepKind.RETURN),)),
    ]
)
events = st.one_of(
    st.tuples(st.just("tick"), st.floats(-1.0, 5.0)),
    st.tuples(st.just("tick"), st.floats(0.05, 0.3)),
    st.tuples(st.just("start"), directives),
    st.tuples(st.just("cancel")),
    st.tuples(st.just("hold"), st.booleans()),
    st.tuples(st.just("pose"), coordinates, coordinates, coordinates),
    st.tuples(st.just("grid"), st.sampled_from([5.0, 10.0, 12.0])),
    st.tuples(st.just("answer"), st.sampled_from(EXPERTS), coordinates, coordinates, st.integers(0, 3)),
    st.tuples(st.just("reject"), st.sampled_from(EXPERTS), st.sampled_from(list(RejectionReason))),
    st.tuples(st.just("navigation"), st.sampled_from(list(NavigationKind)), st.integers(-1, 1)),
    st.tuples(st.just("see"), st.integers(1, 3), st.floats(0.0, 10.0), st.floats(0.0, 1.0)),
    st.tuples(st.just("forget"), st.integers(1, 3)),
)


class Driver:
    """Applies events to a loop and checks the invariants after each."""

    def __init__(self) -> None:
        self.world = World(mixing=0.05)
        self.loop = self.world.loop
        self.now = 0.0
        self.running = False
        self.navigating = False

    def apply(self, event) -> None:
        getattr(self, event[0])(*event[1:])
        if event[0] in ("cancel", "hold") and event[1:] != (False,):
            assert not self.loop.motion_allowed
        if self.loop.state in (State.IDLE, State.HELD):
            assert not self.loop.motion_allowed
        assert np.isfinite(self.loop.feedback().coverage)

    def tick(self, dt) -> None:
        self.now += dt
        self._take(self.loop.tick(self.now))

    def _take(self, commands) -> None:
        for command in commands:
            if isinstance(command, SendGoal):
                assert self.loop.motion_allowed and np.isfinite(command.goal).all()
                self.navigating = True
            elif isinstance(command, CancelGoal):
                self.navigating = False
            elif isinstance(command, Finish):
                assert self.running and not self.navigating
                assert command.result.success == (command.result.error_code == 0)
                self.running = False
        if not self.running:
            assert not any(isinstance(c, SendGoal | RequestProposals) for c in commands)

    def start(self, directive) -> None:
        try:
            self.loop.start(directive, self.now, time_limit=60.0)
            self.running = True
        except (Busy, Held):
            assert self.running or self.loop.held

    def cancel(self) -> None:
        self.loop.cancel(self.now)
        self._after_stop()

    def hold(self, held) -> None:
        self.loop.hold(held, self.now)
        if held:
            self._after_stop()
            assert self.loop.held

    def _after_stop(self) -> None:
        was = self.navigating
        commands = self.loop.tick(self.now)
        assert not was or any(isinstance(c, CancelGoal) for c in commands)
        self._take(commands)
        assert not self.running and not self.navigating

    def pose(self, x, y, yaw) -> None:
        self.loop.on_pose(np.array([x, y, yaw]), self.now)

    def grid(self, side) -> None:
        self.loop.on_grid(room(side))

    def _epoch(self) -> int:
        return self.loop.epoch

    def answer(self, expert, x, y, identity) -> None:
        answer = replace(proposal(x, y, 0.0, 0.5, identity), expert=expert, epoch=self._epoch())
        self.loop.on_answer(answer)

    def reject(self, expert, reason) -> None:
        self.loop.on_answer(Rejection(expert, self._epoch(), reason, "no"))

    def navigation(self, kind, age) -> None:
        epoch = 0 if age == 0 else self._epoch() + age  # 0 stands for the current goal, whichever it is
        if kind in (NavigationKind.SUCCEEDED, NavigationKind.ABORTED) and epoch == 0:
            self.navigating = False
        self.loop.on_navigation(NavigationEvent(kind, 1, "x", math.nan, epoch))

    def see(self, identity, x, score) -> None:
        self.world.mirror.put(entity(identity, x, 5.0, last_seen=max(self.now, 0.0)))
        self.world.targets.scores[identity] = score

    def forget(self, identity) -> None:
        self.world.mirror.remove(identity)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(events, max_size=60))
def test_any_sequence_of_events_is_survived_and_ends(sequence):
    driver = Driver()
    for event in sequence:
        driver.apply(event)
    for _ in range(80):  # until after the time limit of 60 s
        driver.tick(1.0)
    assert not driver.running
    assert driver.loop.state in (State.IDLE, State.HELD)
    assert not driver.loop.motion_allowed
