"""Grids, views and requests for tests of experts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.experts.protocol import ProposalRequest
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, inverse, planar_transform, transform_points
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.visibility import visible_mask
from lodestar.language.directive import Directive, Item, Step, StepKind
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.perception.frames import Detection, ImageBox, RgbdFrame, SegmentedFrame
from lodestar.scene.records import Entity

CAMERA = PinholeCamera(160, 120, 95.0, 95.0, 79.5, 59.5)


def two_rooms() -> OccupancyGrid2D:
    """Return a grid of two rooms of 4 x 4 m side by side, with a door of 1 m between them at (4, 2)."""
    cells = np.zeros((40, 80), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1], cells[:, 40] = 100, 100, 100, 100, 100
    cells[15:25, 40] = 0
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0))


def known_from(truth: OccupancyGrid2D, points, reach: float = 20.0) -> OccupancyGrid2D:
    """Return the part of the grid that a LiDAR at these points would know."""
    seen = np.zeros(truth.cells.shape, bool)
    for point in points:
        seen |= visible_mask(truth, point, reach)
    return OccupancyGrid2D(np.where(seen, truth.cells, -1).astype(np.int8), truth.resolution, truth.origin)


def camera_pose(x: float, y: float, yaw: float) -> np.ndarray:
    """Return map_from_camera of a level camera 0.45 m above the floor."""
    return planar_transform(x, y, yaw, 0.45) @ BODY_FROM_OPTICAL


def any_of(kind: str) -> Item:
    """Return an item for any object of a kind."""
    return Item(((QueryGraph((QueryVariable(kind, kind),)),),))


def red_chair(relation: str | None = None) -> Item:
    """Return an item for a red chair, next to a desk if a relation is given."""
    chair = QueryVariable("red chair", "chair")
    predicates = [Predicate("HasAttribute", (0,), "red")]
    variables = [chair]
    if relation is not None:
        variables.append(QueryVariable("desk", "desk"))
        predicates.append(Predicate(relation, (0, 1)))
    return Item(((QueryGraph(tuple(variables), tuple(predicates)),),))


def request(pose, item: Item | None = None, kind=StepKind.FIND, **changes) -> ProposalRequest:
    """Return a request of epoch 1 at time 10; the default item is an unspecified object, if the kind needs one."""
    if item is None and kind is StepKind.FIND:
        item = Item()
    directive = Directive("find it", (Step(kind, item),))
    return ProposalRequest(1, 10.0, directive, 0, np.asarray(pose, np.float64), **changes)


def furnished(*things: Entity) -> OccupancyGrid2D:
    """Return the grid of a room of 8 x 8 m with these objects."""
    cells = np.zeros((80, 80), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = 100, 100, 100, 100
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    for one in things:
        low, high = grid.cells_of(np.stack([one.box_min, one.box_max]))
        cells[low[0] : high[0] + 1, low[1] : high[1] + 1] = 100
    return grid


def thing(identity: int, x: float, y: float, caption: str, size: float = 0.5) -> Entity:
    """Return an entity: a cube on the floor at (x, y)."""
    middle = np.array([x, y, size / 2])
    return Entity(
        id=identity,
        label=caption.split()[-1],
        caption=caption,
        mean=middle,
        covariance=np.eye(3) * size**2 / 12.0,
        box_min=middle - size / 2,
        box_max=middle + size / 2,
    )


@dataclass(frozen=True)
class Block:
    """A cube that a camera can see."""

    x: float
    y: float
    label: str
    caption: str
    size: float = 0.5


def photograph(
    pose, *blocks: Block, background: float = 6.0, stamp: float = 9.9
) -> tuple[RgbdFrame, SegmentedFrame]:
    """Return the view of a level camera at pose (x, y, yaw): flat blocks before a flat background."""
    map_from_camera = camera_pose(*pose)
    depth = np.full((CAMERA.height, CAMERA.width), background, np.float32)
    labels = np.zeros(depth.shape, np.uint16)
    detections = []
    for value, block in enumerate(blocks, start=3):
        corners = np.array(
            [(block.x + dx, block.y + dy, z) for dx in (-1, 1) for dy in (-1, 1) for z in (0.0, block.size)]
        )
        corners[:, :2] = (corners[:, :2] - (block.x, block.y)) * block.size / 2 + (block.x, block.y)
        seen = transform_points(inverse(map_from_camera), corners)
        pixels, inside = CAMERA.project(seen)
        if not inside.any() or seen[:, 2].min() < 0.2:
            continue
        low = np.clip(np.floor(pixels.min(0)), 0, (CAMERA.width - 1, CAMERA.height - 1)).astype(int)
        high = np.clip(np.ceil(pixels.max(0)), 0, (CAMERA.width - 1, CAMERA.height - 1)).astype(int)
        rows, columns = slice(low[1], high[1] + 1), slice(low[0], high[0] + 1)
        depth[rows, columns] = seen[:, 2].min()
        labels[rows, columns] = value
        box = ImageBox(int(low[0]), int(low[1]), int(high[0] - low[0] + 1), int(high[1] - low[1] + 1))
        count = int((labels == value).sum())
        detections.append(Detection(value, block.label, block.caption, 0.9, box, count))
    frame = RgbdFrame(stamp, CAMERA, depth, map_from_camera)
    return frame, SegmentedFrame(stamp, labels, tuple(detections), "test")
