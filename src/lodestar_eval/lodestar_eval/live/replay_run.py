"""Records a simulated run as `record:=true` does, and plays it through the nodes as `replay.launch.py` does."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity
from lodestar_bringup.domains import free_domain
from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.starter import Starter
from lodestar_eval.demo.client import DemoClient
from lodestar_eval.demo.progress import ProgressLine
from lodestar_eval.demo.record import RunRecord
from lodestar_eval.demo.session import StackFailed, follow, wait_until_ready
from lodestar_eval.settings import memory_in
from lodestar_eval.tasks import prepare
from lodestar_interfaces.msg import SceneDelta
from lodestar_ros import qos
from lodestar_ros.bag_files import BagReader, UnreadableBag
from lodestar_ros.conversions import grid_from_msg
from lodestar_ros.conversions_scene import scene_from_msg
from lodestar_ros.recorded_names import message_type

_SIGHT_TIMEOUT = 60.0  # s of real time for the first entity; on a first start the nodes compile meanwhile
_REPLAY_TIMEOUT = 300.0  # s of real time beyond the recording's own length
_SETTLE = 8.0  # s of real time for the nodes to work off what they have heard last
_POLL = 0.2  # s


@dataclass(frozen=True)
class MapSeen:
    """Conclusions of a run at its end. gaps: deltas of the scene that did not follow the one before."""

    grid: OccupancyGrid2D
    entities: tuple[Entity, ...]
    gaps: int
    inputs: int  # messages of sensors


def record_live(world: str, seed: int, folder: Path, time_limit: float) -> Path:
    """Run the default directive of a world with `record`, and return the recording's folder.

    Raises StackFailed if a node does not start or dies.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    prepared = prepare(world, seed, None)
    replace(prepared.world, start=prepared.task.start).save(folder / "world.json")
    given: dict[str, dict[str, object]] = {
        "sim": {"task": "none"},
        "recorder": {"folder": str((folder / "live").resolve())},
        **memory_in(folder / "live-memory"),
    }
    options = StackOptions(
        world=str((folder / "world.json").resolve()), seed=seed, record=True, parameters=given
    )
    told = RunRecord(prepared.task.directive, world, seed, prepared.start)
    with contextlib.ExitStack() as cleanup:
        domain = cleanup.enter_context(free_domain())
        client = DemoClient(domain)
        cleanup.callback(client.close)
        starter = Starter(
            stack("sim", options), folder / "live-log", environment={"ROS_DOMAIN_ID": str(domain)}
        )
        cleanup.enter_context(starter)
        line = ProgressLine()
        wait_until_ready(client, starter, line)
        deadline = time.monotonic() + _SIGHT_TIMEOUT
        while not client.entities() and time.monotonic() < deadline:
            time.sleep(_POLL)
        follow(client, starter, told, time_limit, line)
        time.sleep(_SETTLE)
    return _only(folder / "live")


def replay(recording: Path, folder: Path, rate: float) -> Path:
    """Play a recording through the nodes, and return the folder of what they concluded.

    Raises StackFailed if a node does not start or dies, or if the replay does not end.
    """
    given: dict[str, dict[str, object]] = {
        "recorder": {"folder": str((folder / "replay").resolve())},
        **memory_in(folder / "replay-memory"),
    }
    options = StackOptions(bag=str(recording), rate=rate, record=True, parameters=given)
    bag = _opened(recording)
    limit = _REPLAY_TIMEOUT + (bag.end - bag.begin) * 1e-9 / rate
    with contextlib.ExitStack() as cleanup:
        domain = cleanup.enter_context(free_domain())
        watch = _PlayerWatch(domain)
        cleanup.callback(watch.close)
        starter = Starter(
            stack("replay", options), folder / "replay-log", environment={"ROS_DOMAIN_ID": str(domain)}
        )
        cleanup.enter_context(starter)
        deadline = time.monotonic() + limit
        while watch.status != "finished":
            deaths = starter.deaths()
            if deaths:
                raise StackFailed("\n".join(death.report() for death in deaths))
            if time.monotonic() > deadline:
                raise StackFailed(f"the replay did not end within {limit:.0f} s; the player {watch.status}")
            time.sleep(_POLL)
        time.sleep(_SETTLE)
    return _only(folder / "replay")


def seen_in(recording: Path) -> MapSeen:
    """Return grid and entities at the end of a recording. Raises StackFailed where it has none."""
    bag = _opened(recording)
    grid_topic, scene_topic = bag.names.get("grid", ""), bag.names.get("entities", "")
    grid, mirror, gaps = None, SceneMirror(), 0
    for topic, _, raw in bag.messages((grid_topic, scene_topic)):
        if topic == grid_topic:
            grid = deserialize_message(raw, message_type(bag.types[topic]))
        else:
            gaps += not mirror.apply(scene_from_msg(deserialize_message(raw, SceneDelta)))
    if grid is None:
        raise StackFailed(f"{recording} has no grid")
    inputs = sum(bag.counts[bag.names.get(name, "")] for name in ("image", "depth", "points"))
    return MapSeen(grid_from_msg(grid), tuple(mirror.entities.values()), gaps, inputs)


def _opened(recording: Path) -> BagReader:
    try:
        return BagReader(recording)
    except UnreadableBag as error:
        raise StackFailed(str(error)) from error


def _only(folder: Path) -> Path:
    """Return the one recording in a folder: more of them are those of a recorder that died."""
    found = sorted(folder.iterdir())
    if len(found) != 1:
        raise StackFailed(f"{folder} has {len(found)} recordings: the recorder died, see its log")
    return found[0]


class _PlayerWatch:
    """Hears from the player how far it is. status: its newest word."""

    def __init__(self, domain: int) -> None:
        self.status = "has said nothing"
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain, signal_handler_options=SignalHandlerOptions.NO)
        node = Node("lodestar_replay_watch", context=self._context, start_parameter_services=False)
        node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, qos.EVENT)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, name="replay watch", daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException):
            self._executor.spin()

    def _hear(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == "player":
                self.status = status.message

    def close(self) -> None:
        """Stop to listen."""
        self._context.try_shutdown()
        self._thread.join(2.0)
