"""Tests of tours for a memory: route, events, recording and file."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from embedders import LetterEmbedder
from small_building import BIN, TOUR, small_world

from lodestar.models.phrases import PhraseBook
from lodestar.storage.private import UnsafeFolder
from lodestar_eval.__main__ import main
from lodestar_eval.memory_qa import tours
from lodestar_eval.memory_qa.answerer import OwnAnswerer
from lodestar_eval.memory_qa.happenings import HAPPENING_ASIDE, HappeningConfig, with_timed_events
from lodestar_eval.memory_qa.recording import DRIVE, TURN
from lodestar_eval.memory_qa.route import LONG_TOUR, laps, timeline
from lodestar_eval.memory_qa.tours import tour_of
from lodestar_eval.memory_qa.truth import TourTruth
from lodestar_eval.studies import memory_qa
from lodestar_eval.tour import Tour
from lodestar_sim.worlds.truth import truth_of

SHORT = replace(TOUR, limit=14.0)
EVENTS = HappeningConfig(moved=1, removed=1, added=2, apart=8.0, pause=4.0)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return a recording of 14 s with the folder that holds it."""
    folder = tmp_path_factory.mktemp("tours") / "mine"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tours, "world_from_spec", lambda spec, seed: small_world())
        return _record(folder), folder


def _record(folder, said=None):
    said = [] if said is None else said
    return tour_of("office", 1, lambda: PhraseBook(LetterEmbedder()), folder, said.append, SHORT)


def test_the_long_tour_lasts_more_than_22_minutes():
    assert LONG_TOUR.limit >= 22 * 60


def test_every_stop_is_visited_again():
    stops = laps(small_world(), TOUR)
    _, counts = np.unique(stops, axis=0, return_counts=True)
    assert len(counts) >= 3 and (counts >= 2).all()


def test_the_way_is_that_of_the_tour_with_images():
    line = timeline(small_world(), 1, SHORT)
    tour = Tour(small_world(), 1, SHORT, laps(small_world(), SHORT))
    seen = [(frame.image.stamp, tour.simulator.true_pose.copy()) for frame in tour.frames()]
    assert [s for s, _ in seen] == line.stamps.tolist()
    assert np.array_equal(np.array([p for _, p in seen]), line.poses)


def test_events_can_be_known_from_the_way():
    world = small_world()
    line = timeline(world, 1, TOUR)
    changed = with_timed_events(world, line, np.random.default_rng(3), EVENTS)
    kinds = [event.kind for event in changed.events]
    assert set(kinds) == {"move", "remove", "add"} and kinds.count("add") == 2
    times = [event.time for event in changed.events]
    assert times == sorted(times) and np.diff(times).min() >= EVENTS.pause
    truth = truth_of(world)
    for event in changed.events:
        assert any(abs(event.time - t) < 2.0 for t in line.stamps)
        if event.kind == "add":
            continue
        shown = truth.seen(world.object(event.object_id), line.poses) > 0.0
        assert shown[line.stamps < event.time].any() and shown[line.stamps > event.time].any()
    again = with_timed_events(world, line, np.random.default_rng(3), EVENTS)
    assert [(e.time, e.kind, e.object_id) for e in again.events] == [
        (e.time, e.kind, e.object_id) for e in changed.events
    ]


def test_what_is_put_down_stands_aside_of_the_way():
    world = small_world()
    line = timeline(world, 1, TOUR)
    for seed in range(3):
        for event in with_timed_events(world, line, np.random.default_rng(seed), EVENTS).events:
            there = event.pose if event.kind == "move" else event.object.pose if event.object else None
            if there is None or there[2] > 0.0:
                continue
            thing = event.object or world.object(event.object_id)
            gap = np.linalg.norm(line.poses[:, :2] - np.array(there[:2]), axis=1).min()
            assert gap >= math.hypot(*thing.size[:2]) / 2.0 + HAPPENING_ASIDE - 0.01


def test_a_world_where_nothing_can_be_moved_has_no_events_but_new_things():
    fixed = tuple(replace(thing, movable=False) for thing in small_world().objects)
    world = replace(small_world(), objects=fixed)
    line = timeline(world, 1, TOUR)
    changed = with_timed_events(world, line, np.random.default_rng(0), EVENTS)
    assert {event.kind for event in changed.events} <= {"add"}


def test_a_recording_is_a_stream_that_builds_the_same_scene(recorded):
    recording, _ = recorded
    stream = recording.stream
    assert len(stream.steps) == len(recording.glances) >= 28
    assert [s.stamp for s in stream.steps] == [g.stamp for g in recording.glances]
    for step, scene in stream.scenes():
        assert all(s.entity_id in scene.entities for s in step.sightings)
    assert scene.entities.keys() == stream.scene.entities.keys() and len(scene.entities) >= 3
    assert scene.revision == stream.scene.revision
    assert any(step.sightings for step in stream.steps)
    assert {deed.kind for deed in stream.deeds} == {DRIVE, TURN}
    assert all(a.end == b.start for a, b in zip(stream.deeds, stream.deeds[1:], strict=False))


def test_the_estimated_pose_stays_near_the_true_one(recorded):
    recording, _ = recorded
    for step, glance in zip(recording.stream.steps, recording.glances):
        assert np.linalg.norm(step.map_from_base[:2, 3] - glance.pose[:2]) < 0.5


def test_kept_images_are_found_by_the_ids_of_the_steps(recorded):
    recording, _ = recorded
    kept = [step for step in recording.stream.steps if step.keyframe_id]
    store = recording.stream.keyframes()
    assert kept and len(store) == len(kept)
    for step in kept:
        keyframe, image = store.get(step.keyframe_id)
        assert keyframe.stamp == step.stamp and image[:2] == b"\xff\xd8"
        assert keyframe.instances.keys() == {s.entity_id for s in step.sightings}


def test_a_recorded_tour_is_not_driven_again(recorded):
    recording, folder = recorded
    said = []
    loaded = _record(folder, said)
    assert not said
    assert [s.stamp for s in loaded.stream.steps] == [s.stamp for s in recording.stream.steps]
    assert len(loaded.stream.keyframes()) == len(recording.stream.keyframes())


def test_a_tour_is_remembered_as_the_robot_remembers_it(recorded):
    recording, _ = recorded
    remembered = OwnAnswerer(PhraseBook(LetterEmbedder())).remember(recording.stream)
    memories = [remembered.store.get(identity) for identity in remembered.store.identities()]
    with_images = [memory for memory in memories if memory.keyframe_ids]
    sessions = {keyframe.session_id for keyframe in recording.stream.keyframes().keyframes()}
    assert with_images and {memory.keyframe_session for memory in with_images} == sessions
    assert len(remembered.looks) > 0
    remembered.store.close()


def test_other_settings_are_another_tour(recorded, monkeypatch):
    _, folder = recorded
    driven = []

    class Stop(Exception):
        pass

    def drive(spec, seed):
        driven.append(seed)
        raise Stop

    monkeypatch.setattr(tours, "world_from_spec", drive)
    with pytest.raises(Stop):
        tour_of("office", 1, lambda: PhraseBook(LetterEmbedder()), folder, print, replace(SHORT, limit=15.0))
    assert driven == [1]


def test_a_folder_that_others_may_write_to_is_refused(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(UnsafeFolder, match="others may write"):
        _record(folder)


def test_things_of_a_recording_are_those_of_its_world(recorded):
    recording, _ = recorded
    truth = TourTruth(recording.world, recording.glances)
    assert BIN in truth.stays and truth.end == recording.stream.end


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "11"], "are reserved; use --wordings both"),
        (["--rows", "magic"], "there is no row 'magic'"),
        (["--worlds", "castle"], "there is no world 'castle'"),
    ],
)
def test_bad_options_are_refused_in_words(arguments, said, tmp_path, capsys):
    assert main(["memory-qa", *arguments, "--out", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


def test_the_benchmark_tells_a_table_of_its_rows(recorded, tmp_path, monkeypatch):
    recording, folder = recorded
    monkeypatch.setattr(tours, "tour_of", lambda *given, **named: recording)
    from lodestar_eval.memory_qa import question_set

    counts = {"spatial": 2, "yes_no": 2, "descriptive": 0, "temporal": 2, "picture": 0}
    real = question_set.questions_of
    monkeypatch.setattr(
        question_set, "questions_of", lambda *given, **named: real(*given[:4], counts, lambda stay: None)
    )
    status = main(
        ["memory-qa", "--worlds", "office", "--seeds", "1", "--out", str(tmp_path), "--tours", str(folder)]
    )
    assert status == 1  # with six questions after a short tour, the robot's own rows miss their bars
    with open(tmp_path / "memory_qa.csv", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["row"] == "oracle"]
    assert len(lines) == 6 and all(line["right"] == "1" for line in lines)
    assert (tmp_path / "risk_coverage.png").exists()
    assert "| oracle | 1.000 (0.54 to 1.00) |" in (tmp_path / "memory-qa.md").read_text(encoding="utf-8")
    metrics = json.loads((tmp_path / "memory-qa.json").read_text(encoding="utf-8"))["metrics"]
    assert metrics["sr.all.oracle"] == 1.0 and metrics["tour.things.office.1"] > 0.0
    assert set(memory_qa.RESERVED_SEEDS) == {11, 12, 13}
