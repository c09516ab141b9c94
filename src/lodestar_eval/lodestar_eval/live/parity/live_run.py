"""Runs the nodes over DDS in a simulated building and records their inputs and outputs."""

from __future__ import annotations

import contextlib
import shutil
import time
from dataclasses import replace
from pathlib import Path

from lodestar_bringup.domains import free_domain, session_environment
from lodestar_bringup.places import StackError
from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.starter import Starter
from lodestar_eval.demo.client import DemoClient
from lodestar_eval.demo.progress import ProgressLine
from lodestar_eval.demo.record import RunRecord
from lodestar_eval.demo.session import follow, wait_until_ready
from lodestar_eval.live.parity.recorder import TopicRecorder
from lodestar_eval.live.parity.topics import ENTITIES, TOPICS
from lodestar_eval.tasks import prepare

_SIGHT_TIMEOUT = 60.0  # s of real time; the run starts after it even if no object is in view


def record_run(world: str, seed: int, folder: Path, time_limit: float) -> Path:
    """Run the default directive of a world and return the bag in `folder`, which this call creates.

    Raises StackError if a node does not start or dies.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    prepared = prepare(world, seed, None)
    built = replace(prepared.world, start=prepared.task.start)
    built.save(folder / "world.json")
    options = StackOptions(
        world=str((folder / "world.json").resolve()), seed=seed, parameters={"sim": {"task": "none"}}
    )
    record = RunRecord(prepared.task.directive, world, seed, prepared.start)
    bag = folder / "bag"
    with contextlib.ExitStack() as cleanup:
        domain = cleanup.enter_context(free_domain())
        recorder = TopicRecorder(domain, bag, TOPICS)
        cleanup.callback(recorder.close)
        client = DemoClient(domain)
        cleanup.callback(client.close)
        own = cleanup.enter_context(session_environment(domain))
        starter = Starter(stack("sim", options), folder / "log", environment=own)
        cleanup.enter_context(starter)
        line = ProgressLine()
        wait_until_ready(client, starter, line)
        _wait_for_sight(recorder)
        follow(client, starter, record, time_limit, line)
    if recorder.errors:
        raise StackError(f"the recording is not whole: {recorder.errors[0]}")
    return bag


def _wait_for_sight(recorder: TopicRecorder) -> None:
    """Wait for the live scene's first entity: on a first start the nodes compile for minutes and drop images."""
    deadline = time.monotonic() + _SIGHT_TIMEOUT
    while not recorder.counts[ENTITIES] and time.monotonic() < deadline:
        time.sleep(0.2)
