"""Tests of workers beside the callbacks: newer work replaces older, nothing else is lost, errors are survived."""

from __future__ import annotations

import math
import threading
import time
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from waiting import PATIENCE

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.assembly.config import SceneDictionaryConfig
from lodestar_interfaces import srv
from lodestar_interfaces.action import AnswerQuestion
from lodestar_ros.answer_server import _say_why
from lodestar_ros.node import LodestarNode
from lodestar_ros.scene_enrichment import SceneEnrichment
from lodestar_ros.services import ServiceCaller
from lodestar_ros.workers import Job, LatestWorker, QueueWorker, Refused, refuse, work_together


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.001)


def test_latest_worker_drops_what_is_overtaken():
    started, go, done = threading.Event(), threading.Event(), []

    def work(item):
        started.set()
        go.wait(PATIENCE)
        done.append(item)

    worker = LatestWorker("test", work)
    worker.submit(1)
    assert started.wait(PATIENCE)
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
    assert done.wait(PATIENCE)
    worker.close()
    assert worker.failed == 1


def test_queue_worker_loses_nothing_and_ends_after_the_last():
    done = []
    worker = QueueWorker("test", done.append)
    for item in range(500):
        worker.submit(item)
    worker.close()
    assert done == list(range(500))


def test_at_the_end_of_a_node_nothing_new_is_begun_once_what_is_under_way_was_cancelled():
    cancelled, begun, node = threading.Event(), [], MagicMock()

    def work():
        begun.append(cancelled.is_set())
        cancelled.wait(PATIENCE)

    work_together(node, "test", 3, 0.5, SimpleNamespace(work=work), cancelled.set)
    (_, wake), (close,) = node.steady_timer.call_args.args, node.on_close.call_args.args
    wake()
    until(lambda: len(begun) == 3)
    wake()  # queue work for every thread
    close()
    assert begun == [False] * 3 and cancelled.is_set()


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


@pytest.mark.parametrize(
    "service",
    [srv.AmendScene, srv.EmbedTexts, srv.EraseKeyframes, srv.GetKeyframe, srv.GetSnapshots, srv.ManageMemory,
     srv.NameRegion, srv.PointOut, srv.ValidateTrace],
)  # fmt: skip
def test_what_no_service_foresaw_is_no_success(service):
    answer = refuse(MagicMock(), service.Response(), ZeroDivisionError("oops"), {})
    assert answer.error_code == answer.UNKNOWN > 11000 and answer.error_msg == "ZeroDivisionError: oops"


def test_a_response_without_a_code_is_sent_and_the_error_logged():
    """Without a response the client would wait forever."""
    node, response = MagicMock(), srv.ListKeyframes.Response(more=True)
    assert refuse(node, response, OSError("gone"), {OSError: 3}) is response
    assert refuse(node, response, ZeroDivisionError("oops"), {}).more
    assert node.get_logger().error.call_count == 1


def test_a_question_without_an_answer_says_why():
    result = refuse(MagicMock(), AnswerQuestion.Result(), Refused(11225, "cancelled"), {})
    _say_why(result)
    assert (result.error_code, result.answer, result.error_msg) == (11225, "cancelled", "cancelled")
    assert math.isnan(result.number) and math.isnan(result.coverage)


@pytest.mark.parametrize("early", [True, False])
def test_no_worker_waits_for_a_service_when_the_node_ends(early):
    caller, given = ServiceCaller(MagicMock(), srv.GetKeyframe, "get_keyframe", 2 * PATIENCE), []
    if early:
        caller.close()
    thread = threading.Thread(target=lambda: given.append(caller.call(id=1)))
    thread.start()
    if not early:
        until(lambda: caller._waiting)
        caller.close()
    thread.join(PATIENCE)
    assert given == [None]


def test_images_are_not_waited_for_by_the_workers_that_end():
    """Close functions are called in reverse order, so the images must be registered last."""
    node = MagicMock()
    enrichment = SceneEnrichment(node, MagicMock(), SceneDictionaryConfig())
    assert node.on_close.call_args_list[-1].args == (enrichment._images.close,)
    enrichment._worker.close()


def test_what_fails_at_the_end_of_a_node_keeps_nothing_else_from_ending():
    ended, node = [], MagicMock()
    node._closers = [lambda: ended.append(1), lambda: 1 / 0, lambda: ended.append(2)]
    LodestarNode.close(node)
    assert ended == [2, 1] and node.get_logger().error.call_count == 1
