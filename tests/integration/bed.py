"""The test's side of the graph: one node, and waiting for events instead of sleeping."""

from __future__ import annotations

import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.action import ActionClient
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.starter import Starter, StopTimes, tail_of
from lodestar_ros import qos

#: Seconds to wait for what should come at once, on a machine that does other things too.
PATIENCE = 40.0


def _token(status: Any) -> str:
    """Return an identity that tells a process from its predecessor; empty, and never dead, where it states none."""
    return " ".join(status.hardware_id.split(" ")[:-1])


class Bed:
    """A node in a context and on a thread of its own. Everything that it hears is kept by topic, with its time."""

    def __init__(self, domain: int) -> None:
        self._context = rclpy.Context()
        self._context.init(domain_id=domain)
        self.node = Node("test_bed", context=self._context)
        self.heard: dict[str, list[tuple[float, Any]]] = defaultdict(list)
        self._clients: dict[str, Any] = {}
        self._dead: set[str] = set()  # identities of processes, as their diagnostics give them
        self._news = threading.Condition()
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()
        self.hear(DiagnosticArray, "/diagnostics", qos.EVENT)

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except ExternalShutdownException:
            return

    def close(self) -> None:
        self._context.try_shutdown()
        self._thread.join(5.0)

    # --- topics ---

    def hear(self, message_type: Any, topic: str, profile: Any) -> None:
        """Keep what is said on a topic, with the time of arrival (monotonic seconds)."""

        def receive(message: Any) -> None:
            with self._news:
                self.heard[topic].append((time.monotonic(), message))
                self._news.notify_all()

        self.on_executor(lambda: self.node.create_subscription(message_type, topic, receive, profile))

    def on_executor(self, make: Callable[[], Any]) -> Any:
        """What a function returns on the executor's thread: rclpy's entities may only be made and ended there."""
        if threading.current_thread() is self._thread:
            return make()
        task = self._executor.create_task(make)
        task.add_done_callback(lambda _: self.poke())
        self.until(task.done, "the executor's turn")
        return task.result()

    def forget(self, topic: str) -> None:
        with self._news:
            self.heard[topic].clear()

    def last(self, topic: str) -> Any:
        return self.heard[topic][-1][1] if self.heard[topic] else None

    def until(self, condition: Callable[[], Any], what: str, timeout: float = PATIENCE) -> Any:
        """The first truthy value of a condition, looked at whenever something was heard; else the test fails."""
        end = time.monotonic() + timeout
        with self._news:
            while not (value := condition()):
                left = end - time.monotonic()
                if left <= 0.0:
                    raise AssertionError(f"not within {timeout:.0f} s: {what}")
                self._news.wait(min(left, 0.05))
            return value

    def next(
        self, topic: str, condition: Callable[[Any], bool] = lambda message: True, timeout=PATIENCE
    ) -> Any:
        """The first message on a topic, of those that come from now on, that fits."""
        seen = len(self.heard[topic])

        def fitting() -> list[Any]:
            return [message for _, message in self.heard[topic][seen:] if condition(message)]

        return self.until(fitting, f"a message on {topic} that fits", timeout)[0]

    def poke(self) -> None:
        """Have conditions looked at again."""
        with self._news:
            self._news.notify_all()

    def diagnosis(self, name: str) -> dict[str, str]:
        """The newest diagnostics of a node, key by key, with "message"; empty before the first."""
        for _, array in reversed(self.heard["/diagnostics"]):
            for status in array.status:
                if status.name == name and _token(status) not in self._dead:
                    return {"message": status.message} | {item.key: item.value for item in status.values}
        return {}

    def bury(self, name: str) -> None:
        """Ignore the diagnostics of a node's process, which was killed: they would pass for its successor's."""
        with self._news:
            statuses = [one for _, array in self.heard["/diagnostics"] for one in array.status]
            self._dead |= {_token(one) for one in statuses if one.name == name} - {""}

    def count(self, name: str, key: str) -> int:
        """A counter in a node's newest diagnostics, 0 before it is there."""
        return int(float(self.diagnosis(name).get(key, "0")))

    # --- services and actions ---

    def wait_for(self, future: Any, what: str, timeout: float = PATIENCE) -> Any:
        future.add_done_callback(lambda _: self.poke())
        self.until(future.done, what, timeout)
        return future.result()

    def call(
        self, service_type: Any, name: str, request: Any, timeout: float = PATIENCE, each: float = 5.0
    ) -> Any:
        """The response of a service, asked again where no answer came within `each` seconds."""
        if name not in self._clients:
            self._clients[name] = self.on_executor(lambda: self.node.create_client(service_type, name))
        client, end = self._clients[name], time.monotonic() + timeout
        while True:
            self.until(client.service_is_ready, f"a server of {name}", timeout)
            try:
                return self.wait_for(client.call_async(request), f"an answer of {name}", each)
            except AssertionError:  # a server that was killed is still in the graph for a while
                if time.monotonic() > end:
                    raise

    def action(self, action_type: Any, name: str) -> ActionCaller:
        """A caller of an action whose server is up."""
        if name not in self._clients:
            self._clients[name] = self.on_executor(lambda: ActionClient(self.node, action_type, name))
        client = self._clients[name]
        self.until(client.server_is_ready, f"a server of {name}")
        return ActionCaller(self, client, name)


class ActionCaller:
    """A client of one action."""

    def __init__(self, bed: Bed, client: ActionClient, name: str) -> None:
        self._bed, self.client, self._name = bed, client, name

    def send(self, goal: Any) -> Goal:
        """A goal that was accepted. Sent again where nobody answers: a killed server is in the graph for a while."""
        sent = Goal(self._bed, self._name)
        for patience in (PATIENCE / 4, PATIENCE / 4, PATIENCE):
            future = self.client.send_goal_async(goal, feedback_callback=sent.on_feedback)
            try:
                sent.handle = self._bed.wait_for(future, f"{self._name} to answer", patience)
                break
            except AssertionError:
                if patience == PATIENCE:
                    raise
        assert sent.handle.accepted, f"{self._name} rejected the goal"
        sent.future = sent.handle.get_result_async()
        return sent

    def result(self, goal: Any, timeout: float = PATIENCE) -> Any:
        """The result of a goal."""
        return self.send(goal).result(timeout)


class Goal:
    """A goal under way."""

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

    def result(self, timeout: float = PATIENCE) -> Any:
        return self._bed.wait_for(self.future, f"the result of {self._name}", timeout).result

    @property
    def status(self) -> int:
        return self.future.result().status


class Processes:
    """Nodes of the stack, each a process, with the stack's own wiring."""

    def __init__(self, domain: int, logs: Path, environment: Mapping[str, str] | None = None) -> None:
        own = {"ROS_DOMAIN_ID": str(domain), "XDG_STATE_HOME": str(logs / "state")}
        self._environment = {**own, **(environment or {})}
        self._logs = logs
        self.starter: Starter | None = None

    def start(
        self,
        *names: str,
        parameters: Mapping[str, Mapping[str, object]] | None = None,
        use: str = "sim",
        **options: Any,
    ) -> Starter:
        """Start some nodes of a stack, or all without names. Outside the whole stack time is real."""
        chosen = StackOptions(parameters=dict(parameters or {}), **options)
        if names:
            real = {name: {"use_sim_time": False, **chosen.parameters.get(name, {})} for name in names}
            chosen = StackOptions(parameters=real, **options)
        specs = [spec for spec in stack(use, chosen) if not names or spec.name in names]
        self.starter = Starter(
            specs, self._logs, environment=self._environment, stop_times=StopTimes(3.0, 1.0, 2.0)
        )
        self.starter.start()
        return self.starter

    def kill(self, name: str) -> float:
        """Kill -9, and see it dead; the time at which it was done."""
        assert self.starter is not None
        pid, now = self.starter.pid(name), time.monotonic()
        self.starter.send(name, signal.SIGKILL)
        while pid in self.starter.pids():
            time.sleep(0.01)
        return now

    def assert_alive(self, besides: tuple[str, ...] = ()) -> None:
        """No process has died but those named."""
        assert self.starter is not None
        dead = [death for death in self.starter.deaths() if death.name not in besides]
        assert not dead, "\n".join(death.report() for death in dead)

    def log(self, name: str) -> str:
        return tail_of(self._logs / f"{name}.log", 50)

    def stop(self) -> None:
        if self.starter is not None:
            self.starter.stop()
