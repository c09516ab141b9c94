"""Tests of the scene comparison between updates: moved objects are archived and reported on the updates' worker."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from waiting import PATIENCE

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

sys.path.insert(0, str(Path(__file__).parents[2] / "lodestar" / "test" / "scene"))
from session_builders import loaded, thing, yesterday

from lodestar.assembly.config import SceneDictionaryConfig
from lodestar.assembly.scene_chain import SceneChain
from lodestar.assembly.shared import SharedConfig
from lodestar.floors.records import Building
from lodestar.models.phrases import PhraseBook
from lodestar.scene.moved_things import MovedThings
from lodestar.scene.records import EntityState
from lodestar_ros.moved_things_watch import MovedThingsWatch

MUG, BOOK, NEW_MUG = 1, 4, 20


class Shell:
    """Fake node that stores timers, diagnostics values and jobs of its worker."""

    def __init__(self):
        self.timers, self.closing, self.jobs, self.told = [], [], [], []
        self.values, self.diagnostics, self.now = {}, self, 7.0

    def steady_timer(self, period, work):
        self.timers.append((period, work))

    def create_publisher(self, kind, topic, profile):
        self.changes = []
        self.readers, self.asked = 0, 0

        def count():
            self.asked += 1
            return self.readers

        return SimpleNamespace(publish=self.changes.append, get_subscription_count=count, topic_name=topic)

    def on_close(self, close):
        self.closing.append(close)

    def value(self, name, read):
        self.values[name] = read

    def error(self, error):
        raise AssertionError from error

    def until(self, holds):
        end = time.monotonic() + PATIENCE
        while not holds() and time.monotonic() < end:
            time.sleep(0.01)

    def until_job(self):
        self.until(lambda: self.jobs)
        return self.jobs.pop()


@pytest.fixture
def shell():
    shell = Shell()
    yield shell
    for close in shell.closing:
        close()


def watch(shell, scene):
    chain = SimpleNamespace(dictionary=scene, moved=MovedThings(scene), building=Building())
    MovedThingsWatch(shell, chain, 5.0, shell.jobs.append, shell.told.append)


def test_what_was_seen_elsewhere_is_archived_on_the_worker(shell):
    scene, news = loaded(yesterday())
    news(updated=(thing(BOOK, count=8, stamp=5.0),))
    news(updated=(thing(NEW_MUG, (4.0, 4.0, 0.9), label="mug", stamp=6.0),))
    watch(shell, scene)
    [(period, compare)] = shell.timers
    compare()
    job = shell.until_job()
    assert period == 5.0
    assert scene.entities()[MUG].state is EntityState.ACTIVE, "only the worker changes the scene"
    job()
    assert [e.id for delta in shell.told for e in delta.updated if e.state is EntityState.ARCHIVED] == [MUG]
    assert shell.values["archived.seen_elsewhere"]() == 1


def test_it_can_be_switched_off(shell):
    off = SceneDictionaryConfig(archive_moved=False)
    chain = SceneChain(off, SharedConfig(), PhraseBook())
    MovedThingsWatch(shell, chain, 5.0, shell.jobs.append, shell.told.append)
    assert not shell.timers and not shell.values


def test_changes_are_told_to_whoever_hears_them_and_once(shell):
    scene, news = loaded(yesterday())
    news(updated=(thing(BOOK, count=8, stamp=5.0),))
    watch(shell, scene)
    [(_, compare)] = shell.timers
    compare()
    shell.until(lambda: shell.asked)
    assert not shell.changes, "nobody hears"
    shell.readers = 1
    news(updated=(thing(NEW_MUG, (4.0, 4.0, 0.9), label="mug", stamp=6.0),))
    compare()
    shell.until(lambda: shell.changes)
    (told,) = shell.changes
    assert told.against and [(one.kind, list(one.entity_ids)) for one in told.changes] == [
        ("MOVED", [MUG, NEW_MUG])
    ]
    assert "moved" in told.changes[0].text and told.changes[0].place[0].x == pytest.approx(4.0)
