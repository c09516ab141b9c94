"""Tests that every category has valid meshes in all its variants."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar_sim.worlds.catalogue import CATALOGUE, group_of
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.furnish import Furnisher
from lodestar_sim.worlds.mesh import Assembly
from lodestar_sim.worlds.palette import COLORS, rgb
from lodestar_sim.worlds.programs import ANY, PROGRAMS
from lodestar_sim.worlds.references import load_shape

LIMITS = {"chair": 300, "mug": 60, "box": 60, "book": 60, "table": 300, "desk": 300}


def test_there_are_at_least_sixty_categories_and_they_vary():
    assert len(CATALOGUE) >= 60
    several_looks = [c for c in CATALOGUE.values() if len(c.variants) * len(c.colors) > 1]
    assert len(several_looks) >= 60
    assert all(
        any(a < b for a, b in zip(c.size_low, c.size_high)) for c in CATALOGUE.values() if c.name != "door"
    )


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_meshes_fill_their_size_and_face_outwards(name):
    category = CATALOGUE[name]
    rng = np.random.default_rng(7)
    for variant in category.variants:
        for color in variant.colors or category.colors:
            assert color in COLORS
        size = category.sample_size(rng)
        mesh = load_shape(variant.mesh, size, category.colors[0], variant.material).mesh
        low, high = mesh.bounds
        assert np.allclose(high - low, size, atol=1e-4)
        assert np.allclose(low, [-size[0] / 2, -size[1] / 2, 0.0], atol=1e-4)
        assert len(mesh.triangles) <= LIMITS.get(name, 400)
        corners = mesh.vertices[mesh.triangles].astype(np.float64)
        areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        assert (areas > 0.0).mean() > 0.95
        assert len(mesh.colors) == len(mesh.materials) == len(mesh.triangles)


def test_a_humanoid_robot_fills_its_size():
    size = (0.36, 0.56, 1.5)
    mesh = load_shape("param:humanoid", size, "white", "plastic").mesh
    low, high = mesh.bounds
    assert np.allclose(high - low, size, atol=1e-4)
    assert np.allclose(low, [-0.18, -0.28, 0.0], atol=1e-4)
    assert (mesh.colors == np.array(rgb("white"), np.uint8)).all(axis=1).mean() > 0.3


@pytest.mark.parametrize(
    "name", sorted(n for n, c in CATALOGUE.items() if c.name not in ("toilet", "bathtub"))
)
def test_the_named_colour_is_seen(name):
    category = CATALOGUE[name]
    variant = category.variants[0]
    color = (variant.colors or category.colors)[0]
    mesh = load_shape(variant.mesh, category.size_low, color, variant.material).mesh
    assert (mesh.colors == np.array(rgb(color), np.uint8)).all(axis=1).any()


def test_surfaces_lie_on_the_mesh():
    checked = 0
    for category in CATALOGUE.values():
        for variant in category.variants:
            size = category.size_high
            shape = load_shape(variant.mesh, size, category.colors[0], variant.material)
            for surface in shape.surfaces:
                checked += 1
                assert -size[0] / 2 <= surface.x0 < surface.x1 <= size[0] / 2 + 1e-6
                assert -size[1] / 2 <= surface.y0 < surface.y1 <= size[1] / 2 + 1e-6
                heights = shape.mesh.vertices[:, 2]
                assert np.abs(heights - surface.z).min() < 0.02
    assert checked > 40


def test_programs_name_known_categories_and_rooms_of_the_catalogue_have_a_program():
    for label, program in PROGRAMS.items():
        keys = set()
        for put in program:
            assert put.name == ANY or put.name in CATALOGUE, (label, put)
            assert all(key in keys for key in put.of.split("|") if put.of), (label, put)
            keys.add(put.key or put.name)
    for category in CATALOGUE.values():
        assert set(category.rooms) <= set(PROGRAMS), category.name


def test_captions_say_colour_make_and_class():
    thing = Furnisher(np.random.default_rng(0)).design("chair", color="red", word="office")
    assert (thing.caption, thing.category, thing.color) == ("red office chair", "chair", "red")
    assert group_of("armchair") == group_of("chair") != group_of("desk")


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("param:zeppelin", "no shape 'zeppelin'"),
        ("missing.obj", "missing"),
        ("picture.jpg", "use param:"),
        ("param:sofa?seats=many", "whole number"),
    ],
)
def test_bad_references_say_why(reference, says, tmp_path):
    with pytest.raises(WorldError, match=says):
        load_shape(reference, (1.0, 1.0, 1.0), "red", "wood", str(tmp_path))


@pytest.mark.parametrize("size", [(1.0, -1.0, 1.0), (0.0, 1.0, 1.0), (float("nan"), 1.0, 1.0)])
def test_bad_sizes_say_why(size):
    with pytest.raises(WorldError, match="above 0"):
        load_shape("param:box/plain", size, "red", "wood")


def test_primitives_are_closed_and_turned_outwards():
    """The signed volume of a closed mesh is that of the solid when its triangles face outwards."""
    cases = []
    for build, volume in (
        (lambda a: a.box((0, 0, 0), (1, 2, 3)), 6.0),
        (lambda a: a.cylinder(1.0, 0.0, 2.0, segments=64), 2.0 * np.pi),
        (lambda a: a.cylinder(1.0, 0.0, 3.0, top_radius=0.0, segments=64), np.pi),
        (lambda a: a.lathe([(0, 0), (1, 0), (1, 1), (0, 1)], axis="x", segments=64), np.pi),
        (lambda a: a.lathe([(0, 0), (1, 0), (1, 1), (0, 1)], axis="y", segments=64), np.pi),
        (lambda a: a.ellipsoid((0, 0, 0), (1, 1, 1), segments=48, rings=32), 4.0 / 3.0 * np.pi),
        (lambda a: a.bar((0, 0, 0), (1, 1, 1), 0.1), 0.01 * np.sqrt(3.0)),
        (lambda a: a.tilted_box((0, 0, 0), (1, 1, 1), 0.4), 1.0),
    ):
        assembly = Assembly("red", "wood")
        build(assembly)
        mesh = assembly.mesh()
        corners = mesh.vertices[mesh.triangles].astype(np.float64)
        signed = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0
        cases.append((signed, volume))
    for signed, volume in cases:
        assert signed == pytest.approx(volume, rel=0.02)
