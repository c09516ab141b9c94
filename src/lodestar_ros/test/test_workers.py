"""Work beside the callbacks: the latest wins, nothing is lost, errors are survived."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros.workers import Job, LatestWorker, QueueWorker, Refused, refuse


def until(condition):
    end = time.monotonic() + 10.0
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.001)


def test_latest_worker_drops_what_is_overtaken():
    started, go, done = threading.Event(), threading.Event(), []

    def work(item):
        started.set()
        go.wait(5.0)
        done.append(item)

    worker = LatestWorker("test", work)
    worker.submit(1)
    assert started.wait(5.0)
    for item in (2, 3, 4):
        worker.submit(item)
    go.set()
    until(lambda: worker.done == 2)
    worker.close()
    assert (done, worker.dropped) == ([1, 4], 2)


def test_a_worker_survives_what_its_work_raises():
    errors, done = [], threading.Event()

    def work(item):
        if item == 0:
            raise ZeroDivisionError
        done.set()

    worker = LatestWorker("test", work, errors.append)
    worker.submit(0)
    until(lambda: errors)
    worker.submit(1)
    assert done.wait(5.0)
    worker.close()
    assert worker.failed == 1


def test_queue_worker_loses_nothing_and_ends_after_the_last():
    done = []
    worker = QueueWorker("test", done.append)
    for item in range(500):
        worker.submit(item)
    worker.close()
    assert done == list(range(500))


@pytest.mark.parametrize("early", [False, True], ids=("while it works", "before it waits"))
def test_a_cancel_reaches_what_the_work_waits_for_once(early):
    job, ended = Job(SimpleNamespace(request="a question"), None), []
    if early:
        job.request_cancel()
    job.when_cancelled(lambda: ended.append(True))
    assert len(ended) == (1 if early else 0)
    if not early:
        job.request_cancel()
    assert job.cancel_requested and ended == [True]


class _Answer:
    UNKNOWN = 99
    error_code, error_msg = 0, ""


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (Refused(7, "not now"), 7, "not now"),
        (FileNotFoundError("no file"), 3, "no file"),
        (OSError("disk full"), 4, "disk full"),
        (ZeroDivisionError("oops"), 99, "ZeroDivisionError: oops"),
    ],
)
def test_what_a_request_raises_becomes_its_code_and_sentence(error, code, text):
    logged = []
    node = SimpleNamespace(get_logger=lambda: SimpleNamespace(error=logged.append))
    answer = refuse(node, _Answer(), error, {FileNotFoundError: 3, OSError: 4})
    assert (answer.error_code, answer.error_msg) == (code, text)
    assert logged == ([text] if code == 99 else []), "only what nobody foresaw is logged"
