"""Labelled images in memory: COCO folders of `lodestar_sim.dataset`, decoded in parallel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from lodestar_sim.dataset.coco import Annotation, CocoError, Image, decode_mask, read_instances
from lodestar_sim.worlds.palette import COLORS as PALETTE

IGNORED = 255  # class of pixels that are excluded from training
COLORS = tuple(PALETTE)  # colours that captions name
MOST_CLASSES = 250
MOST_THINGS = 250  # most objects in an image; further ones are ignored
EMPTY_SHARE = 0.1  # share of the images without any object that is kept; chosen
LEAST_PIXELS = 60  # least pixels of an object that counts for its class; the detector drops smaller ones


@dataclass(frozen=True)
class Images:
    """N images. rgb: (N, H, W, 3) uint8. kinds: (N, H, W) uint8, 0 = background, 1 + class, IGNORED.

    things: (N, H, W) uint8, 0 = background, objects numbered within each image. colors: (N, 256) uint8, colour of each
    object by its number, IGNORED = unknown.
    """

    rgb: np.ndarray
    kinds: np.ndarray
    things: np.ndarray
    colors: np.ndarray

    def __len__(self) -> int:
        return len(self.rgb)


def class_names(folders: Sequence[Path], least: int) -> tuple[str, ...]:
    """Return the classes with at least `least` objects of LEAST_PIXELS in the folders. Raises CocoError."""
    count: Counter[str] = Counter()
    for folder in folders:
        instances = read_instances(folder)
        names = {category.id: category.name for category in instances.categories}
        count.update(names[one.category_id] for one in instances.annotations if one.area >= LEAST_PIXELS)
    found = tuple(sorted(name for name, number in count.items() if number >= least))
    if not found or len(found) > MOST_CLASSES:
        raise CocoError(
            f"{len(found)} classes have {least} things or more; there must be 1 to {MOST_CLASSES}"
        )
    return found


def load_images(folders: Sequence[Path], names: Sequence[str], jobs: int, seed: int = 0) -> Images:
    """Return the images of the folders, all of one size. Objects of other classes are IGNORED. Raises CocoError."""
    todo: list[tuple[Path, Image, list[tuple[Annotation, int]]]] = []
    place = {name: number for number, name in enumerate(names, 1)}
    rng = np.random.default_rng(seed)
    for folder in folders:
        instances = read_instances(folder)
        kind_of = {category.id: place.get(category.name, IGNORED) for category in instances.categories}
        by_image: dict[int, list[tuple[Annotation, int]]] = {image.id: [] for image in instances.images}
        for one in instances.annotations:
            by_image[one.image_id].append((one, kind_of[one.category_id]))
        for image in instances.images:
            if by_image[image.id] or rng.random() < EMPTY_SHARE:
                todo.append((folder, image, by_image[image.id]))
    sizes = {(image.height, image.width) for _, image, _ in todo}
    if len(sizes) != 1:
        raise CocoError(f"the images have {len(sizes)} sizes: {sorted(sizes)}; they must have one")
    (height, width) = sizes.pop()
    shapes = ((height, width, 3), (height, width), (height, width), (256,))
    made = Images(*(np.zeros((len(todo), *shape), np.uint8) for shape in shapes))
    made.colors[:] = IGNORED
    with ThreadPoolExecutor(jobs) as pool:
        bad = [text for text in pool.map(partial(_load, made), range(len(todo)), todo) if text]
    if bad:
        raise CocoError(bad[0])
    return made


def _load(made: Images, index: int, wanted: tuple[Path, Image, list[tuple[Annotation, int]]]) -> str:
    """Fill in one image; return the problem with it, "" = none."""
    folder, image, annotations = wanted
    read = cv2.imread(str(folder / image.file_name), cv2.IMREAD_COLOR)
    if read is None or read.shape[:2] != made.kinds.shape[1:]:
        return f"{folder / image.file_name} is missing, broken or of another size"
    made.rgb[index] = read[:, :, ::-1]
    for number, (one, kind) in enumerate(sorted(annotations, key=lambda pair: -pair[0].area), 1):
        mask = decode_mask(one.segmentation)
        made.kinds[index][mask] = kind if number <= MOST_THINGS else IGNORED
        made.things[index][mask] = number if number <= MOST_THINGS and kind != IGNORED else 0
        told = [COLORS.index(word) for word in one.caption.split() if word in COLORS]
        if told and number <= MOST_THINGS:
            made.colors[index, number] = told[0]
    return ""
