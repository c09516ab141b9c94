"""Recording of a simulated run as by `record:=true`, and its replay through the nodes as by `replay.launch.py`."""

from __future__ import annotations

import contextlib
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.serialization import deserialize_message

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity
from lodestar_bringup.domains import free_domain, session_environment
from lodestar_bringup.places import StackError
from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.starter import Starter
from lodestar_eval.demo.client import DemoClient
from lodestar_eval.demo.progress import ProgressLine
from lodestar_eval.demo.record import RunRecord
from lodestar_eval.demo.session import follow, wait_until_ready
from lodestar_eval.live.side_node import SideNode
from lodestar_eval.settings import memory_in
from lodestar_eval.tasks import prepare
from lodestar_interfaces.msg import SceneDelta
from lodestar_ros import qos
from lodestar_ros.bag_files import BagReader, UnreadableBag
from lodestar_ros.conversions import grid_from_msg
from lodestar_ros.conversions_scene import scene_from_msg
from lodestar_ros.recorded_names import message_type

_SIGHT_TIMEOUT = 60.0  # s of real time until the first entity; on a first start the nodes compile meanwhile
_REPLAY_TIMEOUT = 300.0  # s of real time in addition to the recording's own length
_SETTLE = 8.0  # s of real time for the nodes to process their last messages
_POLL = 0.2  # s between two checks


@dataclass(frozen=True)
class MapSeen:
    """Map and scene of a run at its end. gaps: number of scene deltas whose predecessor is missing."""

    grid: OccupancyGrid2D
    entities: tuple[Entity, ...]
    gaps: int
    inputs: int  # number of sensor messages


def record_live(world: str, seed: int, folder: Path, time_limit: float) -> Path:
    """Run the default directive of a world with `record`, and return the recording's folder.

    Raises StackError if a node does not start or dies.
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
        own = cleanup.enter_context(session_environment(domain))
        starter = Starter(stack("sim", options), folder / "live-log", environment=own)
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
    """Play a recording through the nodes, and return the folder with the recording of their outputs.

    Raises StackError if a node does not start or dies, or if the replay does not end.
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
        own = cleanup.enter_context(session_environment(domain))
        starter = Starter(stack("replay", options), folder / "replay-log", environment=own)
        cleanup.enter_context(starter)
        deadline = time.monotonic() + limit
        while watch.status != "finished":
            deaths = starter.deaths()
            if deaths:
                raise StackError("\n".join(death.report() for death in deaths))
            if time.monotonic() > deadline:
                raise StackError(f"the replay did not end within {limit:.0f} s; the player {watch.status}")
            time.sleep(_POLL)
        time.sleep(_SETTLE)
    return _only(folder / "replay")


def seen_in(recording: Path) -> MapSeen:
    """Return grid and entities at the end of a recording. Raises StackError if it has no grid."""
    bag = _opened(recording)
    grid_topic, scene_topic = bag.names.get("grid", ""), bag.names.get("entities", "")
    grid, mirror, gaps = None, SceneMirror(), 0
    for topic, _, raw in bag.messages((grid_topic, scene_topic)):
        if topic == grid_topic:
            grid = deserialize_message(raw, message_type(bag.types[topic]))
        else:
            gaps += not mirror.apply(scene_from_msg(deserialize_message(raw, SceneDelta)))
    if grid is None:
        raise StackError(f"{recording} has no grid")
    inputs = sum(bag.counts[bag.names.get(name, "")] for name in ("image", "depth", "points"))
    return MapSeen(grid_from_msg(grid), tuple(mirror.entities.values()), gaps, inputs)


def _opened(recording: Path) -> BagReader:
    try:
        return BagReader(recording)
    except UnreadableBag as error:
        raise StackError(str(error)) from error


def _only(folder: Path) -> Path:
    """Return the single recording in a folder. Raises StackError unless there is exactly one."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    if len(found) != 1:
        why = (
            "the recorder was restarted, see its log" if found else "the recorder wrote nothing, see its log"
        )
        raise StackError(f"{folder} has {len(found)} recordings, not one: {why}")
    return found[0]


class _PlayerWatch:
    """Receives the player's progress. status: its latest message."""

    def __init__(self, domain: int) -> None:
        self.status = "has said nothing"
        self._side = SideNode("lodestar_replay_watch", domain)
        self._side.node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, qos.EVENT)
        self._side.start()

    def _hear(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == "player":
                self.status = status.message

    def close(self) -> None:
        """Stop receiving."""
        self._side.close()
