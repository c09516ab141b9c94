"""Tests of rooms visited twice: hidden and changed objects, scores of reports, and bad options of the command."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from lodestar.scene.change_pairs import Sight
from lodestar.scene.session_changes import ChangeKind, ThingChange
from lodestar_eval.__main__ import EXIT_USAGE, main
from lodestar_eval.change_scores import Tally, last_seen_is_true, nearest_of_same_label, score, vlm_dewm
from lodestar_eval.visited_rooms import BadVisits, Noise, Observed, load_visits, observe, shuffled

LABELS = ("Mug", "ButterKnife", "Book", "Pen", "Laptop", "Vase")


def episode(scene, number, rng):
    things = []
    for label in LABELS:
        first, moved = rng.uniform(0.0, 4.0, 3), bool(rng.random() < 0.3)
        second = rng.uniform(0.0, 4.0, 3) if moved else first
        place = lambda p: {"pos": [round(float(v), 4) for v in p], "rot": [0, 0, 0]}  # noqa: E731
        things.append(
            {
                "name": f"{label}_{number}",
                "type": label,
                "target": place(first),
                "start": place(second),
                "moved": moved,
            }
        )
    return {"episode": f"{scene}_{number}", "scene": scene, "room": "kitchen", "objects": things}


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(3)
    lines = [json.dumps(episode(f"Plan{s}", n, rng)) for s in range(4) for n in range(4)]
    (tmp_path / "episodes.jsonl").write_text("\n".join(lines))
    return tmp_path


def test_scenes_are_divided_and_names_become_words(folder):
    told, development = load_visits(folder), load_visits(folder, "development")
    assert {v.scene for v in told} == {"Plan1", "Plan3"} and {v.scene for v in development} == {
        "Plan0",
        "Plan2",
    }
    assert [t.label for t in told[0].things][1] == "butter knife"
    first = json.loads((folder / "episodes.jsonl").read_text().splitlines()[4])["objects"][0]["target"]["pos"]
    assert told[0].things[0].first.tolist() == [first[0], first[2], first[1]]  # converted to z up


@pytest.mark.parametrize(
    "text", ["", "no json", '{"episode": 1}', '{"episode": "a", "scene": "s", "objects": [{}]}']
)
def test_a_folder_of_something_else_is_refused(tmp_path, text):
    with pytest.raises(BadVisits):
        load_visits(tmp_path)
    (tmp_path / "episodes.jsonl").write_text(text)
    with pytest.raises(BadVisits):
        load_visits(tmp_path)


def test_without_noise_nothing_is_missed_and_places_are_exact(folder):
    visits = load_visits(folder)[0]
    seen = observe(visits, Noise(0.0, 0.0), LABELS, np.random.default_rng(1))
    for row, thing in enumerate(visits.things):
        there = [s for s in seen.before if s.id == row]
        assert bool(there) == (seen.became[row] != "added")
        assert not there or np.array_equal(there[0].mean, thing.first)
    assert all(s.watched == 1.0 for s in (*seen.before, *seen.after))


def test_the_noise_misses_and_confuses_as_much_as_it_says(folder):
    rng, noise = np.random.default_rng(2), Noise(0.3, 0.05)
    visits, labels = load_visits(folder)[0], [t.label for t in load_visits(folder)[0].things]
    seen = [observe(visits, noise, labels, rng) for _ in range(600)]
    still = [(o, r) for o in seen for r, fate in o.became.items() if fate in ("same", "moved")]
    found = [next((s for s in o.after if s.id == r), None) for o, r in still]
    assert np.mean([s is None for s in found]) == pytest.approx(0.3, abs=0.03)
    assert np.mean([s.label != labels[s.id] for s in found if s]) == pytest.approx(0.05, abs=0.015)
    errors = np.array([s.mean - visits.things[s.id].second for s in found if s])
    assert errors.std() == pytest.approx(0.05, rel=0.05)
    fates = [fate for o in seen for fate in o.became.values()]
    assert np.mean([fate == "taken" for fate in fates]) == pytest.approx(0.1, abs=0.02)


def test_shuffled_sights_have_ids_that_say_nothing(folder):
    seen = observe(load_visits(folder)[0], Noise(0.0, 0.01), LABELS, np.random.default_rng(4)).before
    mixed, rows = shuffled(seen, np.random.default_rng(5))
    assert [s.id for s in mixed] == [*range(len(seen))] and sorted(rows) == sorted(s.id for s in seen)
    assert all(np.array_equal(s.mean, next(o.mean for o in seen if o.id == r)) for s, r in zip(mixed, rows))


# --- scores --------------------------------------------------------------------------------------------------


def sight(identity, x, label="mug", watched=1.0):
    return Sight(identity, label, np.array([x, 0.0, 0.0]), 0.01 * np.eye(3), watched=watched)


#: Objects 0 and 1 moved, 2 stayed, 3 was removed, 4 was added, 5 stayed but was missed at the second visit.
SEEN = Observed(
    tuple(sight(i, float(i), f"thing{i}") for i in (0, 1, 2, 3, 5)),
    (sight(0, 9.0, "thing0"), sight(1, 8.0, "thing1"), sight(2, 2.0, "thing2"), sight(4, 4.0, "thing4")),
    {0: "moved", 1: "moved", 2: "same", 3: "taken", 4: "added", 5: "same"},
)
ROWS = range(9)


def change(kind, before, after, p=0.8):
    find = lambda sights, i: None if i is None else next(s for s in sights if s.id == i)  # noqa: E731
    return ThingChange(kind, p, find(SEEN.before, before), find(SEEN.after, after))


def test_right_reports_score_one():
    reports = [
        change(ChangeKind.MOVED, 0, 0), change(ChangeKind.MOVED, 1, 1), change(ChangeKind.SAME, 2, 2),
        change(ChangeKind.VANISHED, 3, None), change(ChangeKind.UNKNOWN, 5, None), change(ChangeKind.APPEARED, None, 4),
    ]  # fmt: skip
    tally = score(reports, ROWS, ROWS, SEEN)
    assert [tally.f1(kind) for kind in ("moved", "vanished", "appeared")] == [1.0, 1.0, 1.0]
    assert len(tally.told) == 5 and tally.calibration_error == pytest.approx(0.2)
    assert tally.brier == pytest.approx(0.04)


def test_a_moved_thing_with_the_wrong_partner_is_wrong_and_missed():
    tally = score([change(ChangeKind.MOVED, 0, 1), change(ChangeKind.MOVED, 1, 0)], ROWS, ROWS, SEEN)
    assert (tally.right["moved"], tally.wrong["moved"], tally.left_out["moved"]) == (0, 2, 2)


def test_a_thing_that_was_overlooked_and_is_told_as_gone_is_wrong():
    tally = score(
        [change(ChangeKind.VANISHED, 3, None), change(ChangeKind.VANISHED, 5, None)], ROWS, ROWS, SEEN
    )
    assert tally.precision("vanished") == 0.5 and tally.recall("vanished") == 1.0


def test_the_rivals_do_what_their_names_say():
    nearest = {c.before.id: c.kind for c in nearest_of_same_label(SEEN.before, SEEN.after, 0.5) if c.before}
    assert nearest[0] is nearest[1] is ChangeKind.MOVED and nearest[2] is ChangeKind.SAME
    assert nearest[3] is nearest[5] is ChangeKind.VANISHED
    believed = last_seen_is_true(SEEN.before, SEEN.after, 0.5)
    assert {c.kind for c in believed if c.before} == {ChangeKind.SAME}
    assert sorted(c.after.id for c in believed if c.kind is ChangeKind.APPEARED) == [0, 1, 4]


def test_the_papers_association_pairs_what_is_near_and_knows_no_motion():
    changes = {c.before.id: c.kind for c in vlm_dewm(SEEN.before, SEEN.after) if c.before}
    assert changes.pop(2) is ChangeKind.SAME
    assert set(changes) == {0, 1, 3, 5} and set(changes.values()) == {ChangeKind.VANISHED}


def test_nothing_to_report_is_no_score_and_silence_is_zero():
    assert np.isnan(Tally().f1("moved"))
    assert score([], ROWS, ROWS, SEEN).f1("moved") == 0.0


# --- command -------------------------------------------------------------------------------------------------


def test_the_command_compares_the_rows_and_writes_its_report(folder, tmp_path, capsys):
    main(["changes", "--data", str(folder), "--draws", "1", "--out", str(tmp_path / "out")])
    report = json.loads((tmp_path / "out" / "changes.json").read_text())["metrics"]
    assert report["episodes"] == 8.0
    assert report["f1_moved.lodestar.m0_e2"] > 0.6 > report["f1_moved.last_seen.m0_e2"] == 0.0
    assert "better_than_nearest_low.m10_e5" in report


def test_a_folder_without_visits_is_bad_usage(tmp_path, capsys):
    assert main(["changes", "--data", str(tmp_path), "--out", str(tmp_path / "out")]) == EXIT_USAGE
    assert "episodes.jsonl" in capsys.readouterr().err


@pytest.mark.skipif("LODESTAR_DATA" not in os.environ, reason="set LODESTAR_DATA to the folder of data")
def test_the_real_visits_can_be_read():
    found = load_visits(Path(os.environ["LODESTAR_DATA"]) / "thor_changes", "all")
    assert len(found) == 500 and sum(t.moved for v in found for t in v.things) == 1250
