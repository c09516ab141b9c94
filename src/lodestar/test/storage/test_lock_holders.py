"""Tests that the holder of a locked file is named, with its command, for each kind of lock."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lodestar.storage import lock_holders
from lodestar.storage.lock_holders import command_of, holder_of

pytestmark = pytest.mark.skipif(not Path("/proc/locks").exists(), reason="Linux tells who holds a lock")
LOCKS = {
    "flock": "fcntl.flock(file, fcntl.LOCK_EX)",
    "shared": "fcntl.flock(file, fcntl.LOCK_SH)",
    "posix": "fcntl.lockf(file, fcntl.LOCK_EX)",
    "open": "pass",
}


@contextmanager
def another(path: Path, lock: str = "flock") -> Iterator[subprocess.Popen]:
    """Yield a process that holds a lock on a file until the block ends."""
    code = f"import fcntl, sys; file = open({str(path)!r}, 'a'); {LOCKS[lock]}; print('held', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "a-greedy-program"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.parametrize("lock", LOCKS)
def test_the_holder_is_named_with_its_command(tmp_path: Path, lock: str) -> None:
    path = tmp_path / "LOCK"
    path.touch()
    assert holder_of(path) == ""
    with another(path, lock) as process:
        said = holder_of(path)
        assert said.startswith(f"process {process.pid} (python") and len(said) < 150
    assert holder_of(path) == ""


def test_of_several_that_have_it_open_the_one_with_the_lock_is_named(tmp_path: Path) -> None:
    path = tmp_path / "LOCK"
    with another(path, "open"), another(path, "flock") as holder, another(path, "open"), path.open("a"):
        assert holder_of(path).startswith(f"process {holder.pid} (")


def test_what_is_not_there_has_no_holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert holder_of(tmp_path / "none") == ""
    assert command_of(2**30) == "ended meanwhile"
    assert command_of(os.getpid())
    (tmp_path / "LOCK").touch()
    with another(tmp_path / "LOCK"):
        monkeypatch.setattr(lock_holders, "_PROC", tmp_path)  # a system without /proc
        assert holder_of(tmp_path / "LOCK") == ""
