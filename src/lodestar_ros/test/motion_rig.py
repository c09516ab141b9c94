"""The real classes of gate, follower, loop thread, orders and base rules, over channels that deliver in any order.

Nothing runs by itself: an explorer chooses which event comes, and which message arrives next.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from rclpy.task import Future
from std_srvs.srv import SetBool

import lodestar_ros.loop_thread as thread_module
from lodestar.agent.errands.commands import CancelGoal, SendGoal, State
from lodestar_console.intake import orders as orders_module
from lodestar_console.intake.calls import NotThere
from lodestar_console.intake.orders import RosStack
from lodestar_console.intake.robot_state import RobotState
from lodestar_go2.base import BaseConfig, BaseRules
from lodestar_interfaces.msg import Hold
from lodestar_interfaces.srv import PlaceHold, ReleaseHold
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.motion import authority as authority_module
from lodestar_ros.motion import holds as holds_module
from lodestar_ros.motion.authority import UNTOLD, Kind, MotionAuthority
from lodestar_ros.motion.gate import ZERO, MotionGate
from lodestar_ros.motion.holds import HoldFollower, standing_from_msg
from lodestar_ros.nodes.motion_gate_node import MotionGateNode
from lodestar_ros.stop_services import StopServices

WALL = 1.8e9
NODES = ("gate", "base", "selector", "console")


class Broken(AssertionError):
    """A promise was broken; the message tells which one."""


class Disk:
    """A file that survives its process."""

    def __init__(self) -> None:
        self.text: str | None = None
        self.parent = self

    def read_text(self) -> str:
        if self.text is None:
            raise FileNotFoundError
        return self.text


class Loop:
    """A decision loop in short: a directive gets its goal with the next tick, and loses it at a hold, pause or end."""

    def __init__(self) -> None:
        self.run = self.goal = self.held = self.paused = False
        self.epoch, self.epoch_seconds, self.skill = 0, 0.0, ""

    @property
    def state(self) -> State:
        return (
            State.HELD
            if self.held
            else State.NAVIGATING
            if self.goal
            else State.DECIDING
            if self.run
            else State.IDLE
        )

    @property
    def directive(self) -> object | None:
        return self if self.run else None

    @property
    def goal_under_way(self) -> bool:
        return self.goal

    @property
    def motion_allowed(self) -> bool:
        return self.goal and not self.paused

    def feedback(self) -> Any:
        return None

    def start(self) -> None:
        self.run = self.run or not (self.held or self.paused)

    def cancel(self) -> None:
        self.run = self.goal = False

    def hold(self, held: bool, now: float, why: str = "") -> None:
        if held and not self.held:
            self.cancel()
        self.held = held

    def pause(self, paused: bool, now: float, why: str = "") -> None:
        self.paused, self.goal = paused, self.goal and not paused

    def restart_clock(self, now: float) -> None:
        self.cancel()

    def tick(self, now: float) -> list:
        if self.run and not self.goal and not self.paused:
            self.goal = True
            return [SendGoal(1, None)]
        return [CancelGoal("")] if not self.run else []


class NoAnswer:
    """Ignore the answer to a STOP, which only the page shows."""

    future = None

    def give(self, value: Any) -> None: ...


class NoCollector:
    def rest(self) -> None: ...

    def close(self) -> None: ...


class Shell:
    """Offer its parts the interface of a `LodestarNode`; clients and topics end in the rig's channels."""

    def __init__(self, rig: Rig, name: str) -> None:
        self.rig, self.name = rig, name
        self.services: dict[str, Any] = {}
        self.hear: Any = None
        self.diagnostics = SimpleNamespace(error=lambda error: None)

    def create_service(self, kind: Any, name: str, answer: Any) -> None:
        self.services[name.removeprefix("~/")] = answer

    def create_client(self, kind: Any, name: str) -> Any:
        def call(request: Any) -> Future:
            future = Future()
            self.rig.send(f"{self.name}>gate", (request, future))
            return future

        return SimpleNamespace(
            call_async=call, service_is_ready=lambda: True, remove_pending_request=lambda future: None
        )

    def listen(self, kind: Any, topic: str, callback: Any, profile: Any) -> None:
        self.hear = callback

    def steady_timer(self, period: float, callback: Any) -> None: ...

    def on_close(self, close: Any) -> None: ...

    def get_name(self) -> str:
        return self.name

    def get_logger(self) -> Any:
        return SimpleNamespace(warning=lambda *_: None, error=lambda *_: None)


class GateShell(Shell):
    """The gate's node without DDS: its own service handlers over the real authority and gate."""

    _on_place, _on_release, _on_hold = (
        MotionGateNode._on_place,
        MotionGateNode._on_release,
        MotionGateNode._on_hold,
    )
    _tell = MotionGateNode._tell

    def __init__(self, rig: Rig, crashed: bool) -> None:
        super().__init__(rig, "gate")
        self._authority = MotionAuthority(rig.disk, WALL, crashed)
        self.gate = MotionGate(self._authority)
        self._holds = SimpleNamespace(publish=rig.tell)
        self._tell()

    def _publish(self, velocity: Any) -> None: ...

    def _check(self) -> None: ...


class Rig:
    """The processes and what is under way between them. Time stands, but for a silence of the goal selector.

    base: go2_base is one of them. late_answers: the answers of the gate's services arrive in any order too, else with
    the request. due: numbers of the acknowledged holds and pauses that nobody has released. answered: owners of holds
    and pauses that the goal selector or the base has acknowledged before the gate has recorded them.
    """

    def __init__(self, base: bool = True, late_answers: bool = True) -> None:
        self.disk, self.now = Disk(), 100.0
        self.has_base, self.late_answers = base, late_answers
        self.channels: dict[str, deque] = {}
        self.due: set[int] = set()
        self.answered: set[str] = set()
        self.informed = True  # the gate has the newest heartbeat of the running goal selector
        self.beaten: tuple | None = None  # the newest heartbeat
        self.latched: Any = None
        self.gate = GateShell(self, False)
        self.begin_selector(False)
        self.begin_base(False)
        self.begin_console()

    # --- processes ------------------------------------------------------------------------------------------

    def begin_selector(self, crashed: bool) -> None:
        self.loop = Loop()
        self.thread = LoopThread(
            self.loop, lambda: 0.0, lambda command: None, lambda: None, 0.1, 1e9, self.fail
        )
        self.selector = Shell(self, "selector")
        self.thread.follow(self.thread.told)
        holds_module.RunMark = lambda file: SimpleNamespace(crashed=crashed, twin=False, close=None)
        self.stops = StopServices(self.selector, self.thread, self, self, lambda: None)
        self.beat()
        self.channels["gate>selector"] = deque([self.latched])

    def begin_base(self, crashed: bool) -> None:
        self.rules = BaseRules(BaseConfig(guard_timeout=0.0))
        self.base = Shell(self, "base")
        holds_module.RunMark = lambda file: SimpleNamespace(crashed=crashed, twin=False, close=None)
        self.follower = HoldFollower(self.base, lambda standing: self.rules.follow(standing, self.now))
        self.channels["gate>base"] = deque([self.latched])
        if not self.has_base:
            self.deliver("gate>base")

    def begin_console(self) -> None:
        self.console = Shell(self, "console")
        stack = self.stack = RosStack.__new__(RosStack)
        stack._node, stack._asked = self.console, deque()
        stack._gate = self.console.create_client(PlaceHold, "place_hold")
        stack._caller = self
        stack._robot = type("Shown", (), {"standing": UNTOLD, "holds": RobotState.holds})()
        self.console.hear = lambda message: setattr(stack._robot, "standing", standing_from_msg(message))
        self.channels["gate>console"] = deque([self.latched])

    async def service(self, name: str, request: Any, patience: float) -> Any:
        """Send the console's release; its answer changes nothing here."""
        self.send("console>gate", (request, Future()))
        return ReleaseHold.Response()

    def fail(self, error: Exception) -> None:
        raise error

    def withdraw(self) -> None: ...

    # --- messages -------------------------------------------------------------------------------------------

    def send(self, channel: str, item: Any) -> None:
        self.channels.setdefault(channel, deque()).append(item)

    def tell(self, message: Any) -> None:
        """Latch the gate's word; of a topic with depth 1 only the newest waits."""
        self.latched = message
        for name in NODES[1 if self.has_base else 2 :]:
            self.channels[f"gate>{name}"] = deque([message])

    def news(self) -> tuple:
        """Return what the next heartbeat says."""
        thread = self.thread
        return thread.motion_allowed, thread.status.goal_under_way, max(thread.follows, 0)

    def beat(self) -> None:
        self.beaten = self.news()
        self.channels["beat"] = deque([self.beaten])
        self.informed = False

    def deliver(self, channel: str) -> None:
        item = self.channels[channel].popleft()
        if channel == "beat":
            allowed, goal, follows = item
            self.gate.gate.on_heartbeat(allowed and goal, follows, self.now)
            self.informed = True
        elif channel.startswith("gate>"):
            getattr(self, channel.removeprefix("gate>")).hear(item)
        elif channel.startswith("answer>"):
            future, response, owner = item
            if owner is not None and channel == "answer>console":
                self.acknowledge(owner, int(response.number))
            future.set_result(response)
            for callback in future._callbacks:  # no executor runs them
                callback(future)
        else:
            self.serve(channel.removesuffix(">gate"), *item)

    def serve(self, who: str, request: Any, future: Future) -> None:
        """Let the gate answer; note what it has recorded."""
        standing = self.gate._authority.standing
        if isinstance(request, PlaceHold.Request):
            response = self.gate._on_place(request, PlaceHold.Response())
            owner = Kind(request.kind), request.who
            if earlier := self.due & {one.number for one in standing.records if one.owner == owner}:
                self.due = self.due - earlier | {
                    int(response.number)
                }  # it stands in the place of the earlier one
            if request.who in self.answered:
                self.answered.discard(request.who)
                self.acknowledge(owner, int(response.number))
        else:
            response, owner = self.gate._on_release(request, ReleaseHold.Response()), None
            if not response.error_code:
                self.due.discard(int(request.number))
        self.send(f"answer>{who}", (future, response, owner))
        if not self.late_answers:
            self.deliver(f"answer>{who}")

    def acknowledge(self, owner: tuple[Kind, str], number: int) -> None:
        """Note an acknowledged record, unless it was released before the answer came."""
        records = self.gate._authority.standing.records
        self.due |= {one.number for one in records if one.owner == owner and one.number >= number}

    # --- what an explorer chooses from --------------------------------------------------------------------

    def events(self) -> dict[str, Any]:
        """Return the events by name."""
        asks = {
            f"{name} {'on' if on else 'off'}": (lambda name=name, on=on: self.ask(self.selector, name, on))
            for name in ("hold", "pause")
            for on in (True, False)
        }
        of_base = {"base hold": lambda: self.ask(self.follower, "hold", True), "base killed": self.kill_base}
        return {
            **(of_base if self.has_base else {}),
            **asks,
            "STOP": self.press_stop,
            "Resume": self.press_resume,
            "directive": lambda: self.thread.ask(self.loop.start, lambda _: None, None),
            "cancel": lambda: (self.thread.stop(self.loop.cancel), self.beat()),
            "gate killed": self.kill_gate,
            "selector killed": self.kill_selector,
            "silence": self.be_silent,
            "clock jump": self.thread.restart_clock,
        }

    def steps(self) -> dict[str, Any]:
        """Return what may happen next by itself: arrivals, the loop's work, heartbeats, repeated requests."""
        found = {
            f"<{name}": (lambda name=name: self.deliver(name))
            for name, queue in self.channels.items()
            if queue
        }
        own = self.own_steps()
        if self.thread._halts or self.thread._inbox or self.thread._outbox:
            found["work"] = own["work"]
        if self.news() != self.beaten or (self.gate.gate._beat < self.now and not self.channels.get("beat")):
            found["beat"] = own["beat"]
        for name, follower in (("selector", self.stops._holds), ("base", self.follower)):
            waits = any(not record.number for record in follower._asked.values())
            if waits and not self.channels.get(f"{name}>gate") and not self.channels.get(f"answer>{name}"):
                found[f"{name} asks again"] = own[f"{name} asks again"]
        return found

    def own_steps(self) -> dict[str, Any]:
        """Return the steps that deliver no message, whether they are due or not."""
        again = {
            f"{name} asks again": lambda follower=follower: (follower._sent.clear(), follower._check())
            for name, follower in (("selector", self.stops._holds), ("base", self.follower))
        }
        return {"work": self.work, "beat": self.beat, **again}

    def ask(self, server: Any, name: str, on: bool) -> None:
        if server is self.follower:
            server.place(Kind.HOLD, "base/hold", "")
            self.answered.add("base/hold")
            return
        response = server.services[name](SetBool.Request(data=on), SetBool.Response())
        if on and response.success:
            self.answered.add(f"selector/{name}")

    def press_stop(self) -> None:
        self.stack.stop("console")

    def press_resume(self) -> None:
        with suppress(NotThere):
            shown = SimpleNamespace(numbers=[one.number for one in self.stack._robot.holds])
            run_at_once(self.stack._resume(shown, SimpleNamespace(name="Ada"), None))

    def kill_gate(self) -> None:
        for name in NODES[1:]:
            for channel in (f"{name}>gate", f"answer>{name}", f"gate>{name}"):
                self.channels.pop(channel, None)
        self.channels.pop("beat", None)
        self.informed = False
        owners = {one.owner: one.number for one in self.gate._authority.standing.records}
        self.gate = GateShell(self, True)
        numbers = {one.owner: one.number for one in self.gate._authority.standing.records}
        if lost := [owner for owner, number in owners.items() if number in self.due and owner not in numbers]:
            raise Broken(f"{lost} was acknowledged, and lost by a crash")
        self.due = {numbers[owner] for owner, number in owners.items() if number in self.due}

    def kill_selector(self) -> None:
        self.forget("selector")
        self.begin_selector(True)

    def kill_base(self) -> None:
        self.forget("base")
        self.begin_base(True)

    def forget(self, name: str) -> None:
        """Let nobody hear the answers to a killed process; expect its hold in the place of what it acknowledged."""
        self.channels.pop(f"answer>{name}", None)
        asked = self.channels.get(f"{name}>gate", ())
        self.channels[f"{name}>gate"] = deque((request, Future()) for request, _ in asked)
        if lost := {one for one in self.answered if one.startswith(name)}:
            self.answered = self.answered - lost | {name}

    def be_silent(self) -> None:
        self.now += 1.0

    def work(self) -> None:
        """Do what waits for the loop's thread, tick, and carry out what follows."""
        thread = self.thread
        while thread._halts:
            thread._do(thread._halts.popleft())
        for key in list(thread._inbox):
            thread._do(thread._inbox.pop(key))
        thread._do(thread._tick)
        thread.deliver()

    # --- promises -------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise Broken if a velocity leaves that must not; the navigator always commands one."""
        gate = self.gate.gate
        gate.on_command((0.5, 0.0, 0.0), self.now)
        passes = gate.output(self.now) != ZERO
        self.rules.on_state(0.0, self.now)
        self.rules.on_legs(0.0, 0.3, self.now)  # it stands on its legs, or nothing would move it
        moves = passes and self.has_base and not self.rules.blocked_by(self.now)
        if passes and self.due:
            raise Broken(f"a velocity leaves though {self.due} was acknowledged and not released")
        if moves and any(name.startswith("base") for name in self.answered):
            raise Broken("the robot walks though go2_base has acknowledged a hold")
        if passes and self.informed and any(name.startswith("selector") for name in self.answered):
            raise Broken("a velocity leaves though goal_selector has acknowledged a hold")
        if passes and self.informed and self.news() == self.beaten and not self.loop.goal:
            raise Broken("a velocity leaves without a goal under way")
        if self.thread.told.hold and self.thread.motion_allowed:
            raise Broken("the goal selector allows motion though it is held")

    def settle(self) -> None:
        """Deliver everything, in the order of the channels; check that all follow the gate then."""
        for _ in range(200):
            steps = self.steps()
            if not steps:
                break
            next(iter(steps.values()))()
            self.check()
        else:
            raise Broken(f"it never comes to rest: {list(self.steps())}")
        standing = self.gate._authority.standing
        told = (
            self.thread.told,
            self.stack._robot.standing,
            *([self.rules.standing] if self.has_base else []),
        )
        if any((one.number, one.records) != (standing.number, standing.records) for one in told):
            raise Broken("somebody does not follow the gate")
        if (self.loop.held, self.loop.paused) != (standing.hold is not None, standing.pause is not None):
            raise Broken("the loop does what does not stand")
        if (self.gate.gate.output(self.now) != ZERO) != (self.loop.goal and not standing.records):
            raise Broken("the gate passes other than the loop goes")

    def key(self) -> tuple:
        """Return what tells two states apart; numbers count by their order alone."""
        authority, gate, thread = self.gate._authority, self.gate.gate, self.thread
        holders = (
            authority.standing, thread.told, self.rules.standing, self.stack._robot.standing, self.stops._holds._told,
            self.follower._told,
        )  # fmt: skip
        raw: list[Any] = [_plain(one) for one in holders]
        raw += [gate._follows, thread.follows, thread._last_hold, sorted(self.due)]
        for follower in (self.stops._holds, self.follower):
            raw.append(
                [
                    (str(owner), record.number, owner in follower._sent)
                    for owner, record in follower._asked.items()
                ]
            )
        for name in sorted(self.channels):
            raw.append((name, [_item(item) for item in self.channels[name]]))
        loop = self.loop
        flags = (
            gate._allowed, gate._beat == self.now, loop.run, loop.goal, loop.held, loop.paused, thread._stops,
            thread._reads_told, thread.status.motion_allowed, thread.status.goal_under_way, len(thread._halts),
            len(thread._inbox), len(thread._outbox), tuple(sorted(self.answered)), self.informed, self.beaten[:2],
        )  # fmt: skip
        numbers = sorted(set(_numbers(raw)) | {self.beaten[2]})
        order = {number: place for place, number in enumerate(numbers)}
        return flags, _renamed(raw, order), order[self.beaten[2]]


def run_at_once(coroutine: Any) -> Any:
    """Run a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise Broken("it waits")


def _plain(standing: Any) -> tuple:
    return (
        standing.number,
        standing.last_hold,
        tuple((str(one.owner), one.number) for one in standing.records),
    )


def _item(item: Any) -> tuple:
    if isinstance(item, tuple) and len(item) == 2:
        return (type(item[0]).__name__, int(getattr(item[0], "number", getattr(item[0], "kind", 0))))
    if isinstance(item, tuple) and isinstance(item[0], Future):
        return ("answer", str(item[2]), int(getattr(item[1], "number", 0)))
    if isinstance(item, tuple):
        return ("beat", *item)
    return ("holds", _plain(standing_from_msg(item)))


def _numbers(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _numbers(one)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield int(value)


def _renamed(value: Any, order: dict[int, int]) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_renamed(one, order) for one in value)
    return order[int(value)] if isinstance(value, int) and not isinstance(value, bool) else value


class Patches:
    """Replace disk, marks and collector while a rig lives."""

    def __enter__(self) -> None:
        self._kept = [
            (module, name, getattr(module, name))
            for module, name in (
                (authority_module, "write_file"),
                (authority_module, "private_folder"),
                (holds_module, "state_file"),
                (holds_module, "RunMark"),
                (thread_module, "IdleCollector"),
                (orders_module, "Answer"),
                (orders_module, "RELEASE_PATIENCE"),
            )
        ]
        orders_module.RELEASE_PATIENCE = 0.0  # what stands is told by an event of its own
        authority_module.write_file = lambda disk, chunks: setattr(disk, "text", chunks[0].decode())
        authority_module.private_folder = lambda folder: folder
        holds_module.state_file = lambda node, name: None
        thread_module.IdleCollector = NoCollector
        orders_module.Answer = NoAnswer

    def __exit__(self, *_: object) -> None:
        for module, name, value in self._kept:
            setattr(module, name, value)


assert Hold.HOLD == Kind.HOLD and Hold.PAUSE == Kind.PAUSE
