"""Tests of `changes` between two saved maps: report, learning, and refusal of maps without a common frame."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

sys.path.insert(0, str(Path(__file__).parents[2] / "lodestar" / "test" / "scene"))
from session_builders import DAY, save, today, yesterday

from lodestar.assembly.session_maps import saved_session
from lodestar.models.category_priors import CategoryPriors
from lodestar.scene.session_sights import changes_between
from lodestar_ros.change_events import events_of
from lodestar_ros.changes import EXIT_APART, main
from lodestar_ros.markers import change_markers, entity_markers

SAVED = 1_000_000.0


@pytest.fixture
def maps(tmp_path):
    return str(save(yesterday(), tmp_path / "a", SAVED)), str(save(today(), tmp_path / "b", SAVED + DAY))


def test_the_report_is_printed_and_written(maps, tmp_path, capsys):
    assert main([*maps, "--json", str(tmp_path / "report.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 changes in 24 hours:"
    assert lines[1].startswith("The mug (1) moved 4.2 m (") and lines[2].startswith("The laptop (2) is gone")
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["elapsed"] == DAY
    assert sorted(c["kind"] for c in report["changes"]) == ["moved", "same", "same", "unknown", "vanished"]


def test_what_was_observed_is_learned_and_used_the_next_time(maps, tmp_path, capsys):
    counts = tmp_path / "counts.json"
    for _ in range(2):
        assert main([*maps, "--priors", str(counts), "--learn"]) == 0
    assert "Learned from" in capsys.readouterr().out
    assert CategoryPriors.load(counts).of("mug").watched == 2


def test_nothing_is_learned_without_a_known_time(tmp_path, capsys):
    folder = save(yesterday(), tmp_path / "a", float("nan"))
    counts = tmp_path / "counts.json"
    assert main([str(folder), str(folder), "--priors", str(counts), "--learn"]) == 0
    assert not counts.exists() and "not known" in capsys.readouterr().out


def test_maps_of_two_buildings_are_refused_with_what_to_do(maps, tmp_path, capsys):
    other = yesterday()
    other.session_id = "another"
    other = save(other, tmp_path / "c")
    assert main([maps[0], str(other)]) == EXIT_APART
    assert "--same-frame" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", '{"kind": "other"}'])
def test_a_file_of_something_else_is_no_file_of_counts(maps, tmp_path, capsys, text):
    (tmp_path / "counts.json").write_text(text)
    assert main([*maps, "--priors", str(tmp_path / "counts.json"), "--learn"]) == EXIT_APART
    assert "move it away" in capsys.readouterr().err
    assert (tmp_path / "counts.json").read_text() == text


def test_a_path_without_a_map_is_refused(tmp_path, capsys):
    assert main([str(tmp_path / "nothing"), str(tmp_path)]) == EXIT_APART
    assert "no folder" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--hours", "0"], ["--hours", "nan"], ["--tell"]])
def test_options_that_make_no_sense_are_bad_usage(maps, options, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*maps, *options])
    assert stopped.value.code == 2


def test_only_what_changed_is_an_event_and_a_marker(maps):
    before, after = (saved_session(path) for path in maps)
    changes = changes_between(before, after, DAY, CategoryPriors())
    events = events_of(changes, after.room_at, 5.0)
    assert [event.kind for event in events] == ["MOVED", "GONE"]
    assert list(events[0].entity_ids) == [1, 20] and events[0].place[0].x == pytest.approx(4.0)
    assert events[0].text.startswith("The mug (1) moved 4.2 m")
    markers = change_markers(changes, 5.0)
    assert [m.ns for m in markers] == ["changes", "change_texts"] * 2
    assert len(markers[0].points) == 2 and markers[0].points[1].x == pytest.approx(4.0)
    shown = entity_markers(after.entities.values(), 5.0, (), changes).markers
    assert sum(m.ns == "changes" for m in shown) == 2 < sum(m.ns == "boxes" for m in shown)
