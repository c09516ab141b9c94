"""Run of one directive in the simulated stack, in four variants: no console; console; console with a client
that reads all topics; directive given by an AI agent through the console's tools.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil

from lodestar_bringup.domains import free_domain, session_environment
from lodestar_bringup.places import StackError
from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.starter import Starter
from lodestar_console.access.keys import console_folder, link_to, secret_of
from lodestar_console.access.sessions import AgentBook
from lodestar_eval.console_client import ConsolePage, Puller, StatePage
from lodestar_eval.demo.client import DemoClient, DirectiveRejected, Outcome
from lodestar_eval.demo.progress import ProgressLine
from lodestar_eval.demo.record import RunRecord
from lodestar_eval.demo.session import collect, follow, wait_until_ready
from lodestar_eval.demo.verdict import judge_run
from lodestar_eval.settings import memory_in
from lodestar_eval.tasks import prepare

WAYS = (
    "without",
    "alone",
    "read",
    "agent",
)  # no console; console without a client; one client reads all topics; an agent gives the directive
_AGENT = "finder"
_SERVES = 30.0  # s until the console has to serve
_SAMPLE = 1.0  # s between two measurements of the console's memory


@dataclass
class ConsoleRun:
    """Result of one directive in variant `way`. Times in seconds of wall time unless stated otherwise."""

    way: str
    seed: int
    directive: str
    success: bool = False  # by ground truth, and claimed by the robot
    verdict: str = ""
    real_time: float = float("nan")  # simulated seconds per second, while the directive runs
    stack_core: float = float("nan")  # processor seconds of all nodes but the console, per simulated second
    first_decision: float = float("nan")  # seconds from the start of the program
    console_core: float = float("nan")  # processor seconds of the console, per second
    console_pss: float = float("nan")  # MiB, largest proportional memory of the console
    received: float = float("nan")  # kB/s received by the client
    calls: int = 0  # number of the agent's tool calls
    tools: list[str] = field(default_factory=list)


class AgentClient(DemoClient):
    """Watches a run like the demo's client, while an agent gives the directive through the console's tool interface.

    outcome: result as the tools report it.
    """

    def __init__(self, domain_id: int, address: Path, token: str) -> None:
        super().__init__(domain_id)
        self._address, self._token = address, token
        self.tools: list[str] = []
        self._agent: threading.Thread | None = None

    def send(self, directive: str, time_limit: float) -> None:
        """Let the agent search for the directive's target; `finished` is set after its last tool call."""
        self._agent = threading.Thread(target=self._find, args=(directive, time_limit), daemon=True)
        self._agent.start()

    def _find(self, directive: str, time_limit: float) -> None:
        try:
            told = asyncio.run(self._by_tools(directive, time_limit))
        except Exception as error:  # an exception of the client ends the run as well
            told = {"success": False, "code": 1, "said": f"{error.__class__.__name__}: {error}"}
        said = json.dumps(told.get("said", ""))
        found = tuple(int(one) for one in told.get("entities", ()))
        success = bool(told.get("success"))
        self._outcome = Outcome(
            success, int(told.get("code") or 0), "" if success else said, found, (), 0.0, said
        )
        self.ended = self.clock
        self.finished.set()

    async def _by_tools(self, directive: str, time_limit: float) -> dict[str, Any]:
        """Give the directive by tool calls; return its last status. Raises DirectiveRejected."""
        import httpx2
        from mcp import ClientSession
        from mcp.client.streamable_http import streamable_http_client

        address = self._address.read_text().strip()
        headers = {"authorization": f"Bearer {self._token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60.0) as http,
            streamable_http_client(f"{address}/mcp", http_client=http) as streams,
            ClientSession(*streams[:2]) as session,
        ):
            await session.initialize()

            async def call(name: str, **arguments: Any) -> Any:
                self.tools.append(name)
                told = await session.call_tool(name, arguments)
                text = "".join(getattr(part, "text", "") for part in told.content)
                if told.is_error:
                    raise DirectiveRejected(f"{name}: {text}")
                return json.loads(text) if text.startswith("{") else text

            await call("status")
            await call("find_things", words=directive.split()[-1])
            await call("take_lease")
            await call("start_directive", text=directive, dry_run=True)
            await call("start_directive", text=directive)
            limit = self.clock + time_limit
            while True:
                told: dict[str, Any] = await call("directive_status", wait=10.0)
                if not told["runs"] or self.clock > limit:
                    break
            await call("why")
            await call("release")
            return told


def run_with_console(
    way: str, world: str, seed: int, folder: Path, time_limit: float, line: ProgressLine
) -> ConsoleRun:
    """Run the default directive of a world in one variant (`way`, one of WAYS).

    folder: created by this call. Raises StackError if something does not start or dies.
    """
    began = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    prepared = prepare(world, seed, None)
    built = replace(prepared.world, start=prepared.task.start)
    built.save(folder / "world.json")
    record = RunRecord(prepared.task.directive, world, seed, prepared.start)
    run = ConsoleRun(way, seed, record.directive)
    own = console_folder(str(folder / "console"))
    with contextlib.ExitStack() as cleanup:
        domain = cleanup.enter_context(free_domain())
        token = AgentBook(own).add(_AGENT, ["look", "drive"], time.time()) if way == "agent" else ""
        client = AgentClient(domain, own / "address", token) if token else DemoClient(domain)
        cleanup.callback(client.close)
        options = _options(folder, seed, own if way != "without" else None, way == "agent")
        environment = cleanup.enter_context(session_environment(domain))
        starter = Starter(stack("sim", options), folder / "log", environment=environment)
        cleanup.enter_context(starter)
        wait_until_ready(client, starter, line)
        watch = None
        if way != "without":
            _wait_until_served(own / "address", starter)
            page = None
            if way == "read":
                page = ConsolePage(link_to((own / "address").read_text().strip(), secret_of(own)))
            watch = cleanup.enter_context(_ConsoleWatch(starter.pid("console"), page))
        others = [
            psutil.Process(pid) for pid in starter.pids() if way == "without" or pid != starter.pid("console")
        ]
        used = sum(map(_seconds, others))
        follow(client, starter, record, time_limit, line, began)
        run.stack_core = (sum(map(_seconds, others)) - used) / max(record.duration, 1e-9)
        if watch is not None:
            run.console_core, run.console_pss, run.received = watch.told()
        run.real_time, run.first_decision = record.real_time_factor, record.first_decision
        collect(client, record)
    judge_run(prepared, built, record)
    run.success = record.success
    run.verdict = " ".join(filter(None, (record.verdict, record.error_msg)))
    if isinstance(client, AgentClient):
        run.tools = client.tools
    return run


def _options(folder: Path, seed: int, console: Path | None, agent: bool) -> StackOptions:
    parameters: dict[str, Mapping[str, object]] = {"sim": {"task": "none"}, **memory_in(folder / "memory")}
    if console is not None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = int(free.getsockname()[1])
        parameters["console"] = {"port": port, "folder": str(console.resolve())}
        if agent:
            parameters["console"] = {**parameters["console"], "agents_may_drive": [_AGENT]}
    world = str((folder / "world.json").resolve())
    return StackOptions(world=world, seed=seed, parameters=parameters, console=console is not None)


def _wait_until_served(address: Path, starter: Starter) -> None:
    end = time.monotonic() + _SERVES
    while not address.exists():
        if time.monotonic() > end or starter.deaths():
            raise StackError(f"the console does not serve after {_SERVES:.0f} s")
        time.sleep(0.1)


def _seconds(process: psutil.Process) -> float:
    """Return the processor seconds of a process; 0 if it has ended."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


class _ConsoleWatch:
    """Context manager that measures the console's process. page: session of a client that reads all topics,
    or None.
    """

    def __init__(self, pid: int, page: ConsolePage | None) -> None:
        self._process, self._page = psutil.Process(pid), page
        self._largest = 0.0
        self._closing = threading.Event()
        self._puller: Puller | None = None
        self._state: StatePage | None = None
        self._threads = [threading.Thread(target=self._sample, daemon=True)]

    def __enter__(self) -> _ConsoleWatch:
        if self._page is not None:
            self._puller, self._state = Puller(self._page), StatePage(self._page)
            self._threads.append(threading.Thread(target=self._read, daemon=True))
        for thread in self._threads:
            thread.start()
        self._began, self._used = time.monotonic(), _seconds(self._process)
        return self

    def told(self) -> tuple[float, float, float]:
        """Return the console's share of a core, largest proportional memory, MiB, and kB/s to the client."""
        span = time.monotonic() - self._began
        share = (_seconds(self._process) - self._used) / span
        received = 0
        if self._puller is not None and self._state is not None:
            received = self._puller.received + self._state.received
        return share, self._largest, received / 1000.0 / span

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        if self._puller is not None:
            self._puller.close()
        for thread in self._threads:
            thread.join(3.0)

    def _sample(self) -> None:
        while not self._closing.wait(_SAMPLE):
            with contextlib.suppress(psutil.Error):
                self._largest = max(self._largest, self._process.memory_full_info().pss / 2**20)

    def _read(self) -> None:
        assert self._state is not None
        # an error ends the measurement, not the run
        with self._state as state, contextlib.suppress(Exception):
            while not self._closing.is_set():
                state.read(0.2)
