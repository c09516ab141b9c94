"""Grids, views and requests for tests of experts."""

from __future__ import annotations

import numpy as np

from lodestar.experts.protocol import ProposalRequest
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.visibility import visible_mask
from lodestar.language.directive import Directive, DirectiveKind, Subtask
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable

CAMERA = PinholeCamera(160, 120, 95.0, 95.0, 79.5, 59.5)


def two_rooms() -> OccupancyGrid2D:
    """Rooms of 4 x 4 m side by side, a door of 1 m between them at (4, 2)."""
    cells = np.zeros((40, 80), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1], cells[:, 40] = 100, 100, 100, 100, 100
    cells[15:25, 40] = 0
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0))


def known_from(truth: OccupancyGrid2D, points, reach: float = 20.0) -> OccupancyGrid2D:
    """What a LiDAR at these points knows of it."""
    seen = np.zeros(truth.cells.shape, bool)
    for point in points:
        seen |= visible_mask(truth, point, reach)
    return OccupancyGrid2D(np.where(seen, truth.cells, -1).astype(np.int8), truth.resolution, truth.origin)


def camera_pose(x: float, y: float, yaw: float) -> np.ndarray:
    """map_from_camera of a level camera 0.45 m above the floor."""
    return planar_transform(x, y, yaw, 0.45) @ BODY_FROM_OPTICAL


def red_chair(relation: str | None = None) -> Subtask:
    """Find a red chair, next to a desk where a relation is given."""
    chair = QueryVariable("red chair", "chair")
    predicates = [Predicate("HasAttribute", (0,), "red")]
    variables = [chair]
    if relation is not None:
        variables.append(QueryVariable("desk", "desk"))
        predicates.append(Predicate(relation, (0, 1)))
    return Subtask(
        "red chair", ("desk",) if relation else (), graphs=(QueryGraph(tuple(variables), tuple(predicates)),)
    )


def request(pose, subtask: Subtask | None = None, kind=DirectiveKind.FIND, **changes) -> ProposalRequest:
    """Epoch 1 at time 10."""
    subtasks = (subtask,) if subtask is not None else ()
    directive = Directive(kind, "find it", subtasks)
    return ProposalRequest(1, 10.0, directive, 0, np.asarray(pose, np.float64), **changes)
