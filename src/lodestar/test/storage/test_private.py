"""Tests of private folders: other users cannot read or write them, and they are deleted with their run."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap

import pytest

from lodestar.storage.files import write_file
from lodestar.storage.private import UnsafeFolder, private_folder, state_home
from lodestar.storage.run_folder import RunFolder


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture(autouse=True)
def lax_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def test_folders_and_files_are_for_their_owner_alone(tmp_path):
    folder = private_folder(tmp_path / "a" / "b")
    write_file(folder / "picture.jpg", [b"x"])
    assert [mode(p) for p in (folder, folder.parent, folder / "picture.jpg")] == [0o700, 0o700, 0o600]
    assert private_folder(folder) == folder


def test_a_link_is_refused(tmp_path):
    (tmp_path / "diary").mkdir(0o700)
    (tmp_path / "link").symlink_to(tmp_path / "diary")
    with pytest.raises(UnsafeFolder, match="symbolic link"):
        private_folder(tmp_path / "link")


def test_a_file_and_a_folder_that_others_may_write_to_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnsafeFolder, match="not a folder"):
        private_folder(tmp_path / "file")
    (tmp_path / "open").mkdir(0o777)
    with pytest.raises(UnsafeFolder, match="chmod go-w"):
        private_folder(tmp_path / "open")


def test_a_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    (tmp_path / "theirs").mkdir(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(UnsafeFolder, match="another user"):
        private_folder(tmp_path / "theirs")


def test_a_planted_link_is_not_written_through(tmp_path):
    (tmp_path / "diary").write_text("dear")
    (tmp_path / "a.jpg").symlink_to(tmp_path / "diary")
    write_file(tmp_path / "a.jpg", [b"x"])
    assert (tmp_path / "diary").read_text() == "dear" and not (tmp_path / "a.jpg").is_symlink()


def test_state_lies_where_the_user_says(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_home() == tmp_path / "lodestar"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")  # ignored, as the specification requires
    monkeypatch.setenv("HOME", "/home/somebody")
    assert str(state_home()) == "/home/somebody/.local/state/lodestar"


# --- runs ----------------------------------------------------------------------------------------------


def test_runs_have_folders_of_their_own_that_go_with_them(tmp_path):
    first, second = RunFolder(tmp_path), RunFolder(tmp_path)
    assert first.path != second.path and mode(first.path) == 0o700
    (first.path / "map").write_text("x")
    first.close()
    assert not first.path.exists() and second.path.exists()
    first.close()
    second.close()


RUN = """
    import sys, time
    from pathlib import Path
    from lodestar.storage.run_folder import RunFolder
    run = RunFolder(Path(sys.argv[1]))
    (run.path / "picture.jpg").write_text("x")
    print(run.path, flush=True)
    time.sleep(60)
"""


def test_what_a_killed_run_left_goes_with_the_next_and_a_living_one_stays(tmp_path):
    run = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(RUN), str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    name = os.path.basename(run.stdout.readline().strip())
    left = tmp_path / "runs" / name
    RunFolder(tmp_path).close()
    assert (left / "picture.jpg").exists(), "its run lives"
    run.kill()
    run.wait()
    assert left.exists()
    RunFolder(tmp_path).close()
    assert not left.exists()


def test_a_user_without_a_home_has_a_run_too(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    run = RunFolder()
    assert mode(run.path) == 0o700 and tmp_path not in run.path.parents
    run.close()
    assert not run.path.exists()
