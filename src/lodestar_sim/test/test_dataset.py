"""Tests of labelled images: COCO's format, masks equal to ground truth, reproducibility, invalid options."""

from __future__ import annotations

import hashlib
import json
import math

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lodestar_sim.dataset.__main__ import main
from lodestar_sim.dataset.coco import CocoError, Segmentation, decode_mask, encode_mask, read_instances
from lodestar_sim.dataset.viewpoints import sample_poses
from lodestar_sim.dataset.views import Camera, random_light, random_shake
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds import world_from_spec
from lodestar_sim.worlds.truth import truth_of

SIZE = (160, 120)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    out = tmp_path_factory.mktemp("images") / "one"
    options = ["--worlds", "apartment", "--seeds", "7", "--per-building", "6", "--size", "160x120"]
    assert main(["--out", str(out), "--format", "png", "--plain", "--depth", *options]) == 0
    return out


def test_every_mask_is_the_simulators_own_truth(written):
    instances = read_instances(written)
    world = world_from_spec("apartment", 7)
    simulator = Simulator(world)
    names = {category.id: category.name for category in instances.categories}
    assert len(instances.images) == 6 and instances.annotations
    for image in instances.images:
        simulator.robot.pose = np.array(image.pose)
        ids, distance, _ = simulator.view_truth(*SIZE)
        mine = [one for one in instances.annotations if one.image_id == image.id]
        labels = world.labels()
        told = np.zeros(ids.shape, np.int32)
        for one in mine:
            mask = decode_mask(one.segmentation)
            (value,) = np.unique(ids[mask])
            assert (mask == (ids == value)).all() and one.area == mask.sum()
            rows, columns = np.nonzero(mask)
            assert one.bbox == (columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1)
            assert labels[value] == {"class": names[one.category_id], "caption": one.caption}
            told[mask] = value
        assert (told == ids).all()  # the annotations cover all labelled pixels
        depth = cv2.imread(str(written / image.depth_file), cv2.IMREAD_UNCHANGED)
        there = np.isfinite(distance) & (distance < 65.0)
        np.testing.assert_allclose(depth[there], distance[there] * 1000.0, atol=1.0)
        rgb = cv2.imread(str(written / image.file_name))[:, :, ::-1]
        assert (rgb == simulator.render_view(image.pose, *SIZE)[0]).all()


def test_the_file_has_cocos_fields(written):
    told = json.loads((written / "instances.json").read_text())
    assert {"images", "annotations", "categories", "info"} <= told.keys()
    ids = [image["id"] for image in told["images"]]
    assert len(set(ids)) == len(ids) and all(
        (written / image["file_name"]).is_file() for image in told["images"]
    )
    for one in told["annotations"]:
        assert {"id", "image_id", "category_id", "bbox", "area", "segmentation", "iscrowd"} <= one.keys()
        assert one["image_id"] in ids and one["segmentation"]["size"] == [120, 160]
    assert len({one["id"] for one in told["annotations"]}) == len(told["annotations"])


def digest(folder):
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return found.hexdigest()


@pytest.mark.slow
def test_a_seed_gives_the_same_files_with_any_number_of_processes_and_another_gives_others(tmp_path):
    options = ["--worlds", "apartment", "--seeds", "7,8", "--per-building", "3", "--size", "96x72"]
    for name, more in (("a", ["--jobs", "1"]), ("b", ["--jobs", "2"]), ("c", ["--seed", "1"])):
        assert main(["--out", str(tmp_path / name), *options, *more]) == 0
    assert digest(tmp_path / "a") == digest(tmp_path / "b") != digest(tmp_path / "c")


def test_poses_are_free_and_a_changed_view_keeps_its_truth():
    world, rng = world_from_spec("office", 3), np.random.default_rng(0)
    poses = sample_poses(world, 40, rng)
    cells = truth_of(world).grid.cells_of(poses[:, :2])
    assert poses.shape == (40, 3) and (truth_of(world).clearance[tuple(cells.T)] > 0.1).all()
    camera = Camera(world, 96, 72)
    plain, lit = camera.view(poses[0]), camera.view(poses[0], random_light(rng))
    assert (plain.ids == lit.ids).all() and (plain.rgb != lit.rgb).any()
    shaken = camera.view(poses[0], shake=np.array([math.radians(3.0), 0.0, 0.0]))
    assert (shaken.depth != plain.depth).any()
    assert np.abs(random_shake(rng)).max() < 0.3


@given(
    image=arrays.arrays(
        np.int32, st.tuples(st.integers(1, 12), st.integers(1, 12)), elements=st.integers(0, 2)
    ),
    value=st.integers(1, 2),
)
@settings(max_examples=200)
def test_run_lengths_come_back(image, value):
    columns = np.flatnonzero((image == value).any(0))
    if len(columns):
        mask = encode_mask(image, value, columns[0], columns[-1] + 1)
        assert (decode_mask(mask) == (image == value)).all()


def test_run_lengths_are_those_of_pycocotools():
    image = np.zeros((5, 6), np.int32)
    image[1:4, 2:5] = 1
    image[2, 3] = 0
    # from pycocotools.mask.encode(numpy.asfortranarray(image == 1))
    assert encode_mask(image, 1, 2, 5).counts == ";32NO0124"


@given(text=st.text(max_size=20), size=st.tuples(st.integers(1, 20), st.integers(1, 20)))
def test_any_run_lengths_fill_the_image_or_are_refused(text, size):
    try:
        assert decode_mask(Segmentation(size, text)).shape == size
    except CocoError as error:
        assert "run lengths" in str(error)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--worlds", "castle"], "unknown world 'castle'"),
        (["--worlds", ","], "names none"),
        (["--worlds", "apartment?moat=1"], "unknown option 'moat'"),
        (["--worlds", "apartment,apartment"], "name each building once"),
    ],
)
def test_a_bad_building_is_refused_with_a_sentence(options, told, tmp_path, capsys):
    assert main(["--out", str(tmp_path / "out"), *options]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options",
    [["--size", "0x240"], ["--size", "320"], ["--seeds", "9-3"], ["--seeds", "-4"], ["--per-building", "0"],
     ["--jobs", "none"], ["--format", "gif"], ["--seed", "-1"], []],
)  # fmt: skip
def test_a_bad_option_is_refused_with_a_sentence(options, tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(options if not options else ["--out", str(tmp_path / "out"), *options])
    assert "error: " in capsys.readouterr().err


def test_a_folder_with_files_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.txt").write_text("mine")
    assert main(["--out", str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err and [p.name for p in tmp_path.iterdir()] == [
        "thesis.txt"
    ]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"images": 3}', '{"images": [], "annotations": [], "categories": []}']
)
def test_a_file_that_is_no_coco_file_is_refused_with_a_sentence(text, tmp_path):
    (tmp_path / "instances.json").write_text(text)
    with pytest.raises(CocoError, match=r"instances\.json"):
        read_instances(tmp_path)
    with pytest.raises(CocoError, match="cannot be read"):
        read_instances(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"image_id": 999}, "is not there"),
        ({"category_id": 9999}, "is not there"),
        ({"segmentation": {"size": [3, 3], "counts": "9"}}, "not of its image's size"),
    ],
)
def test_an_annotation_that_fits_no_image_is_refused_with_a_sentence(change, told, written, tmp_path):
    content = json.loads((written / "instances.json").read_text())
    content["annotations"][0].update(change)
    (tmp_path / "instances.json").write_text(json.dumps(content))
    with pytest.raises(CocoError, match=told):
        read_instances(tmp_path)
