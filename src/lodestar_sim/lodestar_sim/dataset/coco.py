"""COCO's format for instance masks: records, run lengths, reading and writing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numba as nb
import numpy as np

INSTANCES = "instances.json"
VERSION = "1"  # version of the fields added to COCO: world, seed, pose, depth_file, caption


class CocoError(ValueError):
    """A dataset cannot be read; the message names the wrong field or file."""


class Segmentation(msgspec.Struct):
    """A mask as compressed run lengths in the encoding of pycocotools. size: [height, width], pixels."""

    size: tuple[int, int]
    counts: str


class Annotation(msgspec.Struct):
    """An object in an image. bbox: x, y, width, height, pixels. area: pixels. caption: its class with its colour."""

    id: int
    image_id: int
    category_id: int
    bbox: tuple[int, int, int, int]
    area: int
    segmentation: Segmentation
    iscrowd: int = 0
    caption: str = ""


class Image(msgspec.Struct):
    """An image. pose: x, y, yaw of the robot in the building, m and rad. depth_file: 16-bit PNG in mm, "" = none."""

    id: int
    file_name: str
    width: int
    height: int
    world: str = ""
    seed: int = 0
    pose: tuple[float, float, float] = (0.0, 0.0, 0.0)
    depth_file: str = ""


class Category(msgspec.Struct):
    """A class of objects."""

    id: int
    name: str
    supercategory: str = ""


class Instances(msgspec.Struct):
    """Content of the file `instances.json`. info: description of how the images were made."""

    images: list[Image]
    annotations: list[Annotation]
    categories: list[Category]
    info: dict[str, Any] = {}


@nb.njit(cache=True)
def _encode(ids, value, left, right, text):
    """Write the run lengths of `ids == value`, column by column, into `text`; return the number of bytes."""
    height = ids.shape[0]
    size, length, state = 0, left * height, False
    before, last = 0, 0  # the two previous counts: COCO stores differences to the count before last
    number = 0
    rest = (ids.shape[1] - right) * height
    for place in range((right - left) * height + 1):
        ends = place == (right - left) * height
        here = False if ends else ids[place % height, left + place // height] == value
        if here == state and not ends:
            length += 1
            continue
        if ends and not state:
            length += rest
            rest = 0
        for _ in range(2 if ends and state and rest else 1):
            code = length - before if number > 2 else length
            more = True
            while more:
                bits = code & 0x1F
                code >>= 5
                more = code != -1 if bits & 0x10 else code != 0
                text[size] = bits + (0x20 if more else 0) + 48
                size += 1
            before, last = last, length
            number += 1
            length = rest if ends else 1
        state = here
    return size


@nb.njit(cache=True)
def _decode(text, flat):
    """Fill `flat` (columns one after the other) from run lengths; return the number of pixels they describe."""
    place, before, last, number, filled, size = 0, 0, 0, 0, False, 0
    while place < text.size:
        code, shift, more = 0, 0, True
        while more:
            if place >= text.size or shift > 40:
                return -1
            bits = int(text[place]) - 48
            if bits < 0 or bits > 63:
                return -1
            code |= (bits & 0x1F) << shift
            more = (bits & 0x20) != 0
            place += 1
            shift += 5
            if not more and bits & 0x10:
                code |= -1 << shift
        length = code + before if number > 2 else code
        if length < 0 or size + length > flat.size:
            return -1
        if filled:
            flat[size : size + length] = True
        size += length
        before, last = last, length
        number += 1
        filled = not filled
    return size


def encode_mask(ids: np.ndarray, value: int, left: int, right: int) -> Segmentation:
    """Return the run lengths of the mask `ids == value` in COCO's format.

    ids: (H, W) int. The mask lies in the columns `left` (inclusive) to `right` (exclusive).
    """
    height, width = ids.shape
    text = np.empty((right - left) * height * 4 + 16, np.uint8)
    return Segmentation(
        (height, width), text[: _encode(ids, value, left, right, text)].tobytes().decode("ascii")
    )


def decode_mask(mask: Segmentation) -> np.ndarray:
    """Return the mask (H, W) bool. Raises CocoError for run lengths that do not fill it exactly."""
    height, width = mask.size
    flat = np.zeros(width * height, np.bool_)
    text = np.frombuffer(mask.counts.encode("ascii", "replace"), np.uint8)
    if _decode(text, flat) != flat.size:
        raise CocoError(f"the run lengths of a mask do not fill its {height} x {width} pixels")
    return flat.reshape(width, height).T


def read_instances(folder: str | Path) -> Instances:
    """Return the content of `instances.json` in a folder. Raises CocoError."""
    path = Path(folder) / INSTANCES
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Instances)
    except OSError as error:
        raise CocoError(
            f"{path} cannot be read: {error.strerror}; write it by lodestar_sim.dataset"
        ) from error
    except msgspec.DecodeError as error:
        raise CocoError(f"{path} is no set of COCO instances with run lengths: {error}") from error
    if not found.images or not found.categories:
        raise CocoError(f"{path} names no images or no categories")
    sizes = {image.id: (image.height, image.width) for image in found.images}
    kinds = {category.id for category in found.categories}
    for one in found.annotations:
        if one.image_id not in sizes or one.category_id not in kinds:
            raise CocoError(f"{path}: annotation {one.id} is of an image or a category that is not there")
        if one.segmentation.size != sizes[one.image_id]:
            raise CocoError(f"{path}: the mask of annotation {one.id} is not of its image's size")
    return found


def write_instances(folder: str | Path, instances: Instances) -> None:
    """Write `instances.json` into a folder atomically."""
    path = Path(folder) / INSTANCES
    made = path.with_suffix(".part")
    made.write_bytes(msgspec.json.encode(instances))
    made.replace(path)
