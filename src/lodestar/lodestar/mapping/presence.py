"""Which instances a frame looked through, and which are worth measuring anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.mapping.records import Absence
from lodestar.mapping.registry import InstanceRegistry
from lodestar.mapping.voxel_config import VoxelConfig


@dataclass(frozen=True)
class Looks:
    """What a depth image says of the voxels of each instance id: inside it, seen empty, hidden; (ids,) int32."""

    inside: np.ndarray
    empty: np.ndarray
    hidden: np.ndarray


def find_absences(
    registry: InstanceRegistry, looks: Looks, stamp: float, seen: set[int], config: VoxelConfig
) -> list[Absence]:
    """Clear looks through the places of confirmed instances that were not seen in this frame; they are counted.

    Voxels that were carved since the instance was last seen count as seen empty: what is left last, near the floor
    and along edges, is what depth tells least of.
    """
    absences = []
    for identity in np.flatnonzero(looks.inside >= config.absence_voxels):
        track = registry.tracks.get(int(identity))
        if track is None or track.id in seen or track.observation_count < config.confirm:
            continue
        known = registry.instances.get(track.id)
        if known is None or stamp - track.last_absence < config.absence_interval:
            continue
        carved = max(track.size - known.voxel_count, 0)
        unhidden = int(looks.inside[identity] - looks.hidden[identity]) + carved
        empty = int(looks.empty[identity]) + carved
        if empty < config.absence_voxels or unhidden < config.absence_inside * max(
            track.size, known.voxel_count
        ):
            continue
        share = empty / unhidden
        if share >= config.absence_free:
            track.last_absence = stamp
            track.absence_count += 1
            absences.append(Absence(track.id, stamp, share))
    return absences


def choose_batch(
    registry: InstanceRegistry, looks: Looks, stamp: float, seen: set[int], config: VoxelConfig
) -> tuple[list[int], list[int]]:
    """Recent, in view, and the next of the rest in turn (RoboAtlas eq. 7), `batch` ids at most.

    Returns it and, of those whose turn it is, the ones that were never confirmed and are to be forgotten.
    """
    tracks = registry.tracks
    turn = tracks.next_in_turn(min(config.round_robin, config.batch))
    room = max(config.batch - len(turn), 0)
    chosen = dict.fromkeys(sorted(i for i in seen if i in tracks))
    chosen.update(dict.fromkeys(tracks.recent(stamp - config.recent, config.batch)))
    if len(chosen) < room:
        chosen.update(dict.fromkeys(int(i) for i in np.flatnonzero(looks.inside) if int(i) in tracks))
    forgotten = [
        i
        for i in turn
        if tracks[i].observation_count < config.confirm and stamp - tracks[i].last_seen > config.forget
    ]
    return list(dict.fromkeys([*list(chosen)[:room], *turn])), forgotten
