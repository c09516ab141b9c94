"""Tests that the planning grid is published only when it has changed."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_ros.grid_publisher import GridPublisher


class Publishers:
    """Fake node that stores published messages."""

    def __init__(self) -> None:
        self.messages: list = []

    def create_publisher(self, *_: object) -> Publishers:
        return self

    def publish(self, message: object) -> None:
        self.messages.append(message)


def grid(value: int = 0, origin: tuple[float, float] = (0.0, 0.0)) -> OccupancyGrid2D:
    return OccupancyGrid2D(np.full((4, 5), value, np.int8), 0.1, origin, 1.0)


@pytest.mark.parametrize(
    ("second", "published"), [(grid(), 1), (grid(value=100), 2), (grid(origin=(0.1, 0.0)), 2)]
)
def test_a_grid_goes_out_where_its_cells_or_their_place_have_changed(second, published):
    node = Publishers()
    publisher = GridPublisher(node, refresh=600.0)  # type: ignore[arg-type]
    publisher.publish(grid())
    publisher.publish(second)
    assert len(node.messages) == published and publisher.has_published
