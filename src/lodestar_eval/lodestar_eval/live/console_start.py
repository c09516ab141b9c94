"""Seconds until the page of `python -m lodestar_eval.demo` shows the nodes and the map, and its exit status."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from lodestar_bringup.places import StackError
from lodestar_eval.console_client import ConsolePage, Puller, StatePage

_PATIENCE = 120.0  # s, timeout of the start
_END = 30.0  # s, timeout of the end after Ctrl-C


@dataclass(frozen=True)
class ConsoleStart:
    """Seconds from the demo's command until its link is printed and its page shows the nodes and map cells.

    link, states, cells: these seconds. ended: seconds from Ctrl-C to the end. status: exit status.
    """

    seed: int
    link: float
    states: float
    cells: float
    ended: float
    status: int


def start_of_demo(world: str, seed: int, folder: Path) -> ConsoleStart:
    """Start the demo with its page, wait for the map's first cells, and end it. Raises StackError."""
    command = [sys.executable, "-m", "lodestar_eval.demo", "--console", "on", "--world", world]
    command += ["--seed", str(seed), "--out", str(folder / "demo")]
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    environment = {**os.environ, "XDG_STATE_HOME": str((folder / "state").resolve())}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    try:
        link = _link(process, began)
        linked = time.monotonic() - began
        states, cells = _shown(link, began)
        pressed = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=_END)
        return ConsoleStart(seed, linked, states, cells, time.monotonic() - pressed, process.returncode)
    except (ConnectionError, OSError, subprocess.TimeoutExpired) as error:
        raise StackError(str(error)) from error
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _link(process: subprocess.Popen[str], began: float) -> str:
    assert process.stdout is not None
    while time.monotonic() - began < _PATIENCE:
        if not select.select([process.stdout], [], [], 0.5)[0]:
            continue
        line = process.stdout.readline()
        if found := re.match(r"http://\S+", line):
            return found[0]
        if not line:
            break
    raise StackError("the demo printed no link")


def _shown(link: str, began: float) -> tuple[float, float]:
    """Return the seconds from `began` until a page showed the nodes, and until it showed the map's first cells."""
    page, states = _enter(link, began)
    with StatePage(page) as state:
        puller = Puller(page, cloud=False, camera=False)
        try:
            while time.monotonic() - began < _PATIENCE:
                state.read(0.05)
                if states != states and (state.parts.get("health") or {}).get("stack"):
                    states = time.monotonic() - began
                if states == states and puller.frames:
                    return states, time.monotonic() - began
        finally:
            puller.close()
    raise StackError(f"the page showed no map within {_PATIENCE:.0f} s")


def _enter(link: str, began: float) -> tuple[ConsolePage, float]:
    """Log in once the console serves; return the page, and the seconds until the waiting page listed nodes.

    The seconds are NaN if it listed none.
    """
    states = float("nan")
    while True:
        try:
            return ConsolePage(link), states
        except ConnectionError:
            if time.monotonic() - began > _PATIENCE:
                raise
            if states != states and b"<li>" in _waiting(link):
                states = time.monotonic() - began
            time.sleep(0.1)


def _waiting(link: str) -> bytes:
    """Return the waiting page's body, b"" unless the server answers 503; the one-time link stays valid."""
    try:
        with urllib.request.urlopen(link.split("/enter")[0] + "/", timeout=5.0):
            return b""
    except urllib.error.HTTPError as error:
        return error.read() if error.code == 503 else b""
    except OSError:
        return b""
