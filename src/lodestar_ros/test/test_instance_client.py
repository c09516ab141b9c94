"""The follower of the instances: whatever way a session begins, all its instances are paged once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from lodestar.mapping.records import InstanceDelta
from lodestar_ros import scene_client
from lodestar_ros.conversions_scene import instances_to_msg


class FakePager:
    """Remembers since when it was asked to page."""

    def __init__(self, _node, _type, _name, since, _read, on_pages):
        self._since, self.on_pages, self.fills, self.asked = since, on_pages, 0, []

    def fill(self):
        self.asked.append(self._since())


@pytest.fixture
def client(monkeypatch):
    monkeypatch.setattr(scene_client, "Pager", FakePager)
    values = SimpleNamespace(value=lambda *_: None)
    node = SimpleNamespace(listen=lambda *_, **__: None, diagnostics=values)
    client = scene_client.InstanceClient(node, lambda delta: None, lambda *whole: client.whole.append(whole))
    client.whole = []
    return client


def delta(session, revision, previous):
    return InstanceDelta(
        stamp=1.0, revision=revision, previous_revision=previous, session_id=session, map_id=1
    )


def hear(client, *given):
    client._on_message(instances_to_msg(delta(*given)))


@pytest.mark.parametrize("first", [(1, 0), (41, 40)], ids=["empty", "restored"])
def test_a_source_that_was_started_again_is_paged_whole(client, first):
    """One that came back empty begins at revision 1: no gap tells that something is missing there."""
    client._pager.on_pages([delta("abc", 40, 0)])
    hear(client, "abc", 41, 40)
    assert client.whole == [("abc", [])]
    client._pager.asked.clear()
    hear(client, "abc+1", *first)
    hear(client, "abc+1", first[0] + 1, first[0])
    assert client._pager.asked and set(client._pager.asked) == {0}
    client._pager.on_pages([delta("abc+1", first[0] + 1, 0)])
    assert client.whole[1:] == [("abc+1", [])]


def test_a_gap_is_filled_from_what_was_known(client):
    client._pager.on_pages([delta("abc", 40, 0)])
    client._pager.asked.clear()
    hear(client, "abc", 45, 44)
    assert client._pager.asked == [40]
    client._pager.on_pages([delta("abc", 45, 40)])
    assert len(client.whole) == 1, "these pages did not hold all"
