"""The map of a stocked building as many looks at all of it would leave it, without driving: a large map within seconds.

Voxels, instances and entities come from the true surfaces, occupancy and geometry from a LiDAR and a depth camera that
stand all over each room. All of it goes through the robot's own parts.
"""

from __future__ import annotations

import math
import multiprocessing
from dataclasses import replace
from pathlib import Path

import numpy as np

from lodestar.geometry.poses import planar_transform
from lodestar.mapping.follower import pages_of
from lodestar.mapping.octomap import OctoMapper
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.scale_tour import ScaleSettings, ScaleTour, TourRecord
from lodestar_eval.stocked_building import BuildingSize, Waypoint, board_heights, captions, room_at
from lodestar_sim.worlds.world import WorldObject

_STEP = 0.03  # m between points of a surface; chosen: about two of a voxel, as images give
_LOOKS = 5  # frames that showed each thing; chosen: above `confirm`
_HEADINGS = 3  # of the camera at each place; chosen
_DEPTH = 1.2  # m from which the points count as seen; chosen


def in_a_process_of_its_own(settings: ScaleSettings, folder: Path, share: float | None) -> TourRecord:
    """Return what a tour measures in memory of its own: the whole tour, or, with a share of the building in the map
    already, the first room alone.
    """
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (settings, folder, share))


def _measured(settings: ScaleSettings, folder: Path, share: float | None) -> TourRecord:
    phrases = phrase_book()
    phrases.vectors(captions())  # as the text embedder has them after a day
    warm = replace(settings, size=BuildingSize(1, 1, 60), marks=())
    ScaleTour(warm, phrases, folder / f"warm-up-{share}").run(rooms=1)
    tour = ScaleTour(settings, phrases, folder / f"tour-{share}")
    if share is None:
        return tour.run()
    fill(tour, range(2, max(round(share * settings.size.rooms), 3)))
    return tour.run(rooms=1)


def fill(tour: ScaleTour, rooms: range) -> int:
    """Fill the map with these rooms, whose things are then known; return the number of its instances.

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
    chain.work(tour.simulator.time)  # finds the rooms
    chain.tell(*chain.scene.flush())
    return chain.voxels.map.instance_count


def _fill_instances(tour: ScaleTour, things: list[WorldObject]) -> None:
    """Vote for the true surfaces of the things, as their masks would."""
    voxels = tour.map.voxels.map
    config, store, fusion, registry = voxels.config, voxels._store, voxels._fusion, voxels._registry
    clouds = [_surface(thing) for thing in things]
    for thing, cloud in zip(things, clouds):
        registry.next_id = thing.id
        track = registry.start(0.0, cloud)
        track.observation_count = _LOOKS
        for _ in range(_LOOKS):
            track.vote(thing.category, thing.caption, 1.0, config.captions, config.label_votes)
    registry.next_id = max(thing.id for thing in tour.world.objects) + 1
    points = np.concatenate(clouds).astype(np.float32)
    voters = np.repeat([thing.id for thing in things], [len(cloud) for cloud in clouds]).astype(np.int32)
    cells, depth = np.floor(points / config.voxel).astype(np.int32), np.full(len(points), _DEPTH, np.float32)
    for look in range(_LOOKS):
        marked = store.vote(cells, voters, config.vote, config.hit, config.occupancy_top, look + 1)
        fusion.surface.add(store, marked, points, depth)
    voxels.resume_odometry(tour.simulator.map_from_odom)
    voxels._mark = _LOOKS
    voxels.revision += 1
    voxels.measure_all()


def _surface(thing: WorldObject) -> np.ndarray:
    """Return points (N, 3) of the front, the top and the sides of a thing, or of the boards of a shelf, in map."""
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
    """Look around from these places with the LiDAR and the depth camera."""
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
