"""Tests of the benchmarks of relational queries on small inputs."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from lodestar.models.phrases import PhraseBook
from lodestar.query.table import PredicateTable
from lodestar_eval import __main__ as command
from lodestar_eval.benchmarks.calibrate import _Case, likelihood
from lodestar_eval.perceived_maps import _rank
from lodestar_eval.referit import BadData, half_of, load_rooms
from lodestar_eval.sentence_answers import mcnemar, solve_rooms
from lodestar_eval.sentences import make_sentences
from lodestar_eval.studies import relational
from lodestar_sim.reference_truth import Scene
from lodestar_sim.worlds import world_from_spec

FIELDS = ("scan_id", "utterance", "target_id", "instance_type", "hard", "view_dependent")


def thing(identity, label, center, size=(0.5, 0.5, 0.8), front=None):
    return {
        "id": identity, "label": label, "center": list(center), "size": list(size), "avg_rgba": [90, 90, 90, 255],
        "has_front": front is not None, "front_point": front,
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """Write data with one room per half: two chairs, a desk beside one of them, a lamp on the desk."""
    scans = [next(f"room{i}" for i in range(99) if half_of(f"room{i}") == half) for half in ("fit", "report")]
    objects = [
        thing(0, "chair", (0.0, 0.0, 0.4)), thing(1, "chair", (4.0, 3.0, 0.4), front=[4.0, 2.0, 0.4]),
        thing(2, "desk", (0.9, 0.0, 0.4)), thing(3, "lamp", (0.9, 0.0, 1.0), (0.2, 0.2, 0.4)),
    ]  # fmt: skip
    (tmp_path / "objects.json").write_text(json.dumps(dict.fromkeys(scans, objects)))
    with (tmp_path / "utterances.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        for scan in scans:
            writer.writerow([scan, "The chair next to the desk.", 0, "chair", 0, 0])
            writer.writerow([scan, "It is the chair farthest from the lamp", 1, "chair", 1, 0])
            writer.writerow([scan, "xyzzy", 1, "chair", 1, 1])
    return tmp_path


def test_halves_are_of_rooms_and_make_up_the_whole(folder):
    halves = [load_rooms(folder, half) for half in ("fit", "report", "all")]
    assert [len(h.sentences) for h in halves] == [3, 3, 6]
    assert not set(halves[0].entities) & set(halves[1].entities)
    entity = next(iter(halves[0].entities.values()))[1]
    assert entity.front == pytest.approx([0.0, -1.0, 0.0])
    assert entity.color == pytest.approx([90 / 255] * 3)


def test_sentences_are_solved_from_their_text_and_failures_have_a_cause(folder, monkeypatch):
    book = PhraseBook()
    rng = np.random.default_rng(0)
    words = ["xyzzy", "chair", "desk", "lamp"]
    book.add(words, rng.normal(size=(4, 32)), "made up")
    solved = solve_rooms(load_rooms(folder, "fit"), book)
    assert [s.is_right for s in solved[:2]] == [True, True]
    assert not solved[2].is_right and solved[2].cause in ("parse", "label mismatch")
    monkeypatch.setattr("lodestar.models.phrases.PhraseBook", lambda embedder: book)
    found = relational.BENCHMARK.result(list(relational._measure(folder, "fit"))).metrics
    assert found["acc"] == pytest.approx(2 / 3)
    assert found["acc.easy"] == 1.0 and found["acc.view_dependent"] == 0.0
    assert found["random"] == pytest.approx(0.5)


def test_the_likelihood_rises_with_a_table_that_tells_the_two_apart(folder):
    from lodestar.language.grammar import parse_query
    from lodestar.query.verdict import prepare

    rooms = load_rooms(folder, "fit")
    pool = prepare(next(iter(rooms.entities.values())), PhraseBook())
    cases = [_Case(parse_query("the chair next to the desk"), pool, 0)]
    assert likelihood(cases, PredicateTable(next_to=1.0)) > likelihood(cases, PredicateTable(next_to=50.0))


def test_mcnemar_counts_what_only_one_got_right():
    one = [True] * 9 + [False] + [True] * 5
    other = [False] * 9 + [True] + [True] * 5
    gained, lost, p_value = mcnemar(one, other)
    assert (gained, lost) == (9, 1)
    assert p_value == pytest.approx(22 / 1024)
    assert mcnemar([True], [True]) == (0, 0, 1.0)


@pytest.mark.parametrize("break_it", ["utterances.csv", "objects.json"])
def test_a_folder_that_lacks_a_file_is_refused(folder, break_it, capsys):
    (folder / break_it).unlink()
    with pytest.raises(BadData, match="is not such a folder"):
        load_rooms(folder)
    arguments = ["relational", "--data", str(folder), "--out", str(folder / "out")]
    assert command.main(arguments) == command.EXIT_USAGE
    assert "is not such a folder" in capsys.readouterr().err


def test_data_or_worlds_one_of_them(tmp_path, capsys):
    assert command.main(["relational", "--out", str(tmp_path)]) == command.EXIT_USAGE
    assert "--worlds" in capsys.readouterr().err


def test_made_sentences_mean_one_object_by_ground_truth():
    world = world_from_spec("apartment", 1)
    made = make_sentences(world, 12, np.random.default_rng(0))
    scene = Scene(world)
    assert len({m.text for m in made}) == len(made) == 12
    assert len({m.relation for m in made}) >= 4
    for sentence in made:
        target = world.object(sentence.target)
        assert target.category in sentence.text
        assert (
            any(t.id != target.id and t.category == target.category for t in scene.things)
            or sentence.relation
        )


def test_ranks_that_are_none_count_as_misses():
    assert _rank([4, 5, 6], {6, 9}) == 3
    assert _rank([4, 5], {9}) == 0
    row = {"relation": "On", "in_map": True, "embedding_rank": 0, "_mode": "worlds"}
    rows = [{**row, "rank": 1}, {**row, "rank": 7}, {**row, "rank": 0, "in_map": False}]
    metrics = relational.BENCHMARK.result(rows).metrics
    assert metrics["accuracy_at_1.On"] == pytest.approx(1 / 3) and metrics["embedding.mrr"] == 0.0
    assert metrics["accuracy_at_1"] == pytest.approx(1 / 3)
    assert (metrics["recall_at_5"], metrics["recall_at_10"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert metrics["mrr"] == pytest.approx((1 + 1 / 7) / 3)
    assert metrics["never_in_map"] == pytest.approx(1 / 3)
