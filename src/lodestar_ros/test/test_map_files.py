"""Tests of loading a whole map without DDS."""

from __future__ import annotations

import time
from types import SimpleNamespace

from lodestar_ros.map_files import MapFiles
from lodestar_ros.workers import QueueWorker


def test_a_load_has_told_its_followers_when_it_returns():
    told, files = [], MapFiles.__new__(MapFiles)
    worker = QueueWorker("scene", lambda work: work())
    files._on_worker, files._loaded = worker.submit, told.append
    files._scene = SimpleNamespace(flush=lambda: "the loaded scene")
    worker.submit(lambda: time.sleep(0.3))
    files._tell_followers()
    assert told == ["the loaded scene"]
    worker.close()
