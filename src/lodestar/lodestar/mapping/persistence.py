"""Conversion of the semantic voxel map to arrays for a file, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from lodestar.mapping.config import VOXEL_PRIOR, VOXEL_SIZE, VoxelConfig
from lodestar.mapping.instances.records import Merge
from lodestar.mapping.instances.registry import InstanceRegistry
from lodestar.mapping.instances.tracks import Track
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.mapping.voxels.tsdf import TsdfVolume
from lodestar.mapping.voxels.voxel_store import GONE, VoxelStore
from lodestar.storage.archive import Archive, ForeignFile
from lodestar.storage.saved_map import next_session

KIND = "voxels"
VERSION = 1
Arrays = dict[str, np.ndarray]

_STAMPS = ("first_seen", "last_seen", "last_absence")


class BadVoxels(ForeignFile):
    """Raised for arrays that do not hold a voxel map of this configuration."""


def map_to_arrays(voxels: SemanticVoxelMap) -> tuple[dict[str, Any], Arrays]:
    """Return the meta data and arrays of the map for a file.

    The evidence of the association rule is left out; it is collected anew. The map is locked only while its
    arrays are copied; instances are converted to text afterwards.
    """
    with voxels._lock:
        registry, store, surface = voxels._registry, voxels._store, voxels._fusion.surface
        places = np.flatnonzero(store.owner[: store.used] != GONE)
        tracks = [_copied(track) for track in registry.tracks.values()]
        gone = [_copied(track) for track in registry.gone.values()]
        arrays = {
            **{f"voxel_{name}": array for name, array in store.to_arrays().items()},
            **{f"surface_{name}": array for name, array in voxels.geometry.to_arrays().items()},
            "point_mean": surface.mean[places],
            "point_mass": surface.mass[places],
            "map_from_voxels": voxels._anchor.map_from_part.copy(),
            "forward": np.array(sorted(registry._forward.items()), np.int64).reshape(-1, 2),
        }
        stamps = [voxels._last_fused, voxels._last_depth, 0.0]
        meta = {
            "map_id": voxels.map_id,
            "session_id": voxels.session_id,
            "revision": voxels.revision,
            "stamp": max(stamp for stamp in stamps if np.isfinite(stamp)),
            "next_id": registry.next_id,
            "instances": len(tracks),
        }
        if voxels._anchor.last is not None:
            meta["map_from_odom"] = voxels._anchor.last.tolist()
    return meta, arrays | _tracks_to_arrays("track", tracks) | _tracks_to_arrays("gone", gone)


def _copied(track: Track) -> Track:
    return replace(track, labels=dict(track.labels), shares=dict(track.shares))


def map_from_arrays(
    meta: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    config: VoxelConfig,
    session_id: str,
    now: float,
    *,
    resumes: bool = False,
) -> SemanticVoxelMap:
    """Return the map written by `map_to_arrays`, in a new session. Raises BadVoxels.

    now: seconds; if the file has later stamps, they are moved back. The next frame may have any stamp.
    resumes: whether the current odometry frame is still the one of the saved map, so that a jump of map <-
    odom since then is applied.
    """
    try:
        voxels = SemanticVoxelMap(config, int(meta["map_id"]), session_id)
        size = float(arrays["voxel_size"])
        if abs(size - VOXEL_SIZE) > 1e-9:
            raise ValueError(f"its voxels measure {size} m, this map's {VOXEL_SIZE} m")
        store = VoxelStore.from_arrays(_part(arrays, "voxel_"), config.capacity, VOXEL_PRIOR)
        count = len(arrays["voxel_coords"])
        if arrays["point_mean"].shape != (count, 3) or arrays["point_mass"].shape != (count,):
            raise ValueError("points and voxels do not match")
        geometry = TsdfVolume.from_arrays(_part(arrays, "surface_"), config.geometry)
        registry = _registry(meta, arrays, min(0.0, now - float(meta["stamp"])))
        if int(arrays["voxel_ids"].max(initial=0)) >= registry.next_id:
            raise ValueError("voxels of instances that were never there")
        pose = np.asarray(arrays["map_from_voxels"], np.float64)
        if pose.shape != (4, 4) or not np.isfinite(pose).all():
            raise ValueError("the pose of the voxels is not finite")
        voxels.go_on_from(store, geometry, registry, pose, int(meta["revision"]) + 1)
        surface = voxels._fusion.surface
        surface.mean[:count], surface.mass[:count] = arrays["point_mean"], arrays["point_mass"]
        if resumes and "map_from_odom" in meta:
            voxels.resume_odometry(np.array(meta["map_from_odom"], np.float64).reshape(4, 4))
        voxels.measure_all()
        return voxels
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise BadVoxels(f"{error.__class__.__name__}: {error}") from error


def voxels_from(
    archive: Archive, config: VoxelConfig, now: float, *, mark: str | None = None, resumes: bool = False
) -> SemanticVoxelMap:
    """Return the map of an archive, in a new session named after the archive's. Raises BadVoxels.

    See `map_from_arrays`. mark: see `next_session`.
    """
    session = next_session(str(archive.meta.get("session_id", "")), mark)
    return map_from_arrays(archive.meta, archive.arrays, config, session, now, resumes=resumes)


def _part(arrays: Mapping[str, np.ndarray], prefix: str) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _registry(meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray], shift: float) -> InstanceRegistry:
    registry = InstanceRegistry()
    tracks = _tracks_from_arrays("track", arrays, shift)
    for track in sorted(tracks, key=lambda t: (t.last_seen, t.id)):
        registry.tracks.add(track)
    for track in _tracks_from_arrays("gone", arrays, shift):
        registry.gone[track.id] = track
    registry.next_id = int(meta["next_id"])
    forward = {int(a): int(b) for a, b in arrays["forward"]}
    known = [*(t.id for t in tracks), *registry.gone, *forward]
    if any(not 0 < identity < registry.next_id for identity in known) or any(
        a in registry.tracks for a in forward
    ):
        raise ValueError("ids that were never given, or that were merged")
    if any(b >= registry.next_id or a == b for a, b in forward.items()):
        raise ValueError("merged ids lead nowhere")
    registry.restore_merges([(int(meta["revision"]) + 1, Merge(a, _end_of(a, forward))) for a in forward])
    return registry


def _end_of(identity: int, forward: Mapping[int, int]) -> int:
    for _ in range(len(forward) + 1):
        if identity not in forward:
            return identity
        identity = forward[identity]
    raise ValueError("merged ids form a circle")


# --- tracks --------------------------------------------------------------------------------------------


_FIELDS = tuple(f.name for f in fields(Track) if not f.name.startswith("_"))


def _tracks_to_arrays(prefix: str, tracks: Iterable[Track]) -> Arrays:
    """Return the tracks' features as matrices grouped by length, and all other fields as JSON."""
    texts = []
    features: dict[int, tuple[list[int], list[np.ndarray]]] = {}
    for track in tracks:
        record = {name: getattr(track, name) for name in _FIELDS}
        feature = record.pop("appearance")
        del record["last_miss"]  # needed only to schedule the next test
        if feature is not None:
            features.setdefault(len(feature), ([], []))[0].append(track.id)
            features[len(feature)][1].append(feature)
        record["box_min"], record["box_max"] = track.box_min.tolist(), track.box_max.tolist()
        record["labels"] = [[label, caption, weight] for (label, caption), weight in track.labels.items()]
        record["last_absence"] = track.last_absence if np.isfinite(track.last_absence) else None
        texts.append(json.dumps(record, separators=(",", ":"), default=_number))
    text = f"[{','.join(texts)}]".encode()
    arrays: Arrays = {
        f"{prefix}_records": np.frombuffer(text, np.uint8),
        f"{prefix}_lengths": np.array(sorted(features), np.int64),
    }
    for length, (owners, rows) in features.items():
        arrays[f"{prefix}_owners_{length}"] = np.array(owners, np.int64)
        arrays[f"{prefix}_features_{length}"] = np.array(rows, np.float32)
    return arrays


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written")


def _tracks_from_arrays(prefix: str, arrays: Mapping[str, np.ndarray], shift: float) -> list[Track]:
    tracks = {}
    for record in json.loads(arrays[f"{prefix}_records"].tobytes()):
        values = {name: value for name, value in record.items() if name in _FIELDS}
        values["box_min"], values["box_max"] = (
            np.array(values[k], np.float64) for k in ("box_min", "box_max")
        )
        values["labels"] = {(str(label), str(caption)): float(w) for label, caption, w in values["labels"]}
        if values["last_absence"] is None:
            values["last_absence"] = -np.inf
        values |= {name: float(values[name]) + shift for name in _STAMPS}
        track = Track(**values)
        if track.id in tracks or track.box_min.shape != (3,) or track.box_max.shape != (3,):
            raise ValueError(f"instance {track.id} stands twice in the file or has no box")
        tracks[track.id] = track
    for length in arrays[f"{prefix}_lengths"].tolist():
        rows = arrays[f"{prefix}_features_{length}"]
        for row, owner in enumerate(arrays[f"{prefix}_owners_{length}"].tolist()):
            tracks[owner].appearance = rows[row].astype(np.float32)
    return list(tracks.values())
