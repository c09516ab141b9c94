"""Runs with walkers: their traces in the map, and how close the robot comes to them by its own motion."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np

from lodestar.assembly.config import changed
from lodestar.grid.config import Footprint
from lodestar.mapping.movers.mover_tracks import is_track
from lodestar.models.phrases import PhraseBook
from lodestar.perception.config import MoverConfig
from lodestar.perception.movers import moves_by_itself
from lodestar_eval.episode import Episode, selector_of
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.study import Row
from lodestar_sim.simulator import Simulator
from lodestar_sim.tasks import Task
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import World
from lodestar_sim.worlds.world_events import with_walkers

TASK = "explore the building"
BEGIN, LEAVE, LOOK = 3.0, 40.0, 30.0  # s: walkers enter, walkers leave, and time until traces are counted
_MOVES = 0.05  # m/s of the robot above which it counts as moving
_ROOM = 1.0  # m, radius in which places at the comfort distance are looked for
_FITS = 0.30  # m, clearance of a place that the robot fits
_NEAR = 0.35  # m from a walker's path within which surfaces may be traces of the walker
_BAND = (0.3, 1.7)  # m, range of heights of a walker without the feet
_BODY = 0.25  # m, radius of a walker
_OWN = 0.02  # m, approach by the robot within a second that makes a contact its own
_STILL = 0.25  # m to a true obstacle beyond which a mapped surface belongs to nothing; chosen: the truncation


def people_world(world: World, seed: int, walkers: int = 3) -> World:
    """Return the building with walkers, reproducible by seed."""
    return with_walkers(world, np.random.default_rng([seed, 0x9E09]), walkers, BEGIN, LEAVE)


class _Watch:
    """Measures distances to walkers at every control step."""

    def __init__(self, world: World, comfort: float) -> None:
        self._comfort = comfort
        self.walkers = {e.object_id for e in world.events if e.kind == "walk"}
        truth = truth_of(replace(world, events=()))
        self._stand = truth.grid.points_of(np.argwhere(truth.clearance >= _FITS))
        self._poses = deque[np.ndarray](maxlen=11)  # poses of the last second
        self._collisions, self._touching = 0, set[int]()
        self.own, self.their, self.touched = 0, 0, 0
        self._before: np.ndarray | None = None
        self.ways: list[np.ndarray] = []
        self.tracked: set[int] = set()
        self.nearest, self.moving, self.near, self.roomy = np.inf, 0.0, 0.0, 0.0

    def somewhere(self, episode: Episode, rng: np.random.Generator) -> np.ndarray:
        """Return a random place (2,) on known floor that the robot fits, at least 2 m away if possible."""
        known = episode.map.plan.grid
        cells = known.cells_of(self._stand)
        inside = known.contains(cells)
        places = self._stand[inside][known.free[tuple(cells[inside].T)]]
        far = np.linalg.norm(places - episode.simulator.true_pose[:2], axis=1) >= 2.0
        places = places[far] if far.any() else places
        return np.asarray(places[rng.integers(len(places))]) if len(places) else episode.robot.pose[:2]

    def observe(self, episode: Episode, step: float) -> None:
        robot = episode.simulator.true_pose[:2].copy()
        places = {t.id: np.array(t.pose[:2]) for t in episode.simulator.things if t.id in self.walkers}
        people = np.array(list(places.values())).reshape(-1, 2)
        self._judge_contacts(episode.simulator, places)
        self.tracked |= {track.id for track in episode.map.voxels.movers.tracks()}
        before, self._before = self._before, robot
        if not len(people):
            return
        self.ways.append(people)
        if before is None or np.linalg.norm(robot - before) < _MOVES * step:
            return
        self.moving += step
        away = np.linalg.norm(people - robot, axis=1)
        self.nearest = min(self.nearest, float(away.min()))
        if away.min() >= self._comfort:
            return
        self.near += step
        nearer = np.linalg.norm(people - before, axis=1) > away + 0.2 * _MOVES * step
        places = self._stand[np.linalg.norm(self._stand - robot, axis=1) <= _ROOM]
        clear = np.linalg.norm(places[:, None] - people[None], axis=2).min(axis=1, initial=np.inf)
        self.roomy += step * bool(nearer[away < self._comfort].any() and (clear >= self._comfort).any())

    def _judge_contacts(self, simulator: Simulator, people: dict[int, np.ndarray]) -> None:
        self._poses.append(simulator.true_pose.copy())
        body = Footprint(simulator.config.robot.length, simulator.config.robot.width)
        poses, places = np.array([self._poses[-1], self._poses[0]]), np.array([*people.values()])
        now, before = np.maximum(body.gaps(poses, places.reshape(-1, 2)), 0.0)
        away, own = dict(zip(people, now)), dict(zip(people, before - now > _OWN))
        hits, self._collisions = simulator.collisions - self._collisions, simulator.collisions
        nearest = min(away, key=away.__getitem__, default=None)
        if hits and nearest is not None and away[nearest] <= _BODY + 0.1:
            self.own += hits * own[nearest]
            self.their += hits * (not own[nearest])
        touching = {one for one in people if away[one] < _BODY}
        self.touched += sum(not own[one] for one in touching - self._touching)
        self._touching = touching


def people_trial(
    world: World,
    seed: int,
    phrases: PhraseBook,
    comfort: float = 1.2,
    measured: float = 1.2,
    walkers: int = 3,
    wait: float = 0.0,
) -> Row:
    """Run an exploration among walkers; return its row. comfort: distance that the robot keeps, 0 = none; measured:
    distance by which it is judged; wait: s that walkers wait in front of the robot.

    met: whether a walker was tracked. in_map: walkers left in the scene 30 s after they were gone, and walkers in the
    voxel map at any time; surfaces: mesh vertices on the walkers' paths away from obstacles; cells: occupied cells
    there. contacts: collisions of the robot; own: those with walkers that it approached by its own motion in the last
    second; their: those with other walkers; the rest are with furniture. touched: times that a walker touched the
    robot, which had not approached. nearest_m: least distance between the centres of the moving robot and a walker.
    moving_s: seconds of motion; near_s: seconds of motion within `measured` of a walker; roomy_s: seconds of `near_s`
    in which the robot came nearer although it had room to keep away.
    """
    busy = people_world(world, seed, walkers)
    plain = EpisodeSettings()
    robot = changed(plain.robot, shared__comfort__distance=comfort)
    settings = replace(plain, robot=robot, thinking=0.2, time_limit=LEAVE + LOOK)
    settings = replace(settings, simulator=replace(settings.simulator, walkers_wait=wait))
    episode = Episode(busy, Task(TASK, (), world.start), seed, settings, phrases, selector_of(settings))
    watch, rng, driven = _Watch(busy, measured), np.random.default_rng([seed, 0x7007]), 0.0
    while episode.simulator.time < LEAVE + LOOK - 0.05:
        episode.step()
        watch.observe(episode, settings.control_interval)
        if episode.result is not None:  # next errand: a random place on the known floor
            driven += episode.path_length
            x, y = watch.somewhere(episode, rng)
            episode.begin(Task(f"go to ({x:.1f}, {y:.1f})", (), world.start))
    people = {
        t.category for t in busy.at(BEGIN + 6.0).objects if moves_by_itself(t.category, MoverConfig().kinds)
    }
    surfaces, cells = _left(episode, world, watch.ways)
    shown = episode.map.scene.dictionary.entities().values()
    voters = episode.map.voxels.map.instances().values()
    in_map = sum(is_track(e.id) or e.label in people for e in shown)
    in_map += sum(any(v.label in people for v in i.votes) for i in voters)
    return {
        "met": bool(watch.walkers and watch.tracked), "tracks": len(watch.tracked), "in_map": in_map,
        "surfaces": surfaces, "cells": cells, "contacts": episode.simulator.collisions, "own": watch.own,
        "their": watch.their, "touched": watch.touched, "nearest_m": float(watch.nearest), "moving_s": watch.moving,
        "near_s": watch.near, "roomy_s": watch.roomy, "metres": driven + episode.path_length,
    }  # fmt: skip


def _left(episode: Episode, world: World, ways: list[np.ndarray]) -> tuple[int, int]:
    """Return the numbers of mesh vertices and of occupied cells on the walkers' paths away from obstacles."""
    path = np.unique(np.round(np.concatenate(ways), 1), axis=0) if ways else np.zeros((0, 2))
    if not len(path):
        return 0, 0
    solid = truth_of(world).clearance  # m to the nearest obstacle of the empty building
    grid = truth_of(world).grid

    def traces(points: np.ndarray) -> int:
        cells = grid.cells_of(points)
        inside = grid.contains(cells)
        cells = np.where(inside[:, None], cells, 0)
        far = inside & (solid[cells[:, 0], cells[:, 1]] > _STILL)
        return sum(bool(np.linalg.norm(path - one, axis=1).min() <= _NEAR) for one in points[far])

    vertices = episode.map.voxels.map.mesh().vertices
    vertices = vertices[(vertices[:, 2] > _BAND[0]) & (vertices[:, 2] < _BAND[1])]
    plan = episode.map.plan.grid
    return traces(vertices[:, :2]), traces(plan.points_of(np.argwhere(plan.occupied)))
