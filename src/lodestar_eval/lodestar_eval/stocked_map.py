"""Fill a stocked building's map within seconds, without driving, as if all of it had been seen many times.

Voxels, instances and entities come from the true surfaces, occupancy and geometry from a LiDAR and a depth
camera at places all over each room. All data passes through the robot's own parts.
"""

from __future__ import annotations

import math
import multiprocessing
from dataclasses import replace
from pathlib import Path

import numpy as np

from lodestar.geometry.poses import planar_transform
from lodestar.mapping.config import (
    VOXEL_CAPTIONS,
    VOXEL_HIT,
    VOXEL_LABEL_VOTES,
    VOXEL_OCCUPANCY_TOP,
    VOXEL_SIZE,
    VOXEL_VOTE,
)
from lodestar.mapping.follower import pages_of
from lodestar.mapping.occupancy.octomap import OctoMapper
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.scale_tour import ScaleSettings, ScaleTour, TourRecord
from lodestar_eval.stocked_building import BuildingSize, Waypoint, board_heights, captions, room_at
from lodestar_sim.worlds.world import WorldObject

_STEP = 0.03  # m between sampled points of a surface; chosen: about two per voxel, as from images
_LOOKS = 5  # frames that show each object; chosen: above `confirm`
_HEADINGS = 3  # headings of the camera at each place; chosen
_DEPTH = 1.2  # m, distance from which the points count as seen; chosen


def in_a_process_of_its_own(settings: ScaleSettings, folder: Path, share: float | None) -> TourRecord:
    """Return the measurements of a tour in a separate process.

    share: None = the whole tour; else this share of the building is already mapped, and only the first room is
    toured.
    """
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (settings, folder, share))


def _measured(settings: ScaleSettings, folder: Path, share: float | None) -> TourRecord:
    phrases = phrase_book()
    phrases.vectors(captions())  # vectors are cached, as in the text embedder after a day
    warm = replace(settings, size=BuildingSize(1, 1, 60), marks=())
    ScaleTour(warm, phrases, folder / f"warm-up-{share}").run(rooms=1)
    tour = ScaleTour(settings, phrases, folder / f"tour-{share}")
    if share is None:
        return tour.run()
    fill(tour, range(2, max(round(share * settings.size.rooms), 3)))
    return tour.run(rooms=1)


def fill(tour: ScaleTour, rooms: range) -> int:
    """Fill the map with objects and surfaces of the rooms with these numbers; return its instance count.

    The tour must not have begun. The ids of instances are those of the objects.
    """
    places = [one for one in tour.way if one.rooms in rooms][::4]
    size = tour.settings.size
    things = [thing for thing in tour.world.objects if room_at(size, *thing.xy) in rooms]
    _fill_instances(tour, things)
    _fill_surfaces(tour, places)
    chain = tour.map
    for page in pages_of(chain.voxels.map.delta_since):
        chain.tell(*chain.scene.take_instances(page))
    chain.tell(*chain.scene.flush())
    while chain.scene.dictionary.enrichments_waiting:
        chain.scene.enricher.work()
    chain.work(tour.simulator.time)  # segments the rooms
    chain.tell(*chain.scene.flush())
    return chain.voxels.map.instance_count


def _fill_instances(tour: ScaleTour, things: list[WorldObject]) -> None:
    """Cast label votes for the voxels on the objects' true surfaces, as their segmentation masks would."""
    voxels = tour.map.voxels.map
    store, fusion, registry = voxels._store, voxels._fusion, voxels._registry
    clouds = [_surface(thing) for thing in things]
    for thing, cloud in zip(things, clouds):
        registry.next_id = thing.id
        track = registry.start(0.0, cloud)
        track.observation_count = _LOOKS
        for _ in range(_LOOKS):
            track.vote(thing.category, thing.caption, 1.0, VOXEL_CAPTIONS, VOXEL_LABEL_VOTES)
    registry.next_id = max(thing.id for thing in tour.world.objects) + 1
    points = np.concatenate(clouds).astype(np.float32)
    voters = np.repeat([thing.id for thing in things], [len(cloud) for cloud in clouds]).astype(np.int32)
    cells, depth = np.floor(points / VOXEL_SIZE).astype(np.int32), np.full(len(points), _DEPTH, np.float32)
    for look in range(_LOOKS):
        marked = store.vote(cells, voters, VOXEL_VOTE, VOXEL_HIT, VOXEL_OCCUPANCY_TOP, look + 1)
        fusion.surface.add(store, marked, points, depth)
    voxels.resume_odometry(tour.simulator.map_from_odom)
    voxels._mark = _LOOKS
    voxels.revision += 1
    voxels.measure_all()


def _surface(thing: WorldObject) -> np.ndarray:
    """Return points (N, 3) of an object's front, top and sides, or of a shelf's boards, in map."""
    size = np.array(thing.size)
    front, side, up = (np.linspace(0.0, edge, max(math.ceil(edge / _STEP), 2)) for edge in size)
    if thing.category == "shelf":
        faces = [_grid(front, side, board_heights())]
    else:
        faces = [_grid(size[:1], side, up), _grid(front, side, size[2:])]
        faces += [_grid(front, edge, up) for edge in (np.zeros(1), size[1:2])]
    points = np.concatenate(faces) - [size[0] / 2, size[1] / 2, 0.0]
    x, y, z, yaw = thing.pose
    return points @ planar_transform(0.0, 0.0, yaw)[:3, :3].T + (x, y, z)


def _grid(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    return np.stack(np.meshgrid(x, y, z, indexing="ij"), axis=-1).reshape(-1, 3)


def _fill_surfaces(tour: ScaleTour, places: list[Waypoint]) -> None:
    """Insert simulated LiDAR scans and depth images taken from `places`."""
    simulator, chain = tour.simulator, tour.map
    before, sensors = simulator.robot.pose, simulator.config.sensors
    mapper, geometry = chain.plan.mapper, chain.voxels.map.geometry
    assert isinstance(mapper, OctoMapper)
    for place in places:
        for turn in range(_HEADINGS):
            simulator.robot.pose = np.array([place.x, place.y, 2.0 * math.pi * turn / _HEADINGS])
            base = planar_transform(*simulator.robot.pose)
            if turn == 0:
                sensor = base @ planar_transform(sensors.lidar.x, 0.0, 0.0, sensors.lidar.z)
                mapper.insert_points(simulator.lidar(), sensor, base)
            image = simulator.render(False, tour.settings.width, tour.settings.height, labels=False)
            geometry.integrate(image.depth, image.camera, base @ sensors.camera.base_from_optical)
    simulator.robot.pose = before
    chain.plan.use(mapper, lambda: simulator.time)
    chain.follow_ways(())
