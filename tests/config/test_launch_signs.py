"""Tests of the process list with and without the sign reader."""

from __future__ import annotations

from lodestar.assembly.profiles import read_profiles
from lodestar_bringup.places import config_folder
from lodestar_bringup.stack import StackOptions, stack


def test_signs_are_read_where_that_is_wanted():
    for use in ("sim", "go2", "replay"):
        assert "sign_reader" not in {spec.name for spec in stack(use)}
        (reader,) = (spec for spec in stack(use, StackOptions(signs=True)) if spec.name == "sign_reader")
        assert ("image", dict(reader.remappings)["image"]) in reader.remappings
        (scene,) = (spec for spec in stack(use, StackOptions(signs=True)) if spec.name == "scene_dictionary")
        assert dict(scene.remappings)["signs"] == "sign_reader/signs"
        assert read_profiles([config_folder() / f"{use}.yaml"]).sign_reader.reader == "none"
    signs = read_profiles([config_folder() / "sim.yaml", config_folder() / "signs.yaml"])
    assert signs.sign_reader.reader == "rapidocr"
