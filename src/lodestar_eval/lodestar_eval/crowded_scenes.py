"""Scenes with any number of objects, at the density of a furnished building."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import make_transform
from lodestar.mapping.pillars import PillarMap, build_pillars
from lodestar.models.lexicon import load_lexicon
from lodestar.perception.frames import Detection, ImageBox, RgbdFrame, SegmentedFrame
from lodestar.scene.captions import attributes_of
from lodestar.scene.records import Entity

#: A camera above the objects; 3.2 x 2.4 m of floor are in its image.
CAMERA = PinholeCamera(320, 240, 200.0, 200.0, 159.5, 119.5)
_HEIGHT, _TOP = 2.0, 0.2  # m, of the camera and of the things
_PITCH = 30  # pixels from one thing to the next, 0.27 m at their tops
_SIZE = 22  # pixels, a thing of 0.2 m
_GRID = (8, 10)  # things in one image
PER_TILE = _GRID[0] * _GRID[1]
_DOWN = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])


def labels() -> tuple[str, ...]:
    """Names of things from the lexicon, in alphabetical order."""
    lexicon = load_lexicon()
    return tuple(
        sorted(n for n in lexicon.nouns if n not in lexicon.structure and n not in lexicon.generic_nouns)
    )


@dataclass(frozen=True)
class TableTop:
    """Tiles of adjacent objects, each seen from above by a camera of its own. count: all objects."""

    count: int
    period: float = 0.25  # s between images

    @property
    def tiles(self) -> int:
        """Return the number of images that show everything once."""
        return math.ceil(self.count / PER_TILE)

    def frame(self, tile: int, stamp: float) -> tuple[RgbdFrame, SegmentedFrame]:
        """The image of one tile; those on its edge that are beyond `count` are left out."""
        side = math.ceil(math.sqrt(self.tiles))
        x, y = 3.2 * (tile % side), 2.4 * (tile // side)
        depth = np.full((CAMERA.height, CAMERA.width), _HEIGHT, np.float32)
        image = np.zeros(depth.shape, np.uint16)
        names, detections = labels(), []
        for place in range(min(PER_TILE, self.count - tile * PER_TILE)):
            row, column = 4 + _PITCH * (place // _GRID[1]), 14 + _PITCH * (place % _GRID[1])
            part = (slice(row, row + _SIZE), slice(column, column + _SIZE))
            depth[part], image[part] = _HEIGHT - _TOP, place + 1
            label = names[(tile * 31 + place) % len(names)]
            box = ImageBox(column, row, _SIZE, _SIZE)
            detections.append(Detection(place + 1, label, label, 0.9, box, _SIZE**2))
        pose = make_transform(_DOWN, (x, y, _HEIGHT))
        return RgbdFrame(stamp, CAMERA, depth, pose), SegmentedFrame(stamp, image, tuple(detections))

    def tour(self, looks: int, start: float = 1.0) -> Iterator[tuple[RgbdFrame, SegmentedFrame]]:
        """Yield every tile in turn, each `looks` times in a row."""
        for step in range(self.tiles * looks):
            yield self.frame(step // looks, start + step * self.period)


def crowd(count: int, kinds: int, rng: np.random.Generator) -> dict[int, Entity]:
    """Return entities of `kinds` different captions, 8 per m^2 of a square plan."""
    names, colors = labels(), ("red", "blue", "green", "white", "black", "brown", "yellow", "gray")
    side = math.sqrt(count / 8.0)
    centers = np.column_stack([rng.uniform(0.0, side, (count, 2)), rng.uniform(0.1, 1.5, count)])
    halves = rng.uniform(0.05, 0.25, (count, 3))
    entities = {}
    for index in range(count):
        kind = index % kinds
        label, color = names[kind % len(names)], colors[kind // len(names) % len(colors)]
        number = kind // (len(names) * len(colors))
        caption = f"{color} {label}" + (f" with the number {number}" if number else "")
        low, high = centers[index] - halves[index], centers[index] + halves[index]
        entities[index + 1] = Entity(
            index + 1, label, caption, centers[index], np.diag(halves[index] ** 2 / 3.0), low, high,
            attributes=attributes_of(caption),
        )  # fmt: skip
    return entities


def pillars_of(entities: dict[int, Entity], resolution: float = 0.1) -> PillarMap:
    """The pillars of boxes, each filled with points."""
    steps = np.stack(np.meshgrid(*[(np.arange(5) + 0.5) / 5.0] * 2, indexing="ij"), -1).reshape(-1, 2)
    low = np.array([e.box_min[:2] for e in entities.values()])
    high = np.array([e.box_max[:2] for e in entities.values()])
    points = (low[:, None] + steps[None] * (high - low)[:, None]).reshape(-1, 2)
    ids = np.repeat(np.fromiter(entities, np.int32), len(steps))
    return build_pillars(np.column_stack([points, np.zeros(len(points))]), ids, resolution)
