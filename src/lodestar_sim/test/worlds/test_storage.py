"""Tests of world files: saving and loading, and error messages for invalid files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lodestar_sim.worlds import World, WorldError, storage, world_from_spec
from lodestar_sim.worlds.__main__ import main
from lodestar_sim.worlds.checks import check_world

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def small_world() -> dict:
    """Return a world as a user would write it: one room, a box and a custom mesh."""
    walls = [(-3, -3, 3, -2.9), (-3, 2.9, 3, 3), (-3, -2.9, -2.9, 2.9), (2.9, -2.9, 3, 2.9)]
    return {
        "bounds": [-3, -3, 3, 3],
        "start": [0, 0, 0],
        "walls": [{"x0": a, "y0": b, "x1": c, "y1": d, "z0": 0, "z1": 2.5} for a, b, c, d in walls],
        "objects": [
            {"id": 1, "category": "chair", "size": [0.5, 0.5, 0.9], "mesh": "param:chair/wooden",
             "color": "red", "material": "wood", "pose": [2, 0, 0, 3.1]},
            {"id": 2, "category": "sculpture", "size": [0.6, 0.6, 1.0], "mesh": "art/thing.obj",
             "caption": "gray stone sculpture", "pose": [-2, 1, 0, 0]},
        ],
    }  # fmt: skip


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a world (dict or text) beside its mesh and returns the path."""
    (tmp_path / "art").mkdir()
    (tmp_path / "art" / "thing.obj").write_text(TRIANGLE)

    def write_file(data) -> str:
        path = tmp_path / "world.json"
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        return str(path)

    return write_file


@pytest.mark.parametrize("spec", ["apartment", "warehouse", "apartment?events=1"])
def test_there_and_back(spec, make_world, tmp_path):
    world = make_world(spec, 2)
    world.save(tmp_path / "w.json")
    again = World.load(tmp_path / "w.json")
    assert again == world
    for name in ("vertices", "triangles", "object_of_triangle", "color_of_triangle", "material_of_triangle"):
        assert np.array_equal(getattr(again.geometry(3.0), name), getattr(world.geometry(3.0), name))


def test_a_world_of_ones_own_with_a_mesh_file_and_a_new_category(write):
    world = world_from_spec(write(small_world()))
    low, high = world.box(world.object(2))
    assert np.allclose(high - low, [0.6, 0.6, 1.0], atol=1e-4)
    assert np.allclose(low, [-2.3, 0.7, 0.0], atol=1e-4)
    assert world.labels()[2] == {"class": "sculpture", "caption": "gray stone sculpture"}
    assert world.labels()[1] == {"class": "chair", "caption": "red chair"}
    assert len(world.slabs) == 1


@pytest.mark.parametrize(("mesh", "stands"), [("param:table/square", True), ("param:sofa?seats=1", False)])
def test_a_box_fits_under_a_table_and_not_in_a_sofa(mesh, stands, write):
    data = small_world()
    data["objects"] = [
        {"id": 1, "category": "furniture", "size": [0.9, 0.9, 0.75], "mesh": mesh, "pose": [2, 0, 0, 0]},
        {"id": 2, "category": "box", "size": [0.3, 0.3, 0.2], "mesh": "param:box", "pose": [2, 0, 0.12, 0]},
    ]
    if stands:
        assert len(world_from_spec(write(data)).objects) == 2
    else:
        with pytest.raises(WorldError, match="overlap"):
            world_from_spec(write(data))


def test_the_packaged_world_is_sound_and_the_same_for_every_seed():
    world = world_from_spec("laboratory", 1)
    check_world(world)
    assert world == world_from_spec("laboratory", 2)
    with pytest.raises(WorldError, match="locked"):
        world_from_spec("laboratory?locked=1")


def change(path: list, value):
    """Return a small world with the value at a path replaced."""
    data = small_world()
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("{not json", "not JSON"),
        ("[1, 2]", "one JSON object"),
        (json.dumps(small_world()).replace('"start": [0, 0, 0]', '"start": [0, NaN, 0]'), "finite"),
        (change(["objects", 0, "pose"], [2, 0, 0]), r"objects\[0\] \(id 1, chair\).pose must hold 4 values"),
        (change(["objects", 0, "pose"], ["a", 0, 0, 0]), "must be a number"),
        (change(["objects", 0, "size"], [0.5, 0, 0.9]), "above 0"),
        (change(["objects", 0, "color"], "crimsonish"), "unknown colour 'crimsonish'"),
        (change(["objects", 0, "material"], "cheese"), "unknown material"),
        (
            change(["objects", 1, "mesh"], "art/gone.ply"),
            r"object 2 \(sculpture\): mesh 'art/gone.ply' is missing",
        ),
        (change(["objects", 1, "mesh"], "param:nothing"), "no shape 'nothing'"),
        (change(["objects", 1, "id"], 1), "id 1 stands twice"),
        (change(["objects", 1, "id"], 70000), r"must lie in 1\.\.65535"),
        (change(["objects", 1, "pose"], [2.1, 0.1, 0, 0]), "overlap"),
        (change(["objects", 1, "pose"], [-2.8, 1, 0, 0]), "overlap"),
        (change(["objects", 1, "pose"], [-2, 1, -0.5, 0]), "below the floor"),
        (change(["objects", 0, "supported_by"], 9), "does not exist"),
        (change(["objects", 0, "colour"], "red"), "unknown field 'colour'"),
        (change(["objects", 0], {"id": 1}), "category is missing|mesh is missing|size is missing"),
        (change(["start"], [2.0, 0, 0]), "does not fit"),
        (change(["start"], [9, 0, 0]), "outside the bounds"),
        (change(["bounds"], [3, -3, -3, 3]), "bounds"),
        (change(["format"], "other 7"), "format"),
        (change(["events"], [{"time": 1, "kind": "explode"}]), "kind must be one of"),
        (change(["events"], [{"time": 1, "kind": "remove", "object_id": 8}]), "there is no object 8"),
        (change(["events"], [{"time": 1, "kind": "walk", "object_id": 1, "path": [[0, 0]]}]), "two points"),
        (change(["charging_station"], 44), "charging_station"),
    ],
)
def test_bad_files_say_what_is_wrong(data, says, write):
    with pytest.raises(WorldError, match=says):
        world_from_spec(write(data))


def test_all_problems_are_named_at_once(write):
    """Format errors are reported together; without any, geometric errors are reported together."""
    data = small_world()
    data["objects"][0] |= {"material": "cheese", "pose": [1, 2], "colour": "red"}
    del data["objects"][1]["mesh"]
    data["walls"][2]["x0"] = "left"
    data["bounds"] = [-3, -3, 3]
    with pytest.raises(WorldError) as caught:
        world_from_spec(write(data))
    says = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 6
    for part in (
        "bounds must hold 4 values, not 3", "walls[2].x0 must be a number, not 'left'", "unknown material 'cheese'",
        "objects[0] (id 1, chair).pose must hold 4 values, not 2", "unknown field 'colour'",
        "objects[1] (id 2, sculpture): mesh is missing",
    ):  # fmt: skip
        assert part in says, says
    assert str(caught.value).count("\n  - ") == 6

    data = small_world()
    box = {"category": "box", "size": [0.4, 0.4, 0.4], "mesh": "param:box"}
    data["objects"][1]["mesh"] = "art/gone.dae"
    data["objects"] += [{**box, "id": 10 + i, "pose": [-1.0 + 0.2 * i, 2, 0, 0]} for i in range(4)]
    data["objects"].append({**box, "id": 20, "pose": [0, -2.9, 0, 0], "supported_by": 99})
    data["start"] = [9, 0, 0]
    with pytest.raises(WorldError) as caught:
        world_from_spec(write(data))
    says = "\n".join(caught.value.problems)
    assert says.count("overlap; move") == 3 + 1, says  # three pairs of neighbours, and one in a wall
    for part in ("'art/gone.dae' is missing", "stands on or in 99", "outside the bounds"):
        assert part in says, says
    assert len(caught.value.problems) == 7


@pytest.mark.parametrize(
    ("category", "pose", "stands"),
    [
        ("window", [-2.95, 1, 0.9, 0], True),  # centred in the wall
        ("sliding door", [-2.95, 1, 0, 0], True),
        ("stove", [-2.62, 1, 0, 0], True),  # 2 cm inside the wall: accuracy of measured homes
        ("stove", [-2.45, 1, 0, 0], True),
        ("stove", [-2.75, 1, 0, 0], False),
        ("doormat", [-2.95, 1, 0, 0], False),
    ],
)
def test_windows_doors_and_stoves_touch_walls(category, pose, stands, write):
    data = small_world()
    size = [0.6, 0.6, 0.9] if category == "stove" else [0.06, 1.0, 1.2]
    data["objects"] = [{"id": 1, "category": category, "size": size, "mesh": "param:box", "pose": pose}]
    if stands:
        assert len(world_from_spec(write(data)).objects) == 1
    else:
        with pytest.raises(WorldError, match="a wall overlap"):
            world_from_spec(write(data))


def test_a_file_that_is_huge_or_deep_or_full_of_infinities_is_refused(write, monkeypatch):
    with pytest.raises(WorldError, match="not JSON"):
        world_from_spec(write('{"walls": ' + "[" * 100_000))
    with pytest.raises(WorldError, match=r"start\[1\] must be finite"):
        world_from_spec(
            write(json.dumps(small_world()).replace('"start": [0, 0, 0]', '"start": [0, 1e999, 0]'))
        )
    monkeypatch.setattr(storage, "MAX_BYTES", 100)
    with pytest.raises(WorldError, match="no world file"):
        world_from_spec(write(small_world()))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(WorldError, match="cannot be read"):
        world_from_spec(str(tmp_path / "none.json"))


@pytest.mark.parametrize(
    "spec", ["castle", "", "apartment?color=red", "apartment.txt", "house.json?locked=1"]
)
def test_unknown_specifications(spec):
    with pytest.raises(WorldError):
        world_from_spec(spec, 1)


def test_the_command_line_draws_and_saves(tmp_path, capsys):
    picture, saved = tmp_path / "w.png", tmp_path / "w.json"
    assert main(["apartment", "--seed", "2", "--png", str(picture), "--save", str(saved)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert World.load(saved).seed == 2
    assert "rooms" in capsys.readouterr().out
    assert main(["castle"]) == 2
    assert "castle" in capsys.readouterr().err
