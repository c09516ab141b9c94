"""Tests of the packaged network: its metadata, and its detections in buildings outside its training data."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import onnxruntime
import pytest

from lodestar.perception.onnx_detector import PACKAGED, OnnxDetector
from lodestar_sim.dataset.viewpoints import sample_poses
from lodestar_sim.dataset.views import Camera
from lodestar_sim.worlds import world_from_spec
from lodestar_sim.worlds.catalogue import CATALOGUE
from lodestar_sim.worlds.palette import COLORS


def test_the_file_is_small_and_names_its_classes_colours_and_buildings():
    told = onnxruntime.InferenceSession(str(PACKAGED)).get_modelmeta().custom_metadata_map
    assert PACKAGED.stat().st_size <= 5_000_000
    names = OnnxDetector(PACKAGED).vocabulary.names
    assert len(set(names) & set(CATALOGUE)) > 90 and told["mean"] == "[0, 0, 0]"
    assert set(OnnxDetector(PACKAGED).load().attributes) == set(COLORS)
    seeds = [int(seed) for seed in re.findall(r"\d{3,}", told["buildings"])]
    assert seeds and min(seeds) >= 1000, "tables are made with the others"
    readme = (PACKAGED.parent / "README.md").read_text()
    assert hashlib.sha256(PACKAGED.read_bytes()).hexdigest() in readme, "it describes another file"


@pytest.mark.slow
def test_it_finds_and_names_things_of_other_buildings():
    found = true = right = colored = 0
    detector = OnnxDetector(PACKAGED)
    for kind in ("apartment", "office"):
        world, rng = world_from_spec(kind, 412), np.random.default_rng(0)
        camera, labels = Camera(world, 320, 240), world.labels()
        for pose in sample_poses(world, 16, rng):
            view = camera.view(pose)
            frame = detector.detect(0.0, view.rgb)
            true += sum(
                np.count_nonzero(view.ids == value) >= 400 for value in np.unique(view.ids[view.ids > 0])
            )
            for one in frame.detections:
                found += 1
                mine = view.ids[frame.labels == one.label_value]
                value = np.bincount(mine).argmax()
                same = value > 0 and labels[value]["class"] == one.label
                right += same
                colored += same and set(one.caption.split()) <= set(labels[value]["caption"].split())
    assert right >= 0.6 * found and right >= 0.4 * true, (found, true, right)
    assert colored >= 0.8 * right


@pytest.mark.parametrize("shape", [(1, 1), (2, 900), (240, 320), (480, 640), (333, 77)])
@pytest.mark.parametrize("fill", ["black", "white", "noise"])
def test_it_takes_any_image(shape, fill):
    rgb = np.full((*shape, 3), 255 if fill == "white" else 0, np.uint8)
    if fill == "noise":
        rgb = np.random.default_rng(0).integers(0, 255, rgb.shape).astype(np.uint8)
    frame = OnnxDetector(PACKAGED).detect(0.0, rgb)
    assert frame.labels.shape == shape


def test_a_truncated_copy_is_refused_with_a_sentence(tmp_path):
    from lodestar.perception.frames import DetectorUnavailable

    broken = tmp_path / "segmenter.onnx"
    broken.write_bytes(PACKAGED.read_bytes()[:1_000_000])
    with pytest.raises(DetectorUnavailable, match=r"segmenter\.onnx"):
        OnnxDetector(broken).load()
