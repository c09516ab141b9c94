"""Tests of mesh files in every supported format, with their colours, and of broken or malicious files."""

from __future__ import annotations

import json

import numpy as np
import pytest
import trimesh
from PIL import Image
from trimesh.visual import TextureVisuals
from trimesh.visual.material import PBRMaterial, SimpleMaterial

from lodestar_sim.worlds import WorldError, mesh_files, world_from_spec
from lodestar_sim.worlds.mesh_files import read_mesh
from lodestar_sim.worlds.references import color_of_file, load_shape

SIZE = (0.4, 0.6, 1.0)


@pytest.fixture(autouse=True)
def fresh():
    read_mesh.cache_clear()
    load_shape.cache_clear()


def textured(color: tuple[int, int, int], pbr: bool = False) -> trimesh.Trimesh:
    """Return a box of SIZE whose texture is noise around a colour."""
    noise = np.random.default_rng(0).integers(-30, 31, (128, 128, 1))
    image = Image.fromarray(np.clip(np.array(color) + noise, 0, 255).astype(np.uint8))
    box = trimesh.creation.box(SIZE)
    uv = np.random.default_rng(1).uniform(0.0, 3.0, (len(box.vertices), 2))  # beyond 1: the texture repeats
    material = PBRMaterial(baseColorTexture=image) if pbr else SimpleMaterial(image=image)
    box.visual = TextureVisuals(uv=uv, material=material)
    return box


@pytest.mark.parametrize("suffix", ["obj", "glb", "gltf"])
def test_textures_paint_their_mean_colour(suffix, tmp_path):
    scene = trimesh.Scene(textured((40, 90, 190), pbr=suffix in ("glb", "gltf")))
    if suffix == "obj":
        scene.geometry["geometry_0"].export(tmp_path / "thing.obj")
    elif suffix == "gltf":
        for name, data in scene.export(file_type="gltf").items():
            (tmp_path / ("thing.gltf" if name.endswith(".gltf") else name)).write_bytes(data)
    else:
        (tmp_path / "thing.glb").write_bytes(scene.export(file_type="glb"))
    loaded = read_mesh(f"thing.{suffix}", str(tmp_path))
    assert np.abs(loaded.colors.astype(int) - (40, 90, 190)).max() < 12
    assert color_of_file(f"thing.{suffix}", str(tmp_path)) == "blue"


COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
 <asset><unit name="centimeter" meter="0.01"/><up_axis>{up}_UP</up_axis></asset>
 <library_images><image id="img"><init_from>{texture}</init_from></image></library_images>
 <library_effects><effect id="fx"><profile_COMMON>
  <newparam sid="s"><surface type="2D"><init_from>img</init_from></surface></newparam>
  <newparam sid="t"><sampler2D><source>s</source></sampler2D></newparam>
  <technique sid="common"><lambert><diffuse>{diffuse}</diffuse></lambert></technique>
 </profile_COMMON></effect></library_effects>
 <library_materials><material id="m"><instance_effect url="#fx"/></material></library_materials>
 <library_geometries><geometry id="g"><mesh>
  <source id="p"><float_array id="pa" count="12">0 0 0 40 0 0 0 60 0 0 0 100</float_array>
   <technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>
   <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
  <source id="u"><float_array id="ua" count="8">0 0 1 0 0 1 1 1</float_array>
   <technique_common><accessor source="#ua" count="4" stride="2"><param name="S" type="float"/>
   <param name="T" type="float"/></accessor></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  <triangles count="4" material="sym"><input semantic="VERTEX" source="#v" offset="0"/>
   <input semantic="TEXCOORD" source="#u" offset="1" set="0"/>
   <p>0 0 2 2 1 1 0 0 1 1 3 3 1 1 2 2 3 3 0 0 3 3 2 2</p></triangles>
 </mesh></geometry></library_geometries>
 <library_visual_scenes><visual_scene id="sc"><node><instance_geometry url="#g"><bind_material><technique_common>
  <instance_material symbol="sym" target="#m"><bind_vertex_input semantic="UVSET" input_semantic="TEXCOORD"
  input_set="0"/></instance_material></technique_common></bind_material></instance_geometry></node></visual_scene>
 </library_visual_scenes><scene><instance_visual_scene url="#sc"/></scene>
</COLLADA>"""
_TEXTURED = '<texture texture="t" texcoord="UVSET"/>'


@pytest.mark.parametrize(
    ("up", "size"), [("Z", (0.4, 0.6, 1.0)), ("Y", (0.4, 1.0, 0.6)), ("X", (0.6, 1.0, 0.4))]
)
def test_collada_is_read_with_unit_axis_and_texture(up, size, tmp_path):
    Image.new("RGB", (16, 16), (30, 140, 60)).save(tmp_path / "skin.png")
    (tmp_path / "thing.dae").write_text(COLLADA.format(up=up, texture="skin.png", diffuse=_TEXTURED))
    loaded = read_mesh("thing.dae", str(tmp_path))
    assert loaded.size == pytest.approx(size, abs=1e-6)
    assert np.abs(loaded.colors.astype(int) - (30, 140, 60)).max() <= 2
    corners = loaded.vertices[loaded.triangles]  # still facing outwards: axes were not mirrored
    assert np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6 > 0.0


def test_collada_without_a_texture_has_its_plain_colour(tmp_path):
    plain = "<color>0.9 0.1 0.1 1</color>"
    (tmp_path / "thing.dae").write_text(COLLADA.format(up="Z", texture="none.png", diffuse=plain))
    assert color_of_file("thing.dae", str(tmp_path)) == "red"


def test_gltf_has_y_up_and_its_own_size(tmp_path):
    (tmp_path / "thing.glb").write_bytes(trimesh.Scene(trimesh.creation.box(SIZE)).export(file_type="glb"))
    assert read_mesh("thing.glb", str(tmp_path)).size == pytest.approx((0.4, 1.0, 0.6), abs=1e-5)


def test_a_world_takes_size_and_colour_of_a_file(tmp_path):
    (tmp_path / "sofa.glb").write_bytes(
        trimesh.Scene(textured((200, 30, 32), pbr=True)).export(file_type="glb")
    )
    sofa = {"id": 1, "category": "sofa", "mesh": "sofa.glb", "pose": [2, 0, 0, 0]}
    data = {"bounds": [-3, -3, 3, 3], "start": [0, 0, 0], "objects": [sofa]}
    (tmp_path / "home.json").write_text(json.dumps(data))
    world = world_from_spec(str(tmp_path / "home.json"))
    thing = world.object(1)
    assert thing.caption == "red sofa" and thing.size == pytest.approx((0.4, 1.0, 0.6), abs=1e-5)
    assert np.abs(world.placed_mesh(thing).colors.mean(axis=0) - (200, 30, 32)).max() < 12
    world.save(tmp_path / "again.json")
    assert world_from_spec(str(tmp_path / "again.json")).object(1) == thing


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("../secret.obj", "outside the world's folder"),
        ("/etc/passwd.obj", "outside the world's folder"),
        ("link.obj", "outside the world's folder"),
        ("torn.glb", "torn.glb.* is broken"),
        ("torn.dae", "torn.dae.* is broken"),
        ("empty.obj", "holds no triangles|is broken"),
        ("nan.ply", "not finite"),
    ],
)
def test_files_that_are_foreign_or_broken_are_named(reference, says, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    trimesh.creation.box(SIZE).export(tmp_path / "secret.obj")
    (home / "link.obj").symlink_to(tmp_path / "secret.obj")
    whole = trimesh.Scene(trimesh.creation.box(SIZE)).export(file_type="glb")
    (home / "torn.glb").write_bytes(whole[: len(whole) // 2])
    (home / "torn.dae").write_text(COLLADA[:700])
    (home / "empty.obj").write_text("")
    (home / "nan.ply").write_text(
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n"
    )
    with pytest.raises(WorldError, match=says):
        read_mesh(reference, str(home))


def test_a_texture_outside_the_folder_is_refused(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    Image.new("RGB", (4, 4), (255, 0, 0)).save(tmp_path / "secret.png")
    (home / "thing.dae").write_text(COLLADA.format(up="Z", texture="../secret.png", diffuse=_TEXTURED))
    with pytest.raises(WorldError, match=r"names '../secret.png', which lies outside"):
        read_mesh("thing.dae", str(home))


def test_too_much_is_refused(tmp_path, monkeypatch):
    trimesh.creation.icosphere(3).export(tmp_path / "ball.stl")
    monkeypatch.setattr(mesh_files, "MAX_TRIANGLES", 1000)
    with pytest.raises(WorldError, match="1280 triangles are more than 1000; simplify"):
        read_mesh("ball.stl", str(tmp_path))
    monkeypatch.setattr(mesh_files, "MAX_BYTES", 1000)
    with pytest.raises(WorldError, match=r"cannot be read .*MiB"):
        read_mesh("ball.stl", str(tmp_path))
