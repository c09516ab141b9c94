"""The test's side of the ROS graph: a node, with waiting for events instead of sleeping."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.action import ActionClient
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from waiting import PATIENCE, WITNESSES, Moment, late, wait_for

from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.starter import Starter, StopTimes, tail_of
from lodestar_ros import qos
from lodestar_ros.executors import SPIN_TIMEOUT, make_executor
from lodestar_ros.sent_goal import SentGoal

#: Seconds without an answer after which a request is sent again: it may have gone to a server that was killed.
ANSWERS = 10.0


#: The test's node plays the navigator and the joystick.
BESIDE_FAKES = {"navigators": ["sim_navigator", "goal_selector", "test_bed"], "joystick": "test_bed"}


@contextlib.contextmanager
def only_the_profiles_transports() -> Iterator[None]:
    """Have a participant use its Fast DDS profile's transports alone: rmw_fastrtps adds shared memory for LOCALHOST.

    The variables are restored: the nodes of a stack are started with the profiles that belong to them.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SYSTEM_DEFAULT")
        patch.delenv("ROS_LOCALHOST_ONLY", raising=False)
        yield


def _token(status: Any) -> str:
    """Return the identity of a status's process, which differs after a restart; "" if it states none."""
    return " ".join(status.hardware_id.split(" ")[:-1])


class Bed:
    """A node with its own context and thread. Received messages are stored by topic, with their times of arrival."""

    def __init__(self, informed: bool = False, name: str = "test_bed") -> None:
        """informed: with a waiting executor, whose callbacks may ask for a message's information."""
        self._context = rclpy.Context()
        with only_the_profiles_transports():
            self._context.init()
            self.node = Node(name, context=self._context)
        self.heard: dict[str, list[tuple[float, Any]]] = defaultdict(list)
        self.topics: set[str] = set()  # of subscriptions
        self._clients: dict[str, Any] = {}
        self._dead: set[str] = set()  # identities of killed processes, from their diagnostics
        self._news = threading.Condition()
        waiting = SingleThreadedExecutor(context=self._context) if informed else None
        self.errors: list[BaseException] = []  # of callbacks of actions and futures
        self._executor = waiting or make_executor(self.errors.append, self._context)
        self._executor.add_node(self.node)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()
        self._side: Bed | None = None
        self.hear(DiagnosticArray, "/diagnostics", qos.EVENT)

    @property
    def mortal(self) -> Bed:
        """A second node, for actions' servers and clients that are destroyed: the events executor crashes at that."""
        self._side = self._side or Bed(informed=True, name="test_bed_of_mortals")
        return self._side

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException, InvalidHandle):
            while self._context.ok() and not self._closing.is_set():
                try:
                    self._executor.spin_once(SPIN_TIMEOUT)
                except (ExternalShutdownException, InvalidHandle):
                    raise
                except Exception as error:  # of a callback; `close` tells
                    self.errors.append(error)

    def close(self) -> None:
        """End the thread first: what it is still waiting on may not be destroyed, which the context's end does."""
        self._closing.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), late("the end of the executor's thread")
        self._executor.shutdown(
            timeout_sec=PATIENCE
        )  # else it keeps the node's entities, and their participant
        self.node.destroy_node()
        self._context.try_shutdown()
        if self._side is not None:
            self._side.close()
        assert not self.errors

    # --- topics ---

    def hear(self, message_type: Any, topic: str, profile: Any) -> None:
        """Store the messages of a topic, with their times of arrival (monotonic seconds)."""

        def receive(message: Any) -> None:
            with self._news:
                self.heard[topic].append((time.monotonic(), message))
                self._news.notify_all()

        self.topics.add(topic)
        self.on_executor(lambda: self.node.create_subscription(message_type, topic, receive, profile))

    def on_executor(self, make: Callable[[], Any]) -> Any:
        """Run a function on the executor's thread, as rclpy requires for its entities; return its result."""
        if threading.current_thread() is self._thread:
            return make()
        task = self._executor.create_task(make)
        task.add_done_callback(lambda _: self.poke())
        self.until(task.done, "the executor's turn")
        if self.errors:
            raise self.errors[-1]
        return task.result()

    def until_heard(self, *publishers: Any) -> None:
        """Wait until somebody hears each publisher: a message that is sent once before is lost, unless latched."""
        for publisher in publishers:
            self.until(publisher.get_subscription_count, f"who hears {publisher.topic_name}")

    def forget(self, topic: str) -> None:
        with self._news:
            self.heard[topic].clear()

    def last(self, topic: str) -> Any:
        return self.heard[topic][-1][1] if self.heard[topic] else None

    def until(self, condition: Callable[[], Any], what: str | Callable[[], str]) -> Any:
        """Return the first truthy value of a condition, checked at each received message; fail after PATIENCE."""
        end = time.monotonic() + PATIENCE
        with self._news:
            while not (value := condition()):
                if time.monotonic() > end:
                    raise AssertionError(late(what() if callable(what) else what))
                self._news.wait(0.05)
            return value

    def next(self, topic: str, condition: Callable[[Any], bool] = lambda message: True) -> Any:
        """Return the first message received from now on that meets a condition."""
        seen = len(self.heard[topic])

        def fitting() -> list[Any]:
            return [message for _, message in self.heard[topic][seen:] if condition(message)]

        return self.until(fitting, f"a message on {topic} that fits")[0]

    def poke(self) -> None:
        """Trigger a new check of conditions in `until`."""
        with self._news:
            self._news.notify_all()

    def diagnosis(self, name: str) -> dict[str, str]:
        """Return the newest diagnostics of a node as key -> value, with key "message"; empty if none."""
        for _, array in reversed(self.heard["/diagnostics"]):
            for status in array.status:
                if status.name == name and _token(status) not in self._dead:
                    return {"message": status.message} | {item.key: item.value for item in status.values}
        return {}

    def bury(self, name: str) -> None:
        """Ignore diagnostics of a node's killed process, which could be mistaken for its successor's."""
        with self._news:
            statuses = [one for _, array in self.heard["/diagnostics"] for one in array.status]
            self._dead |= {_token(one) for one in statuses if one.name == name} - {""}

    def count(self, name: str, key: str) -> int:
        """Return a counter from a node's newest diagnostics, 0 if missing."""
        return int(float(self.diagnosis(name).get(key, "0")))

    # --- services and actions ---

    def wait_for(self, future: Any, what: str) -> Any:
        future.add_done_callback(lambda _: self.poke())
        self.until(future.done, what)
        return future.result()

    def answered(self, ask: Callable[[], Any], what: str) -> Any:
        """The first answer to a request, which is sent again every ANSWERS seconds."""
        asked: list[Any] = []
        began = time.monotonic()

        def answer() -> Any:
            if time.monotonic() >= began + ANSWERS * len(asked):
                asked.append(ask())
                asked[-1].add_done_callback(lambda _: self.poke())
            return next((future for future in asked if future.done()), None)

        return self.until(answer, what).result()

    def call(self, service_type: Any, name: str, request: Any, once: bool = False) -> Any:
        """The response of a service. once: the request may not be sent twice."""
        if name not in self._clients:
            self._clients[name] = self.on_executor(lambda: self.node.create_client(service_type, name))
        client = self._clients[name]
        self.until(client.service_is_ready, f"a server of {name}")
        ask, what = lambda: client.call_async(request), f"an answer of {name}"
        return self.wait_for(ask(), what) if once else self.answered(ask, what)

    def action(self, action_type: Any, name: str) -> ActionCaller:
        """Return a caller of an action, once its server is available."""
        if name not in self._clients:
            self._clients[name] = self.on_executor(lambda: ActionClient(self.node, action_type, name))
        client = self._clients[name]
        self.until(client.server_is_ready, f"a server of {name}")
        return ActionCaller(self, client, action_type, name)


class ActionCaller:
    """A client of one action."""

    def __init__(self, bed: Bed, client: ActionClient, action_type: Any, name: str) -> None:
        self._bed, self.client, self._type, self._name = bed, client, action_type, name

    def send(self, goal: Any) -> Goal:
        """A goal that was accepted. One of which nothing is heard for ANSWERS seconds is cancelled, and sent again."""
        end = time.monotonic() + PATIENCE
        while (sent := self._try(goal)) is None:
            assert time.monotonic() < end, late(f"{self._name} to answer")
        assert sent.handle.accepted, f"{self._name} rejected the goal"
        sent.future = sent.handle.get_result_async()
        return sent

    def _try(self, goal: Any) -> Goal | None:
        """Send a goal once; None if it was cancelled, because nothing was heard of it."""
        bed, sent = self._bed, Goal(self._bed, self._name)
        asked = bed.on_executor(lambda: SentGoal(self.client, self._type, goal, sent.on_feedback))
        asked.answer.add_done_callback(lambda _: bed.poke())
        while not asked.answer.done():
            if bed.on_executor(asked.seek) > ANSWERS:
                bed.on_executor(asked.cancel)
                return None
            pause = time.monotonic() + 0.2
            bed.until(
                lambda pause=pause: asked.answer.done() or time.monotonic() > pause, f"{self._name} to answer"
            )
        sent.handle = asked.answer.result()
        return sent

    def result(self, goal: Any) -> Any:
        """Send a goal and return its result."""
        return self.send(goal).result()


class Goal:
    """An accepted goal, with its feedback and result."""

    def __init__(self, bed: Bed, name: str) -> None:
        self._bed, self._name = bed, name
        self.handle: Any = None
        self.future: Any = None
        self.feedback: list[tuple[float, Any]] = []

    def on_feedback(self, message: Any) -> None:
        self.feedback.append((time.monotonic(), message.feedback))
        self._bed.poke()

    @property
    def phase(self) -> str:
        return self.feedback[-1][1].phase if self.feedback else ""

    def cancel(self) -> None:
        self._bed.wait_for(self.handle.cancel_goal_async(), f"{self._name} to take the cancel")

    def result(self) -> Any:
        """Return the goal's result. Waits as long as feedback comes."""
        self.future.add_done_callback(lambda _: self._bed.poke())
        while not self.future.done():
            heard = len(self.feedback)
            self._bed.until(
                lambda heard=heard: self.future.done() or len(self.feedback) > heard,
                f"the result of {self._name}, or feedback",
            )
        return self.future.result().result

    @property
    def status(self) -> int:
        return self.future.result().status


class Processes:
    """Nodes of the stack run as processes, with the stack's own wiring."""

    def __init__(self, logs: Path, environment: Mapping[str, str] | None = None) -> None:
        self._environment = {"XDG_STATE_HOME": str(logs / "state"), **(environment or {})}
        self._logs = logs
        self.starter: Starter | None = None  # the newest
        self._started: list[Starter] = []
        WITNESSES.append(self.tell)

    def tell(self) -> str:
        """Return the reports of processes that have died, and the ends of the logs of those that run."""
        ended = [death.report() for starter in self._started for death in starter.deaths()]
        logs = [f"-- {log.stem}\n{tail_of(log, 5)}" for log in sorted(self._logs.glob("*.log"))]
        return "\n".join([*ended, *logs])

    def start(
        self,
        *names: str,
        parameters: Mapping[str, Mapping[str, object]] | None = None,
        use: str = "sim",
        **options: Any,
    ) -> Starter:
        """Start the named nodes of a stack, or all if none are named. With names, time is real."""
        given = {"motion_gate": BESIDE_FAKES, **(parameters or {})}
        chosen = StackOptions(parameters=given, **options)
        if names:
            real = {name: {"use_sim_time": False, **chosen.parameters.get(name, {})} for name in names}
            chosen = StackOptions(parameters=real, **options)
        specs = [spec for spec in stack(use, chosen) if not names or spec.name in names]
        self.starter = Starter(
            specs, self._logs, environment=self._environment, stop_times=StopTimes(3.0, 1.0, 2.0)
        )
        self._started.append(self.starter)
        self.starter.start()
        return self.starter

    def now(self) -> Moment:
        """The moment, with the waits of the nodes and of this test."""
        assert self.starter is not None
        return Moment.now(self.starter.pids())

    def kill(self, name: str) -> Moment:
        """Kill -9, and see it dead; the moment at which it was done."""
        assert self.starter is not None
        pid, now = self.starter.pid(name), self.now()
        self.starter.send(name, signal.SIGKILL)
        wait_for(lambda: pid not in self.starter.pids(), f"the end of {name}", every=0.01)
        return now

    def revive(self, *names: str) -> None:
        """Start those that are dead, which a failed test has not started again."""
        assert self.starter is not None
        for name in names:
            if self.starter.process(name).poll() is not None:
                self.starter.start_one(name)

    def assert_alive(self, besides: tuple[str, ...] = ()) -> None:
        """Check that no process has died except the named ones."""
        assert self.starter is not None
        dead = [death for death in self.starter.deaths() if death.name not in besides]
        assert not dead, "\n".join(death.report() for death in dead)

    def log(self, name: str) -> str:
        return tail_of(self._logs / f"{name}.log", 50)

    def stop(self) -> None:
        """Stop the nodes of every start."""
        if self.tell in WITNESSES:
            WITNESSES.remove(self.tell)
        for starter in self._started:
            starter.stop()
