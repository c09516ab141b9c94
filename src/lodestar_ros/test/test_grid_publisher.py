"""The plan grid is published on changes, refreshed, and repeated a few times while no turn follows."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_ros import grid_publisher
from lodestar_ros.grid_publisher import GridPublisher


class FakeNode:
    """Keeps what is published, and the timer's callback."""

    def __init__(self):
        self.sent = []

    def create_publisher(self, *_):
        return self

    def publish(self, message):
        self.sent.append(message)

    def steady_timer(self, period, callback):
        self.fire = callback


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(grid_publisher.time, "monotonic", lambda: now[0])
    return now


def grid(stamp, free=3):
    cells = np.full((4, 4), -1, np.int8)
    cells[0, :free] = 0
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0), stamp=stamp)


def test_a_grid_goes_out_when_it_changes_and_when_the_refresh_is_due(clock):
    node = FakeNode()
    publisher = GridPublisher(node, 3.0)
    assert not publisher.has_published
    publisher.publish(grid(1.0))
    publisher.publish(grid(2.0))
    assert len(node.sent) == 1 and publisher.has_published
    publisher.publish(grid(3.0, free=4))
    assert len(node.sent) == 2
    clock[0] += 3.1
    publisher.publish(grid(6.0, free=4))
    assert [message.header.stamp.sec for message in node.sent] == [1, 3, 6]


def test_without_turns_a_grid_is_repeated_with_its_stamp_and_then_grows_old(clock):
    node = FakeNode()
    publisher = GridPublisher(node, 3.0)
    node.fire()
    assert not node.sent, "there is none yet"
    publisher.publish(grid(1.0))
    for _ in range(20):
        clock[0] += 3.1
        node.fire()
    assert len(node.sent) == 6 and {message.header.stamp.sec for message in node.sent} == {1}
    publisher.publish(grid(70.0))
    clock[0] += 3.1
    node.fire()
    assert len(node.sent) == 8


def test_between_turns_nothing_is_repeated(clock):
    node = FakeNode()
    publisher = GridPublisher(node, 3.0)
    for k in range(10):
        publisher.publish(grid(float(k), free=k % 4))
        clock[0] += 1.0
        node.fire()
    assert len(node.sent) == 10
