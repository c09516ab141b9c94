"""Health of the stack: status and memory of nodes, missing nodes, and findings of `lodestar_ros.doctor`."""

from __future__ import annotations

import math
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import psutil
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from lodestar_console import protocol
from lodestar_console.board.board import Board
from lodestar_console.intake.convert import brief
from lodestar_console.intake.worker import KeyedWorker
from lodestar_ros import qos
from lodestar_ros.node import LodestarNode
from lodestar_ros.twins import identity_from

PERIOD = 1.0  # s between two updates of the page's part
MEMORY_PERIOD = 10.0  # s between two measurements of memory, which take a millisecond per process
GONE_AFTER = 5.0  # s without a status after which a node counts as gone
DOCTOR = "doctor"  # name of the status in which `lodestar_ros.doctor` publishes its findings
DOCTOR_LISTENS = 4.0  # s for which the doctor listens
DOCTOR_PATIENCE = 50.0  # s, timeout of the doctor, including discovery of a large graph
DOCTOR_HOLDS = 300.0  # s for which the doctor's findings are shown
MOST_LOG = 512 * 1024  # bytes read from the end of a log
_LEVELS = {b"\x00": "ok", b"\x01": "warning", b"\x02": "error", b"\x03": "error"}


class _Life:
    """State of one node: its newest status, its process, and the tokens (one per process) received so far."""

    def __init__(self) -> None:
        self.status: DiagnosticStatus | None = None
        self.heard = 0.0
        self.pid, self.is_here, self.pss = 0, False, 0
        self.tokens: set[str] = set()


class HealthWatch:
    """Show the page's part ``health``. Subscribes: ``/diagnostics``.

    awaited: names of the nodes that are expected to run.
    """

    def __init__(
        self, node: LodestarNode, board: Board, worker: KeyedWorker, awaited: tuple[str, ...]
    ) -> None:
        self._board, self._worker, self._namespace = board, worker, node.get_namespace().rstrip("/")
        self._lives: dict[str, _Life] = {name: _Life() for name in awaited}
        self._host = socket.gethostname().replace(" ", "_")
        self._measured = 0.0
        self._doctor: tuple[float, list[protocol.Finding]] = (0.0, [])  # time, newest findings
        node.listen(DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.EVENT)
        node.steady_timer(PERIOD, lambda: worker.submit(self._show, "health"))

    def silent(self, name: str) -> float:
        """Return the seconds since a node's newest status, inf = none yet."""
        life = self._lives.get(name)
        return math.inf if life is None or life.status is None else time.monotonic() - life.heard

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == DOCTOR and not status.hardware_id:
                self._doctor = time.monotonic(), doctor_findings(status)
                continue
            identity = identity_from(status.hardware_id)
            if identity is None or not identity.name.startswith(f"{self._namespace}/"):
                continue
            life = self._lives.setdefault(identity.name[len(self._namespace) + 1 :], _Life())
            life.status, life.heard = status, time.monotonic()
            life.pid, life.is_here = identity.pid, identity.host == self._host
            life.tokens.add(identity.token)

    def _show(self) -> None:
        now = time.monotonic()
        lives = dict(self._lives)
        if now - self._measured > MEMORY_PERIOD:
            self._measured = now
            for life in lives.values():
                life.pss = proportional_bytes(life.pid) if life.is_here else 0
        told_at, told = self._doctor
        nodes, stack = [], []
        findings = [*told] if now - told_at < DOCTOR_HOLDS else []
        for name, life in sorted(lives.items()):
            alive = life.status is not None and now - life.heard < GONE_AFTER
            stack.append(
                protocol.StackNode(
                    name=name, state="there" if alive else "gone" if life.status else "waiting"
                )
            )
            if life.status is None:
                continue
            node = _node(name, life, alive)
            nodes.append(node)
            if not alive:
                text = f"{name} has said nothing for {now - life.heard:.0f} s"
                findings.append(protocol.Finding(level="error", text=text, do="read its log"))
            elif node.level != "ok":
                findings.append(protocol.Finding(level=node.level, text=f"{name}: {node.status}"))
        cpu = round(psutil.cpu_percent(None) / 100.0, 2)
        self._board.set("health", protocol.Health(findings=findings, nodes=nodes, stack=stack, cpu=cpu))


def _node(name: str, life: _Life, alive: bool) -> protocol.NodeHealth:
    status = life.status
    assert status is not None
    rates, ages = [], []  # of all inputs; the most active one is shown, as event inputs are rare
    for item in status.values:
        try:
            if item.key.endswith(".rate_hz"):
                rates.append(float(item.value))
            elif item.key.endswith(".silent_s"):
                ages.append(float(item.value))
        except ValueError:
            continue
    heard = [age for age in ages if age < 1e6]
    return protocol.NodeHealth(
        name=name,
        alive=alive,
        level=_level(status),  # type: ignore[arg-type]
        status=brief(status.message),
        pss=life.pss or None,
        rate=max(rates, default=None),
        age=min(heard, default=None),
        restarts=len(life.tokens) - 1,
    )


def doctor_findings(status: DiagnosticStatus) -> list[protocol.Finding]:
    """Return the findings that `lodestar_ros.doctor` published in its status, one per value."""
    level = _level(status)
    return [protocol.Finding(level=level, text=brief(item.value)) for item in status.values[:50]]  # type: ignore[arg-type]


def _level(status: DiagnosticStatus) -> str:
    raw = status.level if isinstance(status.level, bytes) else bytes([status.level])
    return _LEVELS.get(bytes(raw), "error")


def proportional_bytes(pid: int) -> int:
    """Return the proportional memory (PSS) of a process of this user, 0 = unknown."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    line = next((line for line in text.splitlines() if line.startswith("Pss:")), "Pss: 0 kB")
    return int(line.split()[1]) * 1024


def examine(namespace: str) -> list[dict[str, str]]:
    """Run `lodestar_ros.doctor`, which observes the stack for some seconds, and return its findings.

    Raises OSError, subprocess.SubprocessError or ValueError if it fails.
    """
    words = ["--json", "--seconds", str(DOCTOR_LISTENS), *(["--namespace", namespace] if namespace else [])]
    command = [sys.executable, "-m", "lodestar_ros.doctor", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DOCTOR_PATIENCE, check=False)
    return msgspec.json.decode(done.stdout, type=list[dict[str, str]])


def log_tail(node: str, lines: int) -> str | None:
    """Return the last lines of a node's log, None if there is no log file."""
    folder = os.environ.get("ROS_LOG_DIR", "")
    path = Path(folder).parent / f"{node}.log"
    if not folder or not path.is_file():
        return None
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - MOST_LOG, 0))
        text = file.read(MOST_LOG).decode(errors="replace")
    return "\n".join(text.splitlines()[-lines:]) + "\n"
