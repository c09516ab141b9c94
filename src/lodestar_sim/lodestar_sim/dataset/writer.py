"""Write labelled images of many buildings, in several processes."""

from __future__ import annotations

import multiprocessing
import re
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from lodestar.perception.segments import label_extents
from lodestar_sim.dataset.coco import (
    VERSION,
    Annotation,
    Category,
    Image,
    Instances,
    encode_mask,
    write_instances,
)
from lodestar_sim.dataset.viewpoints import sample_poses
from lodestar_sim.dataset.views import Camera, View, random_light, random_shake
from lodestar_sim.worlds import world_from_spec
from lodestar_sim.worlds.catalogue import CATALOGUE, group_of
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.world import World

_QUALITY = 95  # JPEG quality, 0 to 100


@dataclass(frozen=True)
class DatasetConfig:
    """Settings of the images: size, number per building, random light and shake, depth, file format."""

    width: int = 320  # pixels
    height: int = 240  # pixels
    per_building: int = 50  # images
    seed: int = 0  # of poses, light and shake
    random: bool = True  # random light and camera pose errors in each image; False: the simulator's own
    depth: bool = False  # write depth as well
    format: str = "jpg"  # jpg or png


@dataclass(frozen=True)
class Building:
    """A world's specification and its seed."""

    spec: str
    seed: int


@dataclass(frozen=True)
class _Named:
    """An annotation and its class name; ids of image and category are assigned later."""

    name: str
    record: Annotation


def write_dataset(
    folder: Path, buildings: Sequence[Building], config: DatasetConfig, jobs: int, told: Callable[[str], None]
) -> Instances:
    """Write images/ and `instances.json` in a folder that is empty or new; return the content of `instances.json`.

    The same buildings and configuration give the same files with any number of jobs. Raises WorldError for a
    building that does not exist or is named twice, OSError if the folder cannot be written. told: called with
    a sentence after each building.
    """
    stems = [_stem(building) for building in buildings]
    if len(set(stems)) < len(stems):
        twice = Counter(stems).most_common(1)[0][0]
        raise WorldError(f"two buildings would write images/{twice}-*: name each building once")
    (folder / "images").mkdir(parents=True, exist_ok=True)
    if config.depth:
        (folder / "depth").mkdir(exist_ok=True)
    one = partial(write_building, folder, config)
    images: list[Image] = []
    named: list[_Named] = []

    def add(index: int, made: tuple[list[Image], list[list[_Named]]]) -> None:
        for image, things in zip(*made):
            image.id = len(images) + 1
            images.append(image)
            for thing in things:
                thing.record.id, thing.record.image_id = len(named) + 1, image.id
                named.append(thing)
        told(f"{buildings[index].spec} {buildings[index].seed}: {len(images)} images, {len(named)} objects")

    if jobs == 1:
        for index, building in enumerate(buildings):
            add(index, one(building))
    else:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
            for index, made in enumerate(pool.map(one, buildings)):
                add(index, made)
    names = [*CATALOGUE, *sorted({thing.name for thing in named} - set(CATALOGUE))]
    for thing in named:
        thing.record.category_id = names.index(thing.name) + 1
    instances = Instances(
        images,
        [thing.record for thing in named],
        [Category(number, name, group_of(name)) for number, name in enumerate(names, 1)],
        _info(config),
    )
    write_instances(folder, instances)
    return instances


def _info(config: DatasetConfig) -> dict[str, Any]:
    return {
        "description": "images of simulated buildings, lodestar_sim.dataset",
        "version": VERSION,
        **{name: getattr(config, name) for name in ("seed", "per_building", "random", "format")},
    }


def write_building(
    folder: Path, config: DatasetConfig, building: Building
) -> tuple[list[Image], list[list[_Named]]]:
    """Write the images of one building; return their records and the objects in each image. Raises WorldError."""
    cv2.setNumThreads(1)
    rng = np.random.default_rng([config.seed, building.seed, *building.spec.encode()])
    world = world_from_spec(building.spec, building.seed)
    if world.events:
        world = world.at(float(rng.uniform(0.0, max(event.end for event in world.events))))
    camera = Camera(world, config.width, config.height)
    stem = _stem(building)
    images, named = [], []
    for number, pose in enumerate(sample_poses(world, config.per_building, rng).round(4)):
        light, shake = random_light(rng), random_shake(rng)
        view = camera.view(pose, light, shake) if config.random else camera.view(pose)
        file_name = f"images/{stem}-{number:04d}.{config.format}"
        depth_file = f"depth/{stem}-{number:04d}.png" if config.depth else ""
        _write(folder / file_name, cv2.cvtColor(view.rgb, cv2.COLOR_RGB2BGR))
        if depth_file:
            _write(folder / depth_file, view.depth)
        x, y, yaw = map(float, pose)
        images.append(
            Image(
                0,
                file_name,
                config.width,
                config.height,
                building.spec,
                building.seed,
                (x, y, yaw),
                depth_file,
            )
        )
        named.append(_objects(view, world))
    return images, named


def _stem(building: Building) -> str:
    """Return the prefix of a building's file names."""
    return f"{re.sub(r'[^A-Za-z0-9.]+', '-', building.spec).strip('-.')}-{building.seed}"


def _objects(view: View, world: World) -> list[_Named]:
    found, labels = [], world.labels()
    ids = view.ids.astype(np.uint16)
    for value, box, pixels in label_extents(ids):
        mask = encode_mask(ids, value, box.x, box.x + box.width)
        bbox = (box.x, box.y, box.width, box.height)
        entry = labels[value]
        found.append(
            _Named(entry["class"], Annotation(0, 0, 0, bbox, pixels, mask, caption=entry["caption"]))
        )
    return found


def _write(path: Path, image: np.ndarray) -> None:
    options = (
        [cv2.IMWRITE_JPEG_QUALITY, _QUALITY] if path.suffix == ".jpg" else [cv2.IMWRITE_PNG_COMPRESSION, 1]
    )
    done, coded = cv2.imencode(path.suffix, image, options)
    if not done:
        raise OSError(f"{path} cannot be encoded")
    path.write_bytes(coded.tobytes())
