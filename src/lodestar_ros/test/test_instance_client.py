"""Tests of the instance client: its service requests, and its handling of the answers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from rclpy.task import Future

from lodestar.mapping.follower import ALL, Cursor
from lodestar.mapping.instances.records import InstanceDelta
from lodestar_interfaces.srv import GetInstances
from lodestar_ros.conversions_scene import instances_to_msg
from lodestar_ros.scene_client import InstanceClient


class FakeNode:
    """Fake node whose service answers on command of the test."""

    def __init__(self):
        self.asked, self._futures = [], []
        self.diagnostics = SimpleNamespace(value=lambda *_: None)

    def create_client(self, *_):
        return SimpleNamespace(service_is_ready=lambda: True, call_async=self._call)

    def create_timer(self, _period, look, **_):
        self.look = look

    def get_logger(self):
        return SimpleNamespace(error=lambda *_, **__: None)

    def listen(self, _type, _topic, hear, *_, **__):
        self.hear = lambda *given: hear(instances_to_msg(delta(*given)))

    def _call(self, request):
        self.asked.append(Cursor(request.since_revision, request.since_id))
        self._futures.append(Future())
        return self._futures[-1]

    def answer(self, *given, until_id=ALL):
        response = GetInstances.Response(instances=instances_to_msg(delta(*given)), until_id=until_id)
        future = self._futures.pop(0)
        future.set_result(response)
        future._schedule_or_invoke_done_callbacks()

    def fail(self):
        future = self._futures.pop(0)
        future.set_exception(RuntimeError("the service has gone"))
        future._schedule_or_invoke_done_callbacks()


def delta(session, revision, previous):
    return InstanceDelta(
        stamp=1.0, revision=revision, previous_revision=previous, session_id=session, map_id=1
    )


@pytest.fixture
def node():
    return FakeNode()


@pytest.fixture
def client(node):
    heard, whole = [], []
    client = InstanceClient(node, lambda one: heard.append(one.revision), lambda *given: whole.append(given))
    client.heard, client.whole = heard, whole
    return client


@pytest.mark.parametrize("first", [(1, 0), (41, 40)], ids=["empty", "restored"])
def test_a_source_that_was_started_again_is_paged_whole(client, node, first):
    """A source restarted empty begins at revision 1, so that no gap in revisions is visible."""
    node.answer("abc", 40, 0)
    node.hear("abc", 41, 40)
    assert client.whole == [("abc", [])] and client.heard == [40, 41]
    node.asked.clear()
    node.hear("abc+1", *first)
    node.answer("abc+1", first[0], 41)
    node.answer("abc+1", first[0], 0)
    assert node.asked == [Cursor(41), Cursor(0)]
    assert client.whole[1:] == [("abc+1", [])]


def test_a_gap_is_filled_from_what_was_known_and_its_evidence_is_passed_on(client, node):
    node.answer("abc", 40, 0)
    node.hear("abc", 45, 44)
    assert node.asked[1:] == [Cursor(40)]
    node.answer("abc", 46, 40)
    assert client.heard == [40, 45, 46] and len(client.whole) == 1, "these pages did not hold all"


def test_pages_go_on_from_their_own_end(client, node):
    node.answer("abc", 12, 0, until_id=7)
    assert node.asked == [Cursor(0), Cursor(12, 7)] and client.heard == []
    node.answer("abc", 15, 12)
    assert client.heard == [12, 15]


def test_a_failed_request_is_repeated_by_the_timer_only(client, node):
    node.fail()
    assert len(node.asked) == 1
    node.look()
    assert len(node.asked) == 2


def test_a_restart_pages_everything_again(client, node):
    node.answer("abc", 40, 0)
    client.restart()
    node.look()
    assert node.asked[1:] == [Cursor(0)]
    node.answer("abc", 40, 0)
    assert len(client.whole) == 2
