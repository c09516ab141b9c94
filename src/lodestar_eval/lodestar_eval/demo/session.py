"""One run of the demo: start the stack, send the directive, watch, stop, judge, report."""

from __future__ import annotations

import argparse
import contextlib
import shutil
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lodestar.language.directive import StepKind
from lodestar_bringup.domains import NoFreeDomain, free_domain
from lodestar_bringup.places import StackError
from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.starter import Death, Starter
from lodestar_eval.demo.client import DemoClient, DirectiveRejected, Progress
from lodestar_eval.demo.progress import ProgressLine
from lodestar_eval.demo.record import RunRecord
from lodestar_eval.map_records import MapEntity
from lodestar_eval.settings import memory_in
from lodestar_eval.tasks import Prepared
from lodestar_sim.worlds import World

if TYPE_CHECKING:
    from lodestar_eval.demo.page import DemoPage

MEMORY, MAP = "memory", "map"  # folders of the run's memory and of its map
_READY_TIMEOUT = 120.0  # s of wall time for every node to come up
_SILENCE_TIMEOUT = 60.0  # s of wall time without simulated time passing
_CANCEL_TIMEOUT = 4.0  # s of wall time for a cancel to end the action
_POLL = 0.1  # s
_CONSOLE = "console"  # the process of the page, without which the search goes on


class StackFailed(RuntimeError):
    """A node did not start or died; the message names it."""


class Running(Protocol):
    """Processes that write their logs to a folder."""

    @property
    def log_folder(self) -> Path: ...

    def deaths(self) -> list[Death]: ...


class Interrupted(KeyboardInterrupt):
    """A person interrupted the run, after the robot was stopped."""


def run_session(
    prepared: Prepared, world: World, options: argparse.Namespace, line: ProgressLine, began: float
) -> bool:
    """Run the demo and write its report to options.out; return whether it was a success by ground truth.

    began: `time.monotonic()` at the start of the program. Raises StackFailed or Interrupted.
    """
    folder: Path = options.out
    for name in (MEMORY, MAP):
        shutil.rmtree(folder / name, ignore_errors=True)
    record = RunRecord(prepared.task.directive, options.world, options.seed, prepared.start)
    try:
        specs = stack("sim", _stack_options(folder, options.seed, options.perception, options.page))
    except StackError as error:
        raise StackFailed(str(error)) from error
    with contextlib.ExitStack() as cleanup:
        domain = _claim(cleanup)
        line.note(f"Starting {len(specs)} nodes (ROS_DOMAIN_ID {domain}, logs in {folder / 'log'}) ...")
        client = DemoClient(domain)
        cleanup.callback(client.close)
        starter = Starter(specs, folder / "log", environment={"ROS_DOMAIN_ID": str(domain)})
        cleanup.enter_context(starter)
        wait_until_ready(client, starter, line, options.page)
        line.note(f"Directive: {record.directive!r}")
        if not prepared.task.target_ids and prepared.kind is StepKind.FIND:
            line.note("(By ground truth nothing in this building is meant; the robot does not know that.)")
        follow(client, starter, record, options.time_limit, line, began)
        record.wall = time.monotonic() - began
        collect(client, record)
        starter.memory.sample()
        record.peak_pss_mib = starter.memory.peak_mib
        problem = client.save_map((folder / MAP).resolve())
        if problem:
            line.note(f"The map is not kept for `make ask`: {problem}")
        if options.page is not None:
            found = _report(prepared, world, record, folder, line)
            stay(starter, options.page, line)
            return found
    return _report(prepared, world, record, folder, line)


def stay(starter: Running, page: DemoPage, line: ProgressLine) -> None:
    """Keep the stack and its page until Ctrl-C, and tell of nodes that die."""
    line.note(f"The page stays at {page.address}; Ctrl-C ends it.")
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            for death in starter.deaths():
                line.note(death.report())
            time.sleep(_POLL)


def _stack_options(folder: Path, seed: int, perception: str, page: DemoPage | None = None) -> StackOptions:
    """Return the options of the stack; the world's start is the task's."""
    world = str((folder / "world.json").resolve())
    memory = memory_in(folder / MEMORY)  # of this run alone; `make ask` asks the last one's
    parameters: dict[str, Mapping[str, object]] = {"sim": {"task": "none"}, **memory}
    if page is not None:
        parameters["console"] = page.parameters
    return StackOptions(
        world=world, seed=seed, perception=perception, parameters=parameters, console=page is not None
    )


def _claim(cleanup: contextlib.ExitStack) -> int:
    try:
        return cleanup.enter_context(free_domain())
    except NoFreeDomain as error:
        raise StackFailed(str(error)) from error


def _raise_on_death(starter: Running, line: ProgressLine) -> None:
    """Raise StackFailed where a process has died without which the robot cannot go on; tell of a dead console."""
    deaths = starter.deaths()
    for death in deaths:
        if death.name == _CONSOLE:
            line.note(f"The page is gone, and the search goes on. {death.report()}")
    if needed := [death.report() for death in deaths if death.name != _CONSOLE]:
        raise StackFailed("\n".join(needed))


def wait_until_ready(
    client: DemoClient, starter: Running, line: ProgressLine, page: DemoPage | None = None
) -> None:
    """Wait for every node that the demo needs. Raises StackFailed if one does not appear, or dies.

    page: shows what is waited for until the console serves.
    """
    deadline = time.monotonic() + _READY_TIMEOUT
    while missing := client.missing():
        _raise_on_death(starter, line)
        if time.monotonic() > deadline:
            raise StackFailed(
                f"after {_READY_TIMEOUT:.0f} s these have not come up: {', '.join(missing)}; "
                f"their logs are in {starter.log_folder}"
            )
        line.show(f"  waiting for {', '.join(missing)}")
        if page is not None:
            page.wait_for("The nodes are being started. Not there yet:", missing)
        time.sleep(_POLL)


def follow(
    client: DemoClient,
    starter: Running,
    record: RunRecord,
    time_limit: float,
    line: ProgressLine,
    began: float = float("nan"),
) -> None:
    """Follow the directive until the action ends, a node dies or the clock stands. Raises StackFailed, Interrupted.

    began: `time.monotonic()` at the start of the program, from which the time to the first decision is told.
    """
    started_at, started_wall = client.clock, time.monotonic()
    try:
        with ThreadPoolExecutor(1) as sender:  # an interrupt must not hit rclpy while it builds the request
            sender.submit(client.send, record.directive, time_limit).result()
        newest, newest_wall, said = client.clock, time.monotonic(), ""
        while not client.finished.wait(_POLL):
            _raise_on_death(starter, line)
            if client.clock > newest:
                newest, newest_wall = client.clock, time.monotonic()
            elif time.monotonic() - newest_wall > _SILENCE_TIMEOUT:
                raise StackFailed(f"the simulator's clock has stood still for {_SILENCE_TIMEOUT:.0f} s")
            if client.decided - began > 0.0 and not record.first_decision > 0.0:
                record.first_decision = client.decided - began
                line.note(f"First decision after {record.first_decision:.1f} s")
            progress, elapsed = client.progress, client.clock - started_at
            if progress.text and progress.text != said:
                said = progress.text
                line.note(f"{elapsed:6.1f} s  {said}")
            line.show(f"{elapsed:6.1f} s  {_status(progress)}")
    except DirectiveRejected as error:
        record.error_msg = str(error)
        record.error_code = 11099
    except KeyboardInterrupt:
        line.note("Stopping the robot ...")
        client.cancel(_CANCEL_TIMEOUT)
        raise Interrupted from None
    record.duration = client.clock - started_at
    wall = time.monotonic() - started_wall
    record.real_time_factor = record.duration / wall if wall > 0.0 else float("nan")


def _status(p: Progress) -> str:
    """Return the progress as one line."""
    expert = f" by {p.expert}" if p.expert else ""
    distance = f", {p.distance_remaining:.1f} m to go" if p.distance_remaining == p.distance_remaining else ""
    return f"   {p.phase}{expert}{distance}, {p.distance_travelled:.1f} m driven, {p.coverage:.0f} m² known"


def collect(client: DemoClient, record: RunRecord) -> None:
    """Take what the client has heard of a run into its record."""
    outcome, status = client.outcome, client.status
    if outcome is not None:
        record.claimed_success = outcome.success
        record.claimed_entities = outcome.entity_ids
        record.error_code, record.error_msg = outcome.error_code, outcome.error_msg
        record.duration = outcome.duration or record.duration
    if status is not None:
        record.collisions, record.path_length = int(status.collisions), float(status.path_length)
    record.path = client.path
    record.grid = client.grid
    if len(record.path):
        record.grown = client.grown.between(record.begun, float(record.path[-1, 0]))
    record.decisions = client.decisions
    record.step_begins, record.ended = client.step_begins, client.ended
    record.entities = {
        entity.id: MapEntity(
            entity.caption or entity.label,
            entity.box_min,
            entity.box_max,
            entity.id in record.claimed_entities,
        )
        for entity in client.entities().values()
    }


def _report(prepared: Prepared, world: World, record: RunRecord, folder: Path, line: ProgressLine) -> bool:
    from lodestar_eval.demo.report import summary_lines, summary_of, write_demo_report  # it loads Matplotlib
    from lodestar_eval.demo.verdict import judge_run

    line.note("Judging the run and writing the report ...")
    page = write_demo_report(record, folder, judge_run(prepared, world, record))
    line.note("")
    for row in summary_lines(summary_of(record)):
        line.note(row)
    line.note(f"\n{record.verdict}\nReport: {page}")
    return record.success
