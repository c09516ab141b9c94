"""Tests that amendments of the scene survive kill -9, whatever the last checkpoint contains."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scene"))

from scene_builders import Feed, instance

from lodestar.scene.amendments import AmendmentRefused
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.persistence import KIND, VERSION, scene_from_archive, scene_to_archive
from lodestar.scene.records import EntityState, Refusal
from lodestar.storage.checkpoint import Checkpoint, CheckpointConfig
from lodestar.worldmodel.amendments import Amendment, Change
from lodestar.worldmodel.records import Belief
from lodestar.worldmodel.scene_journal import SceneJournal, journal_of_run

RUN = "run-1"
STOOL = Amendment(Change.RELABEL, "the operator says so", "operator", 1, label="stool")
GONE = Amendment(Change.ARCHIVE, "depth passes through its place", "recovery", 2)
TWO = (instance(1), instance(2, (3.0, 0.0, 0.5)))

CHILD = """
import sys, time
from pathlib import Path
sys.path[:0] = [{tests!r}, {builders!r}]
from test_scene_journal import *

with_checkpoint, folder = sys.argv[1] == "checkpoint", Path(sys.argv[2])
scene = SceneDictionary()
scene.update(Feed()(updated=TWO))
if with_checkpoint:
    kept(folder).write(scene_to_archive(scene))
journal = SceneJournal(journal_of_run(folder, RUN))
journal.amend(scene, (STOOL,))
journal.amend(scene, (GONE,))
print(scene.revision, flush=True)  # the answer of the service
time.sleep(600.0)
"""


def kept(folder: Path) -> Checkpoint:
    return Checkpoint(CheckpointConfig(str(folder), RUN), "scene_dictionary", {KIND: VERSION})


def successor(folder: Path) -> tuple[SceneDictionary, SceneJournal]:
    """Return the scene and journal with which the next process begins."""
    scene, journal, revision = SceneDictionary(), SceneJournal(journal_of_run(folder, RUN)), 0
    found = kept(folder).read()
    if found is not None:
        saved = scene_from_archive(found.archive, scene.config, 1e9, resumes=True)
        scene.resume(saved.state, saved.map_id, saved.session_id)
        revision = saved.revision
    journal.replay(scene, revision)
    return scene, journal


def beliefs(scene: SceneDictionary) -> dict[int, tuple[str, EntityState]]:
    return {i: (e.label, e.state) for i, e in scene.entities().items()}


AMENDED = {1: ("stool", EntityState.ACTIVE), 2: ("chair", EntityState.ARCHIVED)}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "run"


@pytest.fixture
def first(folder):
    """Return a scene of two chairs with its journal, and a checkpoint from before any amendment."""
    scene = SceneDictionary()
    scene.update(Feed()(updated=TWO))
    kept(folder).write(scene_to_archive(scene))
    return scene, SceneJournal(journal_of_run(folder, RUN))


@pytest.mark.parametrize("checkpoint", ["checkpoint", "none"])
def test_what_was_answered_outlives_kill_9(folder, checkpoint):
    here = Path(__file__).parent
    code = CHILD.format(tests=str(here), builders=str(here.parent / "scene"))
    child = subprocess.Popen(
        [sys.executable, "-c", code, checkpoint, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and int(child.stdout.readline()) > 0
    child.kill()
    assert child.wait() == -signal.SIGKILL
    scene, journal = successor(folder)
    if checkpoint == "none":  # the voxel map publishes its instances again
        assert beliefs(scene) == {}
        scene.update(Feed()(updated=TWO))
        assert len(journal.settle(scene)) == 2
    assert beliefs(scene) == AMENDED and journal.problems == []


def test_what_the_checkpoint_holds_is_not_done_again(first, folder):
    scene, journal = first
    journal.amend(scene, (GONE,))
    journal.amend(scene, (replace(GONE, change=Change.RESTORE),))
    kept(folder).write(scene_to_archive(scene))
    again, journal = successor(folder)
    assert beliefs(again)[2] == ("chair", EntityState.ACTIVE)
    assert journal.replay(again, again.revision) == 0


def test_a_second_death_before_the_next_checkpoint_loses_nothing(first, folder):
    scene, journal = first
    journal.amend(scene, (STOOL,))
    scene, journal = successor(folder)
    journal.amend(scene, (GONE,))
    again, _ = successor(folder)
    assert beliefs(again) == AMENDED
    kept(folder).write(scene_to_archive(again))
    last, _ = successor(folder)
    assert beliefs(last) == AMENDED


def test_a_refused_request_is_not_written(first, folder):
    scene, journal = first
    with pytest.raises(AmendmentRefused):
        journal.amend(scene, (GONE, replace(STOOL, entity_id=77)))
    with pytest.raises(AmendmentRefused):
        journal.amend(scene, ())
    again, _ = successor(folder)
    assert beliefs(again) == {1: ("chair", EntityState.ACTIVE), 2: ("chair", EntityState.ACTIVE)}


def test_what_cannot_be_written_is_not_carried_out(first, monkeypatch):
    scene, journal = first

    def full(line):
        raise OSError("no space left on device")

    monkeypatch.setattr(journal._journal, "append", full)
    with pytest.raises(OSError, match="no space"):
        journal.amend(scene, (GONE,))
    assert beliefs(scene)[2] == ("chair", EntityState.ACTIVE)


def test_a_loaded_map_has_no_amendments_of_the_one_before(first, folder):
    scene, journal = first
    journal.amend(scene, (GONE,))
    take_back = journal.clear()
    again, _ = successor(folder)
    assert beliefs(again)[2] == ("chair", EntityState.ACTIVE)
    take_back()  # the load has failed, so it is undone
    again, _ = successor(folder)
    assert beliefs(again)[2] == ("chair", EntityState.ARCHIVED)


def test_the_journal_of_another_run_says_nothing(first, folder):
    scene, journal = first
    journal.amend(scene, (GONE,))
    other = journal_of_run(folder, "run-2")
    assert other.lines == [] and len(other.problems) == 1


def test_a_line_that_is_no_request_is_named_and_the_rest_carried_out(first, folder):
    scene, journal = first
    journal.amend(scene, (STOOL,))
    journal_of_run(folder, RUN).append({"op": "amend", "revision": 9})
    journal.amend(scene, (GONE,))
    again, journal = successor(folder)
    assert beliefs(again) == AMENDED
    assert len(journal.problems) == 1 and "line 3" in journal.problems[0]


def test_a_malformed_relation_is_refused_by_the_scene(tmp_path):
    scene = SceneDictionary()
    scene.update(Feed()(updated=TWO))
    eats = Amendment(Change.RELATE, "", "skill", belief=Belief("Eats", ("entity:1",) * 200))
    journal = SceneJournal(journal_of_run(tmp_path, RUN))
    with pytest.raises(AmendmentRefused, match="Eats") as refused:
        journal.amend(scene, (GONE, eats))
    assert refused.value.refusal is Refusal.BAD_REQUEST
    assert scene.state.records[2].state is EntityState.ACTIVE
