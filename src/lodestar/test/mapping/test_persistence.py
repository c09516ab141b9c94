"""Tests of voxel map files: a loaded map continues, invalid files are refused, and exports can be opened."""

from __future__ import annotations

import json
import struct
from dataclasses import replace

import numpy as np
import pytest

from lodestar.mapping.export import glb_bytes, write_glb, write_instance_ply
from lodestar.mapping.persistence import BadVoxels, map_from_arrays, map_to_arrays
from lodestar.mapping.semantic_voxels import SemanticVoxelMap, VoxelConfig
from lodestar.mapping.voxels.mesh import Mesh

CONFIG = VoxelConfig(capacity=200_000)


def look(world, poses, voxels, start=0.0):
    """Insert geometry and semantics of one frame per pose; return the deltas."""
    deltas = []
    for i, pose in enumerate(poses):
        frame, segmented = world.frame(start + 0.25 * (i + 1), *pose)
        deltas.append(voxels.fuse(frame, segmented))
        voxels.integrate_depth(frame)
    return deltas


@pytest.fixture
def world(box_world, box):
    chair = box("chair", (-0.25, -0.25, 0.0), (0.25, 0.25, 0.9), "a red chair")
    return box_world([chair, box("box", (0.6, 0.6, 0), (0.9, 0.9, 0.4))])


@pytest.fixture
def mapped(world, orbit):
    voxels = SemanticVoxelMap(CONFIG, 3, "abc")
    look(world, orbit((0, 0), 2.0, 0, 200, 12), voxels)
    return voxels


def again(voxels, now=1e9, session="abc+1"):
    return map_from_arrays(*map_to_arrays(voxels), CONFIG, session, now)


def test_a_map_that_resumes_follows_a_jump_that_came_meanwhile_and_uses_no_id_again(mapped, world, orbit):
    """The process died while odometry went on, unlike a load, which begins a new odometry."""
    meta, arrays = map_to_arrays(mapped)
    centre = {i: one.centroid for i, one in mapped.instances().items()}
    for resumes, shift in ((True, [1.0, 0.0, 0.0]), (False, [0.0, 0.0, 0.0])):
        other = map_from_arrays(meta, arrays, CONFIG, "abc+1", np.inf, resumes=resumes)
        other.reserve_ids(mapped.next_id + 5)
        assert other.next_id == mapped.next_id + 5
        other.reserve_ids(2)
        assert other.next_id == mapped.next_id + 5, "ids never go back"
        frame, _ = world.frame(100.0, *orbit((0, 0), 2.0, 0, 200, 12)[0])
        moved = np.eye(4)
        moved[0, 3] = 1.0
        other.integrate_depth(replace(frame, map_from_odom=moved @ frame.map_from_odom))
        for identity, place in centre.items():
            assert other.instances()[identity].centroid - place == pytest.approx(shift, abs=0.05)


def test_everything_is_there_again(mapped):
    other = again(mapped)
    assert (other.map_id, other.session_id, other.voxel_count) == (3, "abc+1", mapped.voxel_count)
    assert other.revision > mapped.revision
    for a, b in zip(sorted_cloud(mapped), sorted_cloud(other)):
        assert np.array_equal(a, b)
    first, later = mapped.instances(), other.instances()
    assert first.keys() == later.keys()
    for identity, instance in first.items():
        assert later[identity].votes == instance.votes
        assert later[identity].observation_count == instance.observation_count
        np.testing.assert_allclose(later[identity].box_min, instance.box_min, atol=1e-4)
        np.testing.assert_allclose(later[identity].centroid, instance.centroid, atol=1e-4)
    assert np.array_equal(mapped.mesh().faces, other.mesh().faces)


def sorted_cloud(voxels):
    points, ids = voxels.cloud()
    order = np.lexsort(points.T)
    return points[order], ids[order]


def test_it_goes_on_with_the_same_ids(mapped, world, orbit):
    other = again(mapped)
    deltas = look(world, orbit((0, 0), 2.0, 200, 340, 8), other, start=0.0)  # the clock restarted
    assert {i.id for d in deltas for i in d.updated} <= set(mapped.instances())
    chair = max(other.instances().values(), key=lambda i: i.voxel_count)
    assert chair.observation_count > mapped.instances()[chair.id].observation_count
    assert deltas[0].previous_revision == other.revision - len(deltas)


def test_followers_page_everything_from_the_start(mapped):
    other = again(mapped)
    delta, until = other.delta_since(0)
    assert until.is_whole and {i.id for i in delta.updated} == set(mapped.instances())


def test_merged_ids_forward_for_ever(mapped):
    registry = mapped._registry
    loser, winner = sorted(registry.tracks)[:2]
    mapped._store.rename(loser, winner)
    registry.merge(loser, winner, mapped.revision, 16)
    other = again(mapped)
    assert other.resolve(loser) == winner
    assert other.delta_since(0)[0].merges[0].winner == winner


def test_a_new_thing_gets_a_new_id(mapped, box_world, box, orbit):
    other = again(mapped)
    added = box_world([box("sofa", (-0.4, -2.4, 0.0), (0.4, -1.8, 0.8), "a sofa")])
    look(added, orbit((0, -2.1), 1.8, 250, 290, 4), other)
    fresh = {i.id for i in other.instances().values() if i.votes[0].label == "sofa"}
    assert fresh and min(fresh) > max(mapped.instances())


def test_stamps_are_not_in_the_future(mapped):
    other = again(mapped, now=0.5)
    assert max(i.last_seen for i in other.instances().values()) <= 0.5


@pytest.mark.parametrize(
    "harm",
    [
        lambda meta, arrays: arrays.pop("voxel_coords"),
        lambda meta, arrays: arrays.pop("surface_weight"),
        lambda meta, arrays: arrays.update(voxel_coords=arrays["voxel_coords"][:-1]),
        lambda meta, arrays: arrays.update(voxel_size=np.array(0.04)),
        lambda meta, arrays: arrays.update(point_mass=arrays["point_mass"][:-1]),
        lambda meta, arrays: arrays.update(track_records=arrays["track_records"][:20]),
        lambda meta, arrays: arrays.update(forward=np.array([[1, 2], [2, 1]])),
        lambda meta, arrays: arrays.update(map_from_voxels=np.full((4, 4), np.nan)),
        lambda meta, arrays: meta.update(next_id=1),
        lambda meta, arrays: meta.pop("revision"),
    ],
)
def test_what_is_no_map_is_refused(mapped, harm):
    meta, arrays = map_to_arrays(mapped)
    harm(meta, arrays)
    with pytest.raises(BadVoxels):
        map_from_arrays(meta, arrays, CONFIG, "abc+1", 1e9)


def test_more_voxels_than_there_is_room_for_are_refused(mapped):
    with pytest.raises(BadVoxels, match="room"):
        map_from_arrays(*map_to_arrays(mapped), VoxelConfig(capacity=100), "abc+1", 1e9)


def test_an_empty_map_there_and_back():
    assert again(SemanticVoxelMap(CONFIG)).instances() == {}


# --- exports -------------------------------------------------------------------------------------------


def test_ply_has_a_point_per_voxel_coloured_by_instance(mapped, tmp_path):
    file = tmp_path / "map.ply"
    assert write_instance_ply(mapped, file) == file.stat().st_size
    header, body = file.read_bytes().split(b"end_header\n", 1)
    points, ids = mapped.cloud()
    assert f"element vertex {len(points)}".encode() in header
    vertices = np.frombuffer(body, [("xyz", "<f4", 3), ("rgb", "u1", 3)], len(points))
    np.testing.assert_allclose(vertices["xyz"], points)
    assert len(np.unique(vertices["rgb"], axis=0)) == len(np.unique(ids))
    assert [child.name for child in tmp_path.iterdir()] == ["map.ply"]


def parts_of(data: bytes):
    """Return JSON and binary chunk of a GLB file."""
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON" and size % 4 == 0
    content, rest = json.loads(data[20 : 20 + size]), data[20 + size :]
    if not rest:
        return content, b""
    size, kind = struct.unpack_from("<I4s", rest)
    assert kind == b"BIN\0" and size == len(rest) - 8
    return content, rest[8:]


def test_glb_holds_the_mesh_coloured_by_instance(mapped, tmp_path):
    file = tmp_path / "map.glb"
    assert write_glb(mapped, file) == file.stat().st_size
    content, body = parts_of(file.read_bytes())
    position, color, index = content["accessors"]
    views = content["bufferViews"]
    mesh = mapped.mesh()
    assert (position["count"], index["count"]) == (len(mesh.vertices), mesh.faces.size)
    vertices = np.frombuffer(body, "<f4", 3 * position["count"]).reshape(-1, 3)
    np.testing.assert_allclose(vertices[:, 1], mesh.vertices[:, 2], atol=1e-6)
    np.testing.assert_allclose(vertices[:, 2], -mesh.vertices[:, 1], atol=1e-6)
    np.testing.assert_allclose(vertices.min(axis=0), position["min"])
    faces = np.frombuffer(body, "<u4", index["count"], views[2]["byteOffset"])
    assert faces.max() < len(vertices)
    colors = np.frombuffer(body, np.uint8, 4 * color["count"], views[1]["byteOffset"]).reshape(-1, 4)
    assert (colors[:, 3] == 255).all() and len(np.unique(colors, axis=0)) > 1
    assert content["buffers"][0]["byteLength"] == len(body)


def test_glb_opens_in_another_program(mapped, tmp_path):
    open3d = pytest.importorskip("open3d")
    write_glb(mapped, tmp_path / "map.glb")
    read = open3d.io.read_triangle_mesh(str(tmp_path / "map.glb"))
    assert len(read.triangles) == len(mapped.mesh().faces)


def test_an_empty_mesh_is_a_scene_without_nodes():
    empty = Mesh(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32), np.zeros((0, 3), np.uint8))
    content, body = parts_of(glb_bytes(empty))
    assert content["scenes"] == [{"nodes": []}] and body == b""
