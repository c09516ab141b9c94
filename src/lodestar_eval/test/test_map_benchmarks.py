"""Tests of the voxel map's benchmarks on small inputs."""

import json
import mmap
import os

import cv2
import numpy as np
import pytest

from lodestar_eval import __main__ as command
from lodestar_eval.memory import peak_bytes, reset_peak, resident_bytes

pytest.importorskip("open3d")


def report(folder, name):
    return json.loads((folder / f"{name}.json").read_text())


def record(folder, frames=12):
    """Write a recording of a crate before a wall, by a camera that moves sideways and looks along z of its world."""
    (folder / "camera-intrinsics.txt").write_text("150 0 79.5\n0 150 59.5\n0 0 1\n")
    rows, columns = np.mgrid[0:120, 0:160]
    for number in range(frames):
        shift = 0.03 * number
        depth = np.minimum(
            np.full((120, 160), 3.0), 1.2 / np.maximum((rows - 59.5) / 150.0, 1e-6)
        )  # depths of wall and floor
        x, y = (columns - 79.5) / 150.0 * 1.8 + shift, (rows - 59.5) / 150.0 * 1.8
        depth[(np.abs(x) < 0.35) & (y > -0.2) & (y < 0.45)] = 1.8
        pose = np.eye(4)
        pose[0, 3] = shift
        stem = f"{folder}/frame-{number:06d}"
        cv2.imwrite(f"{stem}.depth.png", np.round(depth * 1000).astype(np.uint16))
        cv2.imwrite(
            f"{stem}.color.png", np.where(depth == 1.8, 40, 200)[..., None].repeat(3, 2).astype(np.uint8)
        )
        np.savetxt(f"{stem}.pose.txt", pose)
    return folder


def test_a_recording_becomes_a_mesh_and_instances(tmp_path, capsys):
    import open3d as o3d

    folder = record(tmp_path)
    out = tmp_path / "out"
    assert command.main(["rgbd", str(folder), "--out", str(out)]) in (
        command.EXIT_OK,
        command.EXIT_BAR_MISSED,
    )
    found = report(out, "rgbd")
    assert found["metrics"]["frames"] == 12 and found["metrics"]["frames_skipped"] == 0
    assert found["metrics"]["instances"] == 1
    assert f"python -m lodestar_eval rgbd {folder}" in (out / "rgbd.md").read_text()
    mesh = o3d.io.read_triangle_mesh(str(out / "instances.ply"))
    vertices, colors = np.asarray(mesh.vertices), np.asarray(mesh.vertex_colors)
    x, y, z = vertices.T
    crate = (np.abs(x - 1.8) < 0.04) & (np.abs(y) < 0.25) & (np.abs(z + 0.1) < 0.2)
    wall = np.abs(x - 3.0) < 0.04
    assert crate.sum() > 20 and wall.sum() > 200
    assert (
        np.ptp(colors[crate], axis=1).min() > 0.1 and np.ptp(colors[wall], axis=1).max() < 0.05
    )  # the colours: tinted, gray


@pytest.mark.parametrize("what", ["missing", "empty"])
def test_what_is_no_recording_is_bad_usage(what, tmp_path, capsys):
    path = tmp_path if what == "empty" else tmp_path / "missing"
    assert command.main(["rgbd", str(path), "--out", str(tmp_path / "out")]) == command.EXIT_USAGE
    assert str(path) in capsys.readouterr().err


def test_frames_that_are_all_torn_are_bad_usage(tmp_path, capsys):
    record(tmp_path, 2)
    for file in tmp_path.glob("*.pose.txt"):
        file.write_text("")
    assert command.main(["rgbd", str(tmp_path), "--out", str(tmp_path / "out")]) == command.EXIT_USAGE
    assert "'pose': 2" in capsys.readouterr().err


@pytest.mark.slow
def test_integrate_compares_with_open3d_on_the_same_frames(tmp_path, monkeypatch):
    monkeypatch.delenv("LODESTAR_DATA", raising=False)
    arguments = ["integrate", "--frames", "14", "--rounds", "1", "--data", str(record(tmp_path))]
    assert command.main([*arguments, "--out", str(tmp_path)]) in (command.EXIT_OK, command.EXIT_BAR_MISSED)
    metrics = report(tmp_path, "integrate")["metrics"]
    for source in ("simulator", "7scenes"):
        assert metrics[f"{source}.ratio"] > 0 and metrics[f"{source}.ratio_of_processor_time"] > 0
        assert metrics[f"{source}.surface_gap_mm"] < 15.0  # both mapped the same surfaces
    assert len(report(tmp_path, "integrate")["bars"]) == 2


def test_the_kernel_tells_memory_now_and_at_most():
    if not os.access("/proc/self/clear_refs", os.W_OK):
        pytest.skip("this system does not reset the peak of memory")
    reset_peak()
    before = resident_bytes()
    block = mmap.mmap(
        -1, 64 * 2**20
    )  # mapped memory outside the heap, because the heap may keep freed memory
    np.frombuffer(block, np.uint8)[:] = 1
    assert resident_bytes() - before > 60 * 2**20
    block.close()
    assert resident_bytes() - before < 16 * 2**20
    assert peak_bytes() - before > 60 * 2**20
    reset_peak()
    assert peak_bytes() - before < 16 * 2**20
