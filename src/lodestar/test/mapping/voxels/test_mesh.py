"""Tests of meshes of box worlds."""

import numpy as np
import pytest

from lodestar.mapping.voxels.mesh import extract_mesh, write_ply
from lodestar.mapping.voxels.tsdf import TsdfVolume


@pytest.fixture
def volume(box_world, box, orbit):
    """Return the volume of a crate across borders of blocks and tiles, seen from all sides."""
    volume = TsdfVolume()
    world = box_world([box("crate", (-0.4, -0.4, 0.2), (0.4, 0.4, 0.8))])
    blue = np.full((world.camera.height, world.camera.width, 3), (10, 20, 200), np.uint8)
    for pose in orbit((0, 0), 2.0, 0, 360, 24):
        frame, _ = world.frame(1.0, *pose)
        volume.integrate(frame.depth, frame.camera, frame.map_from_camera, blue)
    return volume


def test_the_mesh_lies_on_the_surfaces_and_faces_outwards(volume):
    mesh = extract_mesh(volume)
    side = (
        (np.abs(mesh.vertices[:, :2]).max(1) < 0.55)
        & (mesh.vertices[:, 2] > 0.28)
        & (mesh.vertices[:, 2] < 0.72)
    )
    assert side.sum() > 500
    np.testing.assert_allclose(np.abs(mesh.vertices[side][:, :2]).max(1), 0.4, atol=0.04)
    corners = mesh.vertices[mesh.faces[side[mesh.faces].all(1)]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    outwards = (normals[:, :2] * corners.mean(1)[:, :2]).sum(1)
    assert (outwards > 0).mean() > 0.99
    assert (mesh.colors[side] == (10, 20, 200)).all()


def test_tiles_join_without_cracks_or_doubled_vertices(volume):
    mesh = extract_mesh(volume)
    assert len(np.unique(np.rint(mesh.vertices / 1e-4), axis=0)) == len(mesh.vertices)
    edges = np.sort(mesh.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    middle = mesh.vertices[edges].mean(1)
    belt = (np.abs(middle[:, :2]).max(1) < 0.5) & (middle[:, 2] > 0.3) & (middle[:, 2] < 0.7)
    _, uses = np.unique(edges[belt], axis=0, return_counts=True)
    assert (uses == 2).mean() > 0.99


def test_nothing_seen_is_an_empty_mesh():
    mesh = extract_mesh(TsdfVolume())
    assert mesh.vertices.shape == (0, 3) and mesh.faces.shape == (0, 3)


def test_a_ply_file_reads_back(volume, tmp_path):
    o3d = pytest.importorskip("open3d")
    mesh = extract_mesh(volume)
    write_ply(tmp_path / "mesh.ply", mesh.vertices, mesh.colors, mesh.faces)
    read = o3d.io.read_triangle_mesh(str(tmp_path / "mesh.ply"))
    np.testing.assert_allclose(np.asarray(read.vertices), mesh.vertices, atol=1e-6)
    np.testing.assert_array_equal(np.asarray(read.triangles), mesh.faces)
    np.testing.assert_allclose(np.asarray(read.vertex_colors) * 255, mesh.colors, atol=0.6)
    write_ply(tmp_path / "points.ply", mesh.vertices, mesh.colors)
    assert len(o3d.io.read_point_cloud(str(tmp_path / "points.ply")).points) == len(mesh.vertices)
