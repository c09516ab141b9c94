"""Tests of the eight queries of FARM's table 10, by ground truth and on a perceived map."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from lodestar.language.grammar import parse_query
from lodestar_eval import __main__ as command
from lodestar_eval.farm import QUERIES, WORLD
from lodestar_sim.reference_truth import Scene
from lodestar_sim.worlds import world_from_spec


@pytest.fixture(scope="module")
def scene():
    return Scene(world_from_spec(WORLD))


def is_on_side(scene, target, anchor, relation):
    """Return whether the target is within 45 degrees of that side of the anchor, for a viewer at its front."""
    yaw = anchor.pose[3]
    front = np.array([np.cos(yaw), np.sin(yaw)])
    side = (
        front if relation == "InFrontOf" else np.array([-front[1], front[0]])
    )  # left and right are mirrored, as the front faces the viewer
    offset = np.subtract(target.xy, anchor.xy)
    along = float(offset @ side)
    return along > 0.0 and np.linalg.norm(offset - along * side) <= along


@pytest.mark.parametrize("query", QUERIES, ids=lambda q: q.text)
def test_each_sentence_is_true_of_its_targets_alone(query, scene):
    graph = parse_query(query.text)[0]
    matching = scene.matching(graph)
    if query.relation in ("RightOf", "InFrontOf"):
        anchor = next(t for t in scene.things if t.category == graph.variables[1].category)
        near = [scene.world.object(i) for i in matching]
        assert len(near) > len(query.targets)  # look-alikes exist on the other sides
        matching = [t.id for t in near if is_on_side(scene, t, anchor, query.relation)]
    assert sorted(matching) == list(query.targets)


def test_each_target_has_look_alikes(scene):
    for query in QUERIES:
        target = scene.world.object(query.targets[0])
        same = [t for t in scene.things if t.category == target.category and t.id not in query.targets]
        assert len(same) >= 2
        assert any(t.caption == target.caption for t in same)


def test_all_eight_are_right_on_a_perceived_map(tmp_path):
    assert command.main(["relational", "--farm", "1", "--out", str(tmp_path)]) == 0
    report = json.loads((tmp_path / "relational.json").read_text())
    assert report["metrics"]["farm.right"] == len(QUERIES) == 8
    assert report["metrics"]["farm.accepted"] == 1.0
    with (tmp_path / "relational.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["text"] for row in rows] == [query.text for query in QUERIES]
    assert all(int(row["answer"]) in query.targets for row, query in zip(rows, QUERIES))


@pytest.mark.parametrize("given", [["--farm", "1", "--worlds", "1"], ["--farm", "0"]])
def test_options_that_do_not_go_together_are_refused(given, tmp_path, capsys):
    try:
        status = command.main(["relational", *given, "--out", str(tmp_path)])
    except SystemExit as stopped:
        status = stopped.code
    assert status == command.EXIT_USAGE
    assert "--farm" in capsys.readouterr().err
