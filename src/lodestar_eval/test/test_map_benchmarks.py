"""The benchmarks of the voxel map, on little."""

import json
import mmap
import os
from dataclasses import replace

import cv2
import numpy as np
import pytest

from lodestar.mapping.admission import RejectReason
from lodestar_eval import __main__ as command
from lodestar_eval.mapper_process import MapperProcess
from lodestar_eval.memory import peak_bytes, reset_peak, resident_bytes
from lodestar_eval.sweep import Sweep, SweepConfig
from lodestar_sim.worlds import world_from_spec

pytest.importorskip("open3d")


def report(folder, name):
    return json.loads((folder / f"{name}.json").read_text())


def record(folder, frames=12):
    """A recording of a crate before a wall, seen by a camera that moves sideways, looking along z of its world."""
    (folder / "camera-intrinsics.txt").write_text("150 0 79.5\n0 150 59.5\n0 0 1\n")
    rows, columns = np.mgrid[0:120, 0:160]
    for number in range(frames):
        shift = 0.03 * number
        depth = np.minimum(
            np.full((120, 160), 3.0), 1.2 / np.maximum((rows - 59.5) / 150.0, 1e-6)
        )  # wall, floor
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


def test_a_recording_becomes_a_mesh_instances_and_a_picture(tmp_path, capsys):
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
    )  # tinted; gray
    assert cv2.imread(str(out / "rgbd.png")).shape[1] > 800


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


@pytest.mark.slow
@pytest.mark.alone  # with the allocator of a node, which the part that gives way does not have
def test_growth_tells_memory_and_time_of_the_map_alone(tmp_path):
    arguments = ["growth", "--world", "apartment", "--area", "45"]
    assert command.main([*arguments, "--out", str(tmp_path)]) in (command.EXIT_OK, command.EXIT_BAR_MISSED)
    metrics = report(tmp_path, "growth")["metrics"]
    assert metrics["area_m2"] >= 45.0 and metrics["frames"] >= 3
    assert 1.0 < metrics["building_mib"] < 150.0
    assert 1.0 <= metrics["peak_over_steady"] < 1.5
    assert metrics["surface_voxels"] > 1000 and metrics["ms_p99"] > 0


def test_growth_without_a_building_says_what_to_set(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("LODESTAR_DATA", raising=False)
    assert command.main(["growth", "--out", str(tmp_path)]) == command.EXIT_USAGE
    assert "LODESTAR_DATA" in capsys.readouterr().err


def test_the_kernel_tells_memory_now_and_at_most():
    if not os.access("/proc/self/clear_refs", os.W_OK):
        pytest.skip("this system does not reset the peak of memory")
    reset_peak()
    before = resident_bytes()
    block = mmap.mmap(-1, 64 * 2**20)  # not of the heap, which may keep what is given back to it
    np.frombuffer(block, np.uint8)[:] = 1
    assert resident_bytes() - before > 60 * 2**20
    block.close()
    assert resident_bytes() - before < 16 * 2**20
    assert peak_bytes() - before > 60 * 2**20
    reset_peak()
    assert peak_bytes() - before < 16 * 2**20


def test_frames_that_the_map_refuses_are_counted_and_not_timed():
    world = world_from_spec("apartment", 1)
    frames = [pair for _, pair in zip(range(3), Sweep(world, 1, SweepConfig(width=160, height=120)).frames())]
    mapper = MapperProcess(frames[:1])
    lost = replace(frames[1][0], odom_from_camera=np.full((4, 4), np.nan)), frames[1][1]
    costs = [mapper.take(*pair) for pair in (frames[0], lost, frames[2])]
    assert [cost is None for cost in costs] == [False, True, False]
    assert mapper.close().rejected == {RejectReason.POSE.value: 1}
