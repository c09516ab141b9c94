"""Options of the training of the network: those that cannot be meant are refused before anything is read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from segmenter.scores import score  # noqa: E402
from train_segmenter import main  # noqa: E402

from lodestar.perception.onnx_detector import PACKAGED  # noqa: E402
from lodestar_sim.dataset.coco import Category, CocoError, Image, Instances, write_instances  # noqa: E402


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--steps", "-5"], "--steps: -5 is less than 0"),  # would never end
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
