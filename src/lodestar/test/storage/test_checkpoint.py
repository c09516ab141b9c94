"""Tests that the next process of the same run continues from a checkpoint, and no other does."""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest

from lodestar.storage.archive import Archive, ForeignFile
from lodestar.storage.checkpoint import Checkpoint, CheckpointConfig
from lodestar.storage.private import UnsafeFolder


@pytest.fixture
def config(tmp_path):
    return CheckpointConfig(folder=str(tmp_path / "run"), run="run-1")


def open_(config):
    return Checkpoint(config, "mapping", {"test": 1})


def test_the_next_process_of_the_run_goes_on(config):
    first = open_(config)
    assert not first.restarted and first.read() is None
    first.note(next_id=7)
    first.write(Archive("test", 1, {"revision": 3}, {"value": np.arange(4)}))
    first.note(next_id=9)
    second = open_(config)
    assert second.restarted and second.notes == {"next_id": 9}
    kept = second.read()
    assert kept.archive.meta == {"revision": 3} and (kept.archive.arrays["value"] == np.arange(4)).all()
    assert 0.0 <= kept.age < 60.0


def test_another_run_begins_with_nothing(config):
    first = open_(config)
    first.note(next_id=7)
    first.write(Archive("test", 1, {}, {}))
    other = open_(dataclasses.replace(config, run="run-2"))
    assert not other.restarted and not other.notes and other.read() is None


def test_a_process_that_died_before_its_first_checkpoint_left_its_notes(config):
    open_(config).note(next_id=3)
    second = open_(config)
    assert second.restarted and second.read() is None and second.notes == {"next_id": 3}


def test_without_a_run_nothing_is_written(tmp_path):
    checkpoint = open_(CheckpointConfig(folder=str(tmp_path / "run")))
    checkpoint.note(next_id=3)
    assert not checkpoint.enabled and checkpoint.read() is None
    assert not list(tmp_path.iterdir())


def test_a_damaged_checkpoint_is_refused_and_damaged_notes_are_none(config, tmp_path):
    first = open_(config)
    first.write(Archive("test", 1, {}, {"value": np.zeros(100)}))
    os.truncate(tmp_path / "run" / "mapping.lodestar", 300)
    (tmp_path / "run" / "mapping.json").write_text("{")
    second = open_(config)
    assert not second.notes
    with pytest.raises(ForeignFile):
        second.read()


def test_a_folder_of_somebody_else_is_refused(tmp_path):
    (tmp_path / "run").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "run")
    with pytest.raises(UnsafeFolder):
        open_(CheckpointConfig(folder=str(tmp_path / "link"), run="x"))


@pytest.mark.parametrize("wrong", [{"interval": 0.0}, {"share": 0.0}, {"share": 1.5}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="interval"):
        CheckpointConfig(**wrong)
