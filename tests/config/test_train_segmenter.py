"""Tests of training the network: invalid options are refused before any data is read."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from segmenter.scores import score  # noqa: E402
from train_segmenter import main  # noqa: E402

from lodestar.perception.onnx_detector import PACKAGED, OnnxDetector  # noqa: E402
from lodestar_sim.dataset.coco import Category, CocoError, Image, Instances, write_instances  # noqa: E402
from lodestar_sim.dataset.viewpoints import sample_poses  # noqa: E402
from lodestar_sim.dataset.views import Camera  # noqa: E402
from lodestar_sim.worlds import world_from_spec  # noqa: E402


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--steps", "-5"], "--steps: -5 is less than 0"),  # training would not end
        (["--batch", "0"], "--batch: 0 is less than 1"),
        (["--jobs", "0"], "--jobs: 0 is less than 1"),
        (["--most-scored", "x"], "--most-scored"),
        (["--only-colors"], "--only-colors needs --start"),
        (["--seconds", "nan"], "--seconds"),
    ],
)
def test_a_bad_option_is_refused_and_nothing_is_written(options, told, tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["--data", str(tmp_path), "--out", str(tmp_path / "out"), *options])
    assert told in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_an_image_that_is_missing_is_told_when_a_network_is_scored(tmp_path):
    write_instances(tmp_path, Instances([Image(1, "images/gone.jpg", 32, 32)], [], [Category(1, "chair")]))
    with pytest.raises(CocoError, match=r"gone\.jpg is missing"):
        score(PACKAGED, tmp_path, 1)


@pytest.mark.torch
@pytest.mark.parametrize("seed", [0, 1])
def test_the_head_for_colours_learns_new_names_and_nothing_else_of_the_network_changes(seed, tmp_path):
    """The colour head learns permuted colour names for objects found by the packaged network."""
    from segmenter.coloring import fit_colors
    from segmenter.data import COLORS, IGNORED, Images

    rng = np.random.default_rng(seed)
    world, detector = world_from_spec("apartment", 1200 + seed), OnnxDetector(PACKAGED)
    camera = Camera(world, 320, 240)
    views = [camera.view(pose).rgb for pose in sample_poses(world, 12, rng)]
    frames = [detector.detect(0.0, view) for view in views]
    colors = np.full((len(views), 256), IGNORED, np.uint8)
    for frame, told in zip(frames, colors):
        for one in frame.detections:
            named = [COLORS.index(word) for word in one.caption.split() if word in COLORS]
            told[one.label_value] = (named[0] + 1) % len(COLORS) if named else IGNORED
    things = np.array([frame.labels for frame in frames], np.uint8)
    images = Images(np.array(views), things, things, colors)
    right = fit_colors(PACKAGED, images, tmp_path / "new.onnx", {"seed": "7"}, seed)
    assert right > 0.8
    old, new = onnx.load(str(PACKAGED)), onnx.load(str(tmp_path / "new.onnx"))
    changed = [a.name for a, b in zip(old.graph.initializer, new.graph.initializer) if a != b]
    assert len(changed) == 4 and all(name.startswith("network.colors.") for name in changed)
    told = {one.key: one.value for one in new.metadata_props}
    assert told == {one.key: one.value for one in old.metadata_props} | {"seed": "7"}


@pytest.mark.torch
def test_images_without_a_colour_and_networks_without_the_head_are_refused(tmp_path):
    from segmenter.coloring import fit_colors
    from segmenter.data import IGNORED, Images

    none = np.zeros((1, 240, 320), np.uint8)
    images = Images(np.zeros((1, 240, 320, 3), np.uint8), none, none, np.full((1, 256), IGNORED, np.uint8))
    with pytest.raises(CocoError, match="no thing in the images has a colour"):
        fit_colors(PACKAGED, images, tmp_path / "new.onnx", {})
    network = onnx.load(str(PACKAGED))
    for one in network.graph.initializer:
        one.name = one.name.replace("network.colors.", "other.")
    onnx.save(network, str(tmp_path / "other.onnx"))
    with pytest.raises(CocoError, match="no head for colours"):
        fit_colors(tmp_path / "other.onnx", images, tmp_path / "new.onnx", {})
    assert not (tmp_path / "new.onnx").exists()
