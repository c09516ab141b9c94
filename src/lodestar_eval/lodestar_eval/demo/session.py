"""One run of the demo: start the stack, send the directive, follow it, stop, judge, report."""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lodestar.language.directive import StepKind
from lodestar_bringup.domains import free_domain, session_environment
from lodestar_bringup.places import StackError
from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.starter import Death, Starter
from lodestar_eval.demo.client import SAVE_TIMEOUT, DemoClient, DirectiveRejected
from lodestar_eval.demo.narrator import Narrator
from lodestar_eval.demo.progress import ProgressLine
from lodestar_eval.demo.record import RunRecord
from lodestar_eval.map_records import MapEntity
from lodestar_eval.settings import memory_in
from lodestar_eval.tasks import Prepared
from lodestar_sim.worlds import World

if TYPE_CHECKING:
    from lodestar_eval.demo.page import DemoPage

INTERRUPTED = "The run was interrupted, and the robot was stopped."  # of a record's ending
MEMORY, MAP = "memory", "map"  # folder names of the run's memory and map
_READY_TIMEOUT = 120.0  # s of wall time for every node to come up
_SILENCE_TIMEOUT = 60.0  # s of wall time without simulated time passing
_CANCEL_TIMEOUT = 4.0  # s of wall time for a cancel to end the action
_POLL = 0.1  # s between two checks
_CONSOLE = "console"  # the page's process; the search goes on without it


class Running(Protocol):
    """Started processes that write their logs to a folder."""

    @property
    def log_folder(self) -> Path: ...

    def deaths(self) -> list[Death]: ...


class Interrupted(KeyboardInterrupt):
    """Raised after a person interrupted the run and the robot was stopped."""


def run_session(
    prepared: Prepared, world: World, options: argparse.Namespace, line: ProgressLine, began: float
) -> RunRecord:
    """Run the demo, write its report to options.out and return its record.

    If the run is interrupted or fails after the nodes are up, the report holds the data so far. Before that,
    Interrupted or StackError is raised. began: `time.monotonic()` at the start of the program.
    """
    folder: Path = options.out
    for name in (MEMORY, MAP):
        shutil.rmtree(folder / name, ignore_errors=True)
    record = RunRecord(prepared.task.directive, options.world, options.seed, prepared.start)
    specs = stack("sim", _stack_options(folder, options.seed, options.perception, options.page))
    with contextlib.ExitStack() as cleanup:
        domain = cleanup.enter_context(free_domain())
        line.note(f"Starting {len(specs)} nodes; what they write is in {folder / 'log'}.")
        client = DemoClient(domain)
        cleanup.callback(client.close)
        own = cleanup.enter_context(session_environment(domain))
        starter = Starter(specs, folder / "log", environment=own)
        cleanup.enter_context(starter)
        cleanup.callback(
            signal.signal, signal.SIGINT, signal.SIG_IGN
        )  # a second one would leave nodes behind
        wait_until_ready(client, starter, line, options.page)
        try:
            line.note(f"Asked: “{record.directive}”. Times are seconds of the simulation since then.")
            if not prepared.task.target_ids and prepared.kind is StepKind.FIND:
                line.note("(Nothing in this building is meant by it; the robot does not know that.)")
            follow(client, starter, record, options.time_limit, line, began)
        except StackError as error:
            record.ending = f"The nodes failed: {error}"
        except KeyboardInterrupt:
            record.ending = INTERRUPTED
        with uninterrupted():
            record.wall = time.monotonic() - began
            collect(client, record)
            starter.memory.sample()
            record.peak_pss_mib = starter.memory.peak_mib
            problem = client.save_map((folder / MAP).resolve(), 0.0 if record.ending else SAVE_TIMEOUT)
            if problem and not record.ending:
                line.note(f"The map is not kept for `make ask`: {problem}")
            if options.page is None or record.ending:
                cleanup.close()
            _report(prepared, world, record, options, line)
        if options.page is not None and not record.ending:
            stay(starter, options.page, line)
    return record


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C, SIGTERM and a closed terminal within the block, which takes seconds."""
    before = {
        one: signal.signal(one, signal.SIG_IGN) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def stay(starter: Running, page: DemoPage, line: ProgressLine) -> None:
    """Keep the stack and its page running until Ctrl-C, and report nodes that die."""
    with contextlib.suppress(KeyboardInterrupt):
        line.note(f"The page stays at {page.address}; Ctrl-C ends it.")
        while not line.gone:
            for death in starter.deaths():
                line.note(death.report().splitlines()[0])
            time.sleep(_POLL)


def _stack_options(folder: Path, seed: int, perception: str, page: DemoPage | None = None) -> StackOptions:
    """Return the options of the stack; the robot starts at the task's start pose in the world."""
    world = str((folder / "world.json").resolve())
    memory = memory_in(folder / MEMORY)  # this run's own memory, which `make ask` reads afterwards
    parameters: dict[str, Mapping[str, object]] = {"sim": {"task": "none"}, **memory}
    if page is not None:
        parameters["console"] = page.parameters
    return StackOptions(
        world=world, seed=seed, perception=perception, parameters=parameters, console=page is not None
    )


def _raise_on_death(starter: Running, line: ProgressLine) -> None:
    """Raise StackError if a required process has died; report a dead console.

    Raises KeyboardInterrupt if the terminal was closed.
    """
    if line.gone:
        raise KeyboardInterrupt
    deaths = starter.deaths()
    for death in deaths:
        if death.name == _CONSOLE:
            line.note(f"The page is gone, and the search goes on: {death.report().splitlines()[0]}")
    if needed := [death.report() for death in deaths if death.name != _CONSOLE]:
        raise StackError("\n".join(needed))


def wait_until_ready(
    client: DemoClient, starter: Running, line: ProgressLine, page: DemoPage | None = None
) -> None:
    """Wait until every node of the demo is up. Raises StackError if one does not appear, or dies.

    page: shows the missing nodes until the console serves.
    """
    deadline = time.monotonic() + _READY_TIMEOUT
    while missing := client.missing():
        _raise_on_death(starter, line)
        if time.monotonic() > deadline:
            raise StackError(
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
    """Send the directive, and print the news until it ends.

    Raises StackError if a node dies or the simulator's clock stands still, and Interrupted. began:
    `time.monotonic()` at the start of the program, to report the time to the first decision.
    """
    started_at, started_wall = client.clock, time.monotonic()
    narrator = Narrator(line, record.directive)
    try:
        with ThreadPoolExecutor(1) as sender:  # an interrupt must not hit rclpy while it builds the request
            sender.submit(client.send, record.directive, time_limit).result()
        newest, newest_wall = client.clock, time.monotonic()
        while not client.finished.wait(_POLL):
            _raise_on_death(starter, line)
            if client.clock > newest:
                newest, newest_wall = client.clock, time.monotonic()
            elif time.monotonic() - newest_wall > _SILENCE_TIMEOUT:
                raise StackError(f"the simulator's clock has stood still for {_SILENCE_TIMEOUT:.0f} s")
            progress = client.progress
            names = [entity.caption or entity.label for entity in client.seen.values()]
            narrator.take(client.clock - started_at, progress, client.room_at(progress.goal), names)
    except DirectiveRejected as error:
        record.error_msg = str(error)
        record.error_code = 11099
    except KeyboardInterrupt:
        client.cancel(_CANCEL_TIMEOUT)
        raise Interrupted from None
    finally:
        if client.decided > began:
            record.first_decision = client.decided - began
        record.duration = client.clock - started_at
        wall = time.monotonic() - started_wall
        record.real_time_factor = record.duration / wall if wall > 0.0 else float("nan")


def collect(client: DemoClient, record: RunRecord) -> None:
    """Copy the client's received data about the run into its record."""
    outcome, status = client.outcome, client.status
    if outcome is not None:
        record.claimed_success = outcome.success
        record.claimed_entities = outcome.entity_ids
        record.error_code, record.error_msg = outcome.error_code, outcome.error_msg
        record.duration = outcome.duration or record.duration
        record.told, record.searched = outcome.report, outcome.searched_share
    if status is not None:
        record.collisions, record.path_length = int(status.collisions), float(status.path_length)
    record.path, record.grid = client.path, client.grid
    record.rooms = tuple((room.label, room.area) for room in client.rooms.regions.values())
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
        for entity in (client.seen if record.ending else client.entities()).values()
    }


def _report(
    prepared: Prepared, world: World, record: RunRecord, options: argparse.Namespace, line: ProgressLine
) -> None:
    # imported late, as it loads Matplotlib
    from lodestar_eval.demo.report import closing_lines, write_demo_report
    from lodestar_eval.demo.verdict import judge_run

    line.show("  judging the run and writing the report")
    arrivals = judge_run(prepared, world, record)
    problem = ""
    try:
        write_demo_report(record, options.out, arrivals)
    except OSError as error:
        problem = f"The report is not whole: {error}"
    for text in closing_lines(record, options.out, options.perception, problem):
        line.note(text)
