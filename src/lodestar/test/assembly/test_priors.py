"""Tests that a user's file with movement counts reaches every part that weighs by it."""

from __future__ import annotations

import json

import pytest

from lodestar.assembly import parts
from lodestar.assembly.config import RobotConfig, changed
from lodestar.assembly.parts import category_priors
from lodestar.assembly.robot import HeadlessRobot
from lodestar.models.category_priors import KIND, VERSION, BadPriors, CategoryPriors, Watching
from lodestar.models.phrases import PhraseBook

COUNTS = ("things", "moves", "exposure", "sizes", "sized")


def test_one_file_reaches_loop_scene_and_expert(tmp_path):
    path = tmp_path / "moves.json"
    learned = CategoryPriors().learned([Watching("plant", 3600.0, True)] * 40)
    learned.save(path)
    assert learned.of("plant") != CategoryPriors().of("plant")
    robot = HeadlessRobot(changed(RobotConfig(), shared__priors_file=str(path)), PhraseBook())
    expert = robot.experts["semantic_map"]
    context = robot.loop._context
    for priors in (
        context.priors,
        robot.map.scene.dictionary._priors,
        expert._priors,
        expert._last_seen._priors,
    ):
        assert priors.of("plant") == learned.of("plant")
    robot.close()


def test_no_file_is_the_table_and_a_bad_one_is_told(tmp_path):
    assert category_priors("").of("plant") == CategoryPriors().of("plant")
    with pytest.raises(BadPriors, match=r"there is no file of counts .*none\.json.*--learn"):
        category_priors(tmp_path / "none.json")
    path = tmp_path / "moves.json"
    for text in (
        json.dumps({"kind": "something else"}),
        json.dumps({"kind": KIND, "version": VERSION, "kinds": "plant"}),
        json.dumps({"kind": KIND, "version": VERSION, "kinds": {"plant": dict.fromkeys(COUNTS, "many")}}),
        "[1e999]",
    ):
        path.write_text(text)
        with pytest.raises(BadPriors, match=r"not a file of counts.*move it away"):
            parts.scene_dictionary(changed(RobotConfig(), shared__priors_file=str(path)).scene_dictionary)
    with pytest.raises(BadPriors, match=str(tmp_path)):
        category_priors(tmp_path)  # the path is a folder
