"""Tests that files and folders are complete or absent: round trips, every kind of damage, and a kill at any moment."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lodestar.storage.archive import Archive, ForeignFile, OtherVersion, meta_of, read_archive, write_archive
from lodestar.storage.files import whole_file, write_file
from lodestar.storage.snapshot import KEEP, BadFolder, SnapshotFolder

ARRAYS = {
    "numbers": np.arange(5000, dtype=np.int32).reshape(-1, 4),
    "empty": np.zeros((0, 3), np.float32),
    "one": np.array(7, np.uint8),
    "flags": np.array([True, False]),
}


def write(path, kind="test", version=1, arrays=ARRAYS, meta=None):
    return write_archive(path, Archive(kind, version, {"name": "x"} if meta is None else meta, arrays))


def read(path):
    return read_archive(path, {"test": 1})


def assert_equal(found, given):
    assert found.keys() == given.keys()
    for name, array in given.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert np.array_equal(found[name], array, equal_nan=array.dtype.kind == "f")


def test_there_and_back(tmp_path):
    path = tmp_path / "file"
    assert write(path) == path.stat().st_size
    archive = read(path)
    assert archive.meta == {"name": "x"}
    assert_equal(archive.arrays, ARRAYS)
    assert [child.name for child in tmp_path.iterdir()] == ["file"]


DTYPES = st.one_of(
    hnp.integer_dtypes(endianness="<"), hnp.unsigned_integer_dtypes(endianness="<"),
    hnp.floating_dtypes(endianness="<", sizes=(32, 64)), hnp.boolean_dtypes(),
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=5), hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, min_side=0)), max_size=4
    )
)
def test_any_numbers_there_and_back(tmp_path_factory, arrays):
    path = tmp_path_factory.mktemp("any") / "file"
    write(path, arrays=arrays)
    assert_equal(read(path).arrays, arrays)


def test_a_file_that_is_there_is_only_replaced_where_it_may(tmp_path):
    path = tmp_path / "file"
    assert write_file(path, [b"first"], replace=False) == 5
    with pytest.raises(FileExistsError):
        write_file(path, [b"second"], replace=False)
    assert path.read_bytes() == b"first"
    write_file(path, [b"third"])
    assert path.read_bytes() == b"third" and [child.name for child in tmp_path.iterdir()] == ["file"]


def test_a_file_that_comes_while_another_is_written_stays(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(FileExistsError), whole_file(path, replace=False) as unfinished:
        unfinished.write_bytes(b"mine")
        path.write_bytes(b"theirs")
    assert path.read_bytes() == b"theirs" and [child.name for child in tmp_path.iterdir()] == ["file"]


def test_an_error_leaves_neither_file_nor_part(tmp_path):
    with pytest.raises(RuntimeError), whole_file(tmp_path / "file") as unfinished:
        unfinished.write_bytes(b"half")
        raise RuntimeError
    assert not list(tmp_path.iterdir())


def test_a_link_in_place_of_the_part_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr("secrets.token_hex", lambda count: "guessed")
    (tmp_path / "diary").write_text("dear")
    (tmp_path / ".file.guessed.part").symlink_to(tmp_path / "diary")
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "file", [b"new"])
    assert (tmp_path / "diary").read_text() == "dear" and not (tmp_path / "file").exists()


def test_writers_in_several_processes_never_fail_and_nobody_reads_half_a_file(tmp_path):
    path = tmp_path / "file"
    script = (
        "import sys; from pathlib import Path; from lodestar.storage.files import write_file\n"
        "for _ in range(200): write_file(Path(sys.argv[1]), [sys.argv[2].encode()] * 5000, durable=False)\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(path), letter]) for letter in "ab"]
    read = 0
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            read += 1
            assert path.read_bytes() in (b"a" * 5000, b"b" * 5000)
    assert [writer.returncode for writer in writers] == [0, 0] and read
    assert [child.name for child in tmp_path.iterdir()] == ["file"]


def test_the_meta_is_read_without_the_arrays(tmp_path):
    path = tmp_path / "file"
    write(path)
    assert meta_of(path) == {"name": "x"}
    os.truncate(path, 40)
    with pytest.raises(ForeignFile):
        meta_of(path)


def test_arrays_of_objects_are_refused_and_the_old_file_stays(tmp_path):
    path = tmp_path / "file"
    write(path)
    with pytest.raises(ValueError, match="type"):
        write(path, arrays={"bad": np.array([object()])})
    assert_equal(read(path).arrays, ARRAYS)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.02, 0.3, 0.99])
def test_a_truncated_file_is_refused(tmp_path, share):
    path = tmp_path / "file"
    size = write(path)
    os.truncate(path, int(share * size))
    with pytest.raises(ForeignFile):
        read(path)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 255))
def test_a_damaged_byte_is_refused_or_was_padding(tmp_path_factory, place, change):
    path = tmp_path_factory.mktemp("damage") / "file"
    size = write(path)
    data = bytearray(path.read_bytes())
    data[place % size] ^= change
    path.write_bytes(bytes(data))
    with contextlib.suppress(ForeignFile, OtherVersion):
        assert_equal(read(path).arrays, ARRAYS)


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n" + bytes(100), b"LODESTAR", b"{}" * 50])
def test_a_foreign_file_is_refused(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ForeignFile):
        read(path)


def test_another_kind_and_another_version_are_told_apart(tmp_path):
    path = tmp_path / "file"
    write(path, kind="voxels")
    with pytest.raises(ForeignFile, match="voxels"):
        read(path)
    write(path, version=2)
    with pytest.raises(OtherVersion, match="2"):
        read(path)


# --- folders -------------------------------------------------------------------------------------------


def save(folder, value):
    part = folder.begin()
    write_archive(part / "data", Archive("test", 1, {}, {"value": np.full(1000, value)}))
    return folder.commit(part, {"value": value})


def load(folder):
    part, meta = folder.open()
    values = read_archive(part / "data", {"test": 1}).arrays["value"]
    assert (values == meta["value"]).all()
    return meta["value"]


def snapshots(folder):
    return sorted(child.name for child in folder.path.iterdir() if child.is_dir())


def test_the_newest_snapshot_counts_and_the_last_five_stay(tmp_path):
    folder = SnapshotFolder(tmp_path / "deep" / "map")
    for value in range(1, 9):
        assert save(folder, value) > 8000
        assert load(folder) == value
    assert snapshots(folder) == [f"snapshot-{number:06d}" for number in (4, 5, 6, 7, 8)]
    assert folder.meta() == {"value": 8}
    for number in (4, 7):
        assert load(SnapshotFolder(folder.path / f"snapshot-{number:06d}")) == number, (
            "one of the older saves"
        )
    with pytest.raises(BadFolder, match="one save"):
        SnapshotFolder(folder.path / "snapshot-000004").begin()


def test_a_snapshot_that_counts_again_is_not_pushed_out(tmp_path):
    folder = SnapshotFolder(tmp_path / "map", keep=2)
    for value in (1, 2):
        save(folder, value)
    (folder.path / "CURRENT").write_text("snapshot-000001\n")  # edited by hand
    part = folder.begin()
    assert load(folder) == 1 and "snapshot-000002" in snapshots(folder)
    folder.discard(part)
    save(folder, 3)
    assert load(folder) == 3 and len(snapshots(folder)) == 2


def test_what_did_not_come_about_changes_nothing(tmp_path):
    folder = SnapshotFolder(tmp_path / "map")
    save(folder, 1)
    part = folder.begin()
    (part / "data").write_bytes(b"half")
    assert load(folder) == 1
    folder.discard(part)
    assert not part.exists()
    folder.begin()
    assert save(folder, 2) and load(folder) == 2


def test_a_folder_or_file_of_someone_else_is_left_alone(tmp_path):
    (tmp_path / "letter").write_text("dear")
    for path in (tmp_path, tmp_path / "letter", " "):
        with pytest.raises(BadFolder):
            SnapshotFolder(path).begin()
    assert (tmp_path / "letter").read_text() == "dear"


def _cut(part):
    os.truncate(part / "data", 100)


def _lose(part):
    (part / "data").unlink()


def _garble(part):
    (part / "manifest.json").write_text("{")


def _foreign(part):
    (part / "manifest.json").write_text(
        json.dumps({"format": "other", "version": 1, "files": {}, "meta": {}})
    )


def _unname(part):
    (part.parent / "CURRENT").write_text("../../etc")


@pytest.mark.parametrize("harm", [_cut, _lose, _garble, _foreign, _unname])
def test_a_damaged_folder_is_refused(tmp_path, harm):
    folder = SnapshotFolder(tmp_path / "map")
    save(folder, 1)
    harm(folder.open()[0])
    with pytest.raises(ForeignFile):
        folder.open()


def test_another_version_and_an_absent_folder_are_told_apart(tmp_path):
    folder = SnapshotFolder(tmp_path / "map")
    with pytest.raises(BadFolder):
        folder.open()
    save(folder, 1)
    manifest = folder.open()[0] / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"version": 1', '"version": 9'))
    with pytest.raises(OtherVersion):
        folder.open()


SAVER = """
    import sys
    import numpy as np
    from lodestar.storage.archive import Archive, write_archive
    from lodestar.storage.snapshot import SnapshotFolder
    folder = SnapshotFolder(sys.argv[1])
    for value in range(2, 10**9):
        part = folder.begin()
        for name in ("data", "more"):
            write_archive(part / name, Archive("test", 1, {}, {"value": np.full(200_000, value)}))
        folder.commit(part, {"value": value})
        print(value, flush=True)
"""


def test_a_kill_at_any_moment_leaves_a_whole_snapshot(tmp_path):
    folder = SnapshotFolder(tmp_path / "map")
    save(folder, 1)
    rng = np.random.default_rng(5)
    for _ in range(6):
        saver = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SAVER), str(folder.path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        last = int(saver.stdout.readline())
        time.sleep(float(rng.uniform(0.0, 0.05)))
        saver.send_signal(signal.SIGKILL)
        printed = saver.communicate()[0].split()
        assert load(folder) >= max(last, *map(int, printed or ["0"]))
    save(folder, 1)
    assert load(folder) == 1 and len(snapshots(folder)) <= KEEP
    assert all((folder.path / name / "manifest.json").exists() for name in snapshots(folder))
