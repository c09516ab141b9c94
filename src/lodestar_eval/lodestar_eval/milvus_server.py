"""Real Milvus server for measurements and tests: the one in the wheel `milvus`, in its own environment."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

INSTALL = 'python3 -m venv .venv-milvus && .venv-milvus/bin/pip install "setuptools<80" milvus==2.3.5'
PYTHON = Path(".venv-milvus/bin/python")  # relative to the checkout
_PATIENCE = 20.0  # seconds for the server to end
_CONNECTIONS = 90.0  # seconds until its connections are closed; Linux keeps them for 60 s

_SERVE = """
import signal, sys
from milvus import default_server
signal.signal(signal.SIGTERM, signal.default_int_handler)
default_server.set_base_dir(sys.argv[1])
if len(sys.argv) > 2:
    default_server.listen_port = int(sys.argv[2])
try:
    default_server.start()
    print(default_server.listen_port, flush=True)
    sys.stdin.read()
except KeyboardInterrupt:
    pass
finally:
    default_server.stop()
"""


class NoServer(RuntimeError):
    """Raised if the server is not installed or does not start; the message says how to proceed."""


def server_python(root: Path) -> Path:
    """Return the interpreter of the server's environment in a checkout. Raises NoServer."""
    python = root / PYTHON
    if not python.exists():
        raise NoServer(f"no Milvus server is installed: {INSTALL}")
    return python


@contextmanager
def milvus_server(python: Path, folder: Path, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run a server on this machine with its files in the folder; yield its URI and the process. Raises NoServer."""
    command = [str(python), "-c", _SERVE, str(folder), *([str(port)] if port else [])]
    environment = {
        key: value for key, value in os.environ.items() if key not in ("LD_LIBRARY_PATH", "PYTHONPATH")
    }
    folder.mkdir(parents=True, exist_ok=True)
    if port:
        _await_free(port)
    with (
        open(folder / "server.log", "w", encoding="utf-8") as log,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
        ) as process,
    ):
        try:
            assert process.stdout is not None
            said = process.stdout.readline().strip()
            if not said.isdecimal():
                raise NoServer(f"the Milvus server does not start; see {folder / 'server.log'}")
            if port and int(said) != port:
                raise NoServer(f"the Milvus server took the port {said}, not {port}: end what listens there")
            yield f"http://127.0.0.1:{said}", process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(_PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()


def _await_free(port: int) -> None:
    """Wait until a former server has released the port; a new one would else take another port.

    Raises NoServer after a timeout.
    """
    ends = time.monotonic() + _CONNECTIONS
    while True:
        # without SO_REUSEADDR, like the server's socket
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return
            except OSError as error:
                if time.monotonic() > ends:
                    raise NoServer(f"the port {port} is not free: end what listens there") from error
        time.sleep(0.5)
