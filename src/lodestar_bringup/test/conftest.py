"""Fixtures with small programs in place of nodes: executables of a prefix, and an installed package."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from toy_nodes import install_toys

from lodestar_bringup.node_forks import WarmProcess

PROGRAMS = {
    "steady": "import time\nprint('steady is up', flush=True)\nwhile True: time.sleep(0.1)",
    "stubborn": (
        "import signal, time\n"
        "for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)\n"
        "print('stubborn is up', flush=True)\n"
        "while True: time.sleep(0.1)"
    ),
    "doomed": "import sys\nprint('cannot find the weights', flush=True)\nsys.exit(3)",
    "parent": (
        "import subprocess, sys, time\n"
        "code = 'import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)'\n"
        "child = subprocess.Popen([sys.executable, '-c', code], start_new_session=True)\n"
        "print('child', child.pid, flush=True)\n"
        "while True: time.sleep(0.1)"
    ),
    "echo": "import os, sys\nprint(sys.argv[1:], os.environ['ROS_LOG_DIR'], flush=True)",
}


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an AMENT prefix whose package `fake` contains PROGRAMS."""
    folder = tmp_path / "prefix" / "lib" / "fake"
    folder.mkdir(parents=True)
    for name, code in PROGRAMS.items():
        path = folder / name
        path.write_text(f"#!{sys.executable}\n{code}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    root = tmp_path / "prefix"
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{root}{os.pathsep}{os.environ.get('AMENT_PREFIX_PATH', '')}")
    return root


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the folder below which `lodestar_toys` is installed."""
    root = tmp_path_factory.mktemp("toys")
    install_toys(root)
    with pytest.MonkeyPatch.context() as patch:
        for variable, path in (("PYTHONPATH", root / "site"), ("AMENT_PREFIX_PATH", root / "prefix")):
            patch.setenv(variable, f"{path}{os.pathsep}{os.environ.get(variable, '')}")
        patch.syspath_prepend(str(root / "site"))
        yield root


@pytest.fixture(scope="module")
def warm(toys: Path) -> Iterator[WarmProcess]:
    process = WarmProcess()
    yield process
    process.close()
