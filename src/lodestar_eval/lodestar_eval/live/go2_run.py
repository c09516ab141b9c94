"""Runs the go2 launch and a simulated robot as two separate starts, as on two computers."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import yaml

from lodestar_bringup.domains import free_domain, session_environment
from lodestar_bringup.places import StackError, config_folder
from lodestar_bringup.starter import Death, tail_of
from lodestar_eval.demo.client import DemoClient
from lodestar_eval.demo.progress import ProgressLine
from lodestar_eval.demo.record import RunRecord
from lodestar_eval.demo.session import collect, follow, wait_until_ready
from lodestar_eval.demo.verdict import judge_run
from lodestar_eval.live.command_watch import CommandWatch
from lodestar_eval.settings import memory_in
from lodestar_eval.tasks import prepare

_NEEDED = ("go2_base", "go2_lidar", "mapping", "motion_gate", "goal_selector")
_SOUND_TIMEOUT = 60.0  # s of wall time until the nodes report good health
_POLL = 0.2  # s between two checks
_DOCTOR_TIMEOUT = 90.0  # s of wall time; the doctor waits up to 30 s for missing interfaces
_END_TIMEOUT = 30.0  # s of wall time for a starter to stop its processes


@dataclass(frozen=True)
class Go2Run:
    """Result of one directive. Times in seconds of the robot's clock, which equals the computer's."""

    seed: int
    directive: str
    success: bool  # by ground truth, and claimed by the robot
    verdict: str
    start_up: float  # seconds from the first command until all interfaces exist and the nodes are healthy
    duration: float  # seconds that the directive took
    path_length: float  # m
    collisions: int
    requests: int  # number of requests to the sport service
    strange: int  # number of requests by neither go2_base nor go2_guard
    strangers: tuple[str, ...]  # unexpected publishers on topics reserved for gate, base and guard
    findings: tuple[str, ...] = ()  # problems found by the doctor before the directive; notes are left out

    @property
    def past_the_gate(self) -> int:
        """Return the number of foreign requests and unexpected publishers, which could bypass the gate."""
        return self.strange + len(self.strangers)


class Programs:
    """Starts subcommands of `python -m lodestar_bringup` as processes, and ends them with the context."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.log_folder = folder
        self._environment = {**os.environ, **environment}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Programs:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running.values():
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self._running.values():
            try:
                process.wait(_END_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()  # its nodes end with it
                process.wait()

    def start(self, use: str, *arguments: str) -> None:
        """Start one subcommand; output goes to `<use>.txt` and its nodes' logs to a folder of that name."""
        command = [sys.executable, "-m", "lodestar_bringup", use, *arguments]
        command += ["--log-folder", str(self.log_folder / use)]
        with (self.log_folder / f"{use}.txt").open("wb") as output:
            self._running[use] = subprocess.Popen(
                command,
                env=self._environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def examine(self) -> tuple[str, ...]:
        """Run the stack check `lodestar_ros.doctor`; return its findings. StackError without a report."""
        command = [sys.executable, "-m", "lodestar_ros.doctor", "--json"]
        try:
            done = subprocess.run(
                command, env=self._environment, capture_output=True, text=True, timeout=_DOCTOR_TIMEOUT
            )
            found = json.loads(done.stdout)
        except (subprocess.TimeoutExpired, ValueError) as error:
            raise StackError(f"the doctor gave no report: {error}") from error
        return tuple(str(finding["what"]) for finding in found if finding["level"] != "NOTE")

    def deaths(self) -> list[Death]:
        """Return the started programs that have ended."""
        ended = {use: process.poll() for use, process in self._running.items()}
        logs = {use: self.log_folder / f"{use}.txt" for use in ended}
        return [
            Death(use, code, logs[use], tail_of(logs[use])) for use, code in ended.items() if code is not None
        ]


def run_beside(
    world: str,
    seed: int,
    folder: Path,
    time_limit: float,
    directive: str | None = None,
    parameters: Mapping[str, Mapping[str, object]] = MappingProxyType({}),
) -> Go2Run:
    """Run a directive of a world, by default its own, from boot to the end, with all checks on.

    `lodestar_ros.doctor` checks the stack before the directive is sent. folder: for worlds and logs, created
    by this call. parameters: node -> values other than the profiles'. Raises StackError if something does not
    start or dies.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    prepared = prepare(world, seed, directive)
    built = replace(prepared.world, start=prepared.task.start)
    built.save(folder / "world.json")
    simulator = {**parameters, "sim": {"task": "none", **parameters.get("sim", {})}}
    robot = _written(folder / "robot.yaml", simulator)
    own = _written(folder / "stack.yaml", {**parameters, **memory_in(folder / "memory")})
    record = RunRecord(prepared.task.directive, world, seed, prepared.start)
    with contextlib.ExitStack() as cleanup:
        domain = cleanup.enter_context(free_domain())
        watch = CommandWatch(domain)
        cleanup.callback(watch.close)
        client = DemoClient(domain)
        cleanup.callback(client.close)
        programs = cleanup.enter_context(Programs(folder, cleanup.enter_context(session_environment(domain))))
        began = time.monotonic()
        place = str((folder / "world.json").resolve())
        programs.start("go2_stand_in", "--world", place, "--seed", str(seed), "--params-file", str(robot))
        rehearsal = ("--params-file", str(config_folder() / "go2_rehearsal.yaml"), "--params-file", str(own))
        absent = ("--slam", "none", "--navigator", "external")  # simulated by the other program
        programs.start("go2", *absent, *rehearsal)
        line = ProgressLine()
        wait_until_ready(client, programs, line)
        _wait_until_sound(watch, programs, line)
        start_up = time.monotonic() - began
        findings = programs.examine()
        follow(client, programs, record, time_limit, line)
        collect(client, record)
        strangers, order = tuple(sorted(watch.strangers)), watch.order
    epoch = float(record.path[0, 0])  # the world's clock begins at 0
    record.path[:, 0] -= epoch
    record.ended -= epoch
    record.step_begins = tuple((step, stamp - epoch) for step, stamp in record.step_begins)
    judge_run(prepared, built, record)
    verdict = " ".join(filter(None, (record.verdict, record.error_msg)))
    return Go2Run(
        seed, record.directive, record.success, verdict, start_up, record.duration, record.path_length,
        record.collisions, order.counts.total(), order.strange, strangers, findings,
    )  # fmt: skip


def _wait_until_sound(watch: CommandWatch, programs: Programs, line: ProgressLine) -> None:
    """Wait until the nodes that motion needs are healthy. Raises StackError after `_SOUND_TIMEOUT`."""
    end = time.monotonic() + _SOUND_TIMEOUT
    while unsound := watch.unsound(_NEEDED):
        if time.monotonic() > end or programs.deaths():
            ended = ", ".join(death.report() for death in programs.deaths())
            raise StackError(f"not well after {_SOUND_TIMEOUT:.0f} s: {', '.join(unsound)}. {ended}")
        line.show(f"  waiting until {', '.join(unsound)} are well")
        time.sleep(_POLL)


def _written(path: Path, parameters: Mapping[str, Mapping[str, object]]) -> Path:
    """Write a parameter file and return its absolute path. parameters: node -> nested parameters."""
    sections = {f"/**/{node}": {"ros__parameters": dict(values)} for node, values in parameters.items()}
    path.write_text(yaml.safe_dump(sections))
    return path.resolve()


__all__ = ["Go2Run", "run_beside"]
