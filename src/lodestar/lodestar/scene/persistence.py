"""Conversion of the scene dictionary to arrays for a file, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lodestar.mapping.instances.records import CaptionVote, Instance, Merge
from lodestar.mapping.movers.mover_tracks import is_track
from lodestar.perception.frames import ImageBox
from lodestar.scene.config import SceneConfig
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.fusion import FusedVector
from lodestar.scene.lifecycle import EntityRecord
from lodestar.scene.records import Embedding, EntityState, View
from lodestar.scene.region_names import RegionNames
from lodestar.scene.relations import RelationTable
from lodestar.scene.scene_state import SceneState
from lodestar.scene.views import KeptView
from lodestar.storage.archive import Archive, ForeignFile
from lodestar.storage.saved_map import SCENE, ArchivePart

KIND = "scene"
VERSION = 1

_INSTANCE = ("voxel_count", "occupancy_probability", "observation_count", "first_seen", "last_seen")
_RECORD = (
    "region_id", "confidence", "state", "looks_in_vain", "last_scan", "first_seen", "last_seen",
)  # fmt: skip
_STAMPS = ("last_scan", "first_seen", "last_seen")
Arrays = dict[str, np.ndarray]


class BadScene(ForeignFile):
    """Error: the archive does not hold a valid scene."""


@dataclass(frozen=True)
class SavedScene:
    """A loaded scene to continue.

    map_id, session_id: of its voxel map. revision: of the scene when it was saved.
    """

    state: SceneState
    map_id: int
    session_id: str
    revision: int


def scene_to_archive(scene: SceneDictionary) -> Archive:
    """Return the whole state of the dictionary: entities, regions with their ids, and operators' names.

    The dictionary is locked only while its records are copied, not while they are converted to text.
    """
    with scene.lock:
        state = scene.state
        records = [_copied(state.records[i]) for i in sorted(state.records) if not is_track(i)]
        movers = [i for i in state.records if is_track(i)]
        forward = np.array(sorted(state.forward.items()), np.int64).reshape(-1, 2)
        covisible = state.covisibility.to_array()
        meta = {
            "map_id": scene.map_id,
            "session_id": scene.session_id,
            "revision": scene.revision,
            "stamp": state.stamp,
            "entities": len(records),
            "movers": movers,
            "relations": state.relations.to_meta(),
            "regions_moved": state.moved.tolist(),
            "region_names": state.names.to_meta(),
        }
        room_meta, room_arrays = state.tracker.to_arrays()
        if state.map_from_odom is not None:
            meta["map_from_odom"] = state.map_from_odom.tolist()
    texts = ",".join(json.dumps(_texts(record), separators=(",", ":")) for record in records)
    arrays: Arrays = {
        "ids": np.array([r.instance.id for r in records], np.int64),
        "texts": np.frombuffer(f"[{texts}]".encode(), np.uint8),
        "instances": _table([r.instance for r in records], _INSTANCE),
        "records": _table(records, _RECORD),
        "centroids": _stack([r.instance.centroid for r in records], (3,)),
        "covariances": _stack([r.instance.covariance for r in records], (3, 3)),
        "boxes": _stack([(r.instance.box_min, r.instance.box_max) for r in records], (2, 3)),
        "birthplaces": _stack([r.birthplace for r in records], (3,)),
        "forward": forward,
        "covisible": covisible,
    }
    arrays |= room_arrays | _views_to_arrays(records) | _vectors_to_arrays(records)
    return Archive(KIND, VERSION, meta | room_meta, arrays)


def _copied(record: EntityRecord) -> EntityRecord:
    """Return a copy that later changes of the record do not affect; immutable parts are shared."""
    return replace(
        record,
        seen_as=dict(record.seen_as),
        embeddings=dict(record.embeddings),
        neighbors=dict(record.neighbors),
    )


def scene_from_archive(
    archive: Archive, config: SceneConfig, now: float, *, resumes: bool = False
) -> SavedScene:
    """Return the scene written by `scene_to_archive`, for `SceneDictionary.replace`. Raises BadScene.

    now: seconds; if the file is from a later time, all its stamps are moved back, so that no sighting lies in
    the future. resumes: whether the current odometry frame is still that of the scene, so that jumps since
    then are applied.
    """
    meta, arrays = archive.meta, archive.arrays
    try:
        shift = min(0.0, now - float(meta["stamp"]))
        texts = json.loads(arrays["texts"].tobytes())
        ids = arrays["ids"].tolist()
        if len(set(ids)) != len(ids) or len(texts) != len(ids) or any(i <= 0 for i in ids):
            raise ValueError("ids and texts do not match")
        state = SceneState(config)
        for row, identity in enumerate(ids):
            state.records[identity] = _record(arrays, row, identity, texts[row], shift)
        _views_from_arrays(arrays, state.records, shift)
        _vectors_from_arrays(arrays, state.records)
        for record in state.records.values():
            record.elect()
        state.forward = {int(a): int(b) for a, b in arrays["forward"]}
        _check_forward(state.forward)
        state.covisibility.from_array(arrays["covisible"], shift)
        state.relations = RelationTable.of_meta(meta.get("relations", ()))
        state.stamp = float(meta["stamp"]) + shift
        merges = [Merge(a, state.resolve(a)) for a in list(state.forward)]
        state.journal.restart(int(meta["revision"]) + 1, state.records, merges)
        state.rebuild()
        state.names = RegionNames.of_meta(meta)
        state.tracker.restore(meta, arrays)
        state.tracker.move(np.asarray(meta.get("regions_moved", np.eye(4)), float))
        for identity in meta.get("movers", ()) if resumes else ():  # still known to subscribers
            state.journal.removed(int(identity))
        if resumes and "map_from_odom" in meta:
            state.resume_odometry(np.array(meta["map_from_odom"], np.float64).reshape(4, 4))
        return SavedScene(state, int(meta["map_id"]), str(meta["session_id"]), int(meta["revision"]))
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise BadScene(f"{error.__class__.__name__}: {error}") from error


def scene_part(
    scene: SceneDictionary,
    now: Callable[[], float],
    put: Callable[[SavedScene], Callable[[], object]],
    kept: Callable[[], object] = lambda: None,
) -> ArchivePart[SavedScene]:
    """Return the part of a saved map that holds entities and regions.

    See `ArchivePart`, also for put and kept. now(): seconds.
    """

    def build(archive: Archive) -> SavedScene:
        return scene_from_archive(archive, scene.config, now())

    return ArchivePart(SCENE, {KIND: VERSION}, lambda: scene_to_archive(scene), build, put, kept)


def _check_forward(forward: Mapping[int, int]) -> None:
    for start in forward:
        passed, identity = {start}, start
        while identity in forward:
            identity = forward[identity]
            if identity in passed:
                raise ValueError(f"merged ids form a circle at {identity}")
            passed.add(identity)


def _table(rows: list[Any], names: tuple[str, ...]) -> np.ndarray:
    return np.array([[float(getattr(row, name)) for name in names] for row in rows], np.float64).reshape(
        -1, len(names)
    )


def _stack(rows: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    return np.array(rows, np.float64).reshape(-1, *shape)


# --- texts ---------------------------------------------------------------------------------------------


def _texts(record: EntityRecord) -> dict[str, Any]:
    return {
        "label": record.label,
        "caption": record.caption,
        "attributes": record.attributes,
        "votes": [[v.label, v.caption, v.weight] for v in record.instance.votes],
        "inherited": [[v.label, v.caption, v.weight] for v in record.inherited],
        "seen_as": record.seen_as,
        "described": record.described,
        "relabelled": record.relabelled,
        "neighbors": None if record.neighbors_at is None else list(record.neighbors.items()),
    }


def _votes(rows: list[list[Any]]) -> tuple[CaptionVote, ...]:
    return tuple(CaptionVote(str(label), str(caption), float(weight)) for label, caption, weight in rows)


def _record(
    arrays: Mapping[str, np.ndarray], row: int, identity: int, texts: dict[str, Any], shift: float
) -> EntityRecord:
    numbers = dict(zip(_INSTANCE, arrays["instances"][row].tolist()))
    kept = dict(zip(_RECORD, arrays["records"][row].tolist()))
    kept |= {name: kept[name] + shift for name in _STAMPS}
    instance = Instance(
        id=identity,
        voxel_count=int(numbers["voxel_count"]),
        centroid=arrays["centroids"][row].copy(),
        covariance=arrays["covariances"][row].copy(),
        box_min=arrays["boxes"][row, 0].copy(),
        box_max=arrays["boxes"][row, 1].copy(),
        votes=_votes(texts["votes"]),
        occupancy_probability=numbers["occupancy_probability"],
        observation_count=int(numbers["observation_count"]),
        confirmed=True,
        first_seen=numbers["first_seen"] + shift,
        last_seen=numbers["last_seen"] + shift,
    )
    label, caption, *more = texts["described"]
    said, author, weight = texts.get("relabelled", ("", "", 0.0))
    attributes = tuple(str(word) for word in more[0]) if more else ()
    return EntityRecord(
        instance,
        label=str(texts["label"]),
        caption=str(texts["caption"]),
        attributes=tuple(str(a) for a in texts["attributes"]),
        inherited=_votes(texts["inherited"]),
        seen_as={str(text): float(weight) for text, weight in texts["seen_as"].items()},
        described=(str(label), str(caption), attributes),
        relabelled=(str(said), str(author), float(weight)),
        region_id=int(kept["region_id"]),
        confidence=kept["confidence"],
        state=EntityState(int(kept["state"])),
        looks_in_vain=int(kept["looks_in_vain"]),
        last_scan=kept["last_scan"],
        first_seen=kept["first_seen"],
        last_seen=kept["last_seen"],
        birthplace=arrays["birthplaces"][row].copy(),
        neighbors={int(i): float(weight) for i, weight in texts["neighbors"] or ()},
        neighbors_at=None if texts["neighbors"] is None else arrays["centroids"][row].copy(),
    )


# --- views ---------------------------------------------------------------------------------------------


def _views_to_arrays(records: list[EntityRecord]) -> Arrays:
    views = [(record.instance.id, kept) for record in records for kept in record.views]
    boxes = [(b.x, b.y, b.width, b.height) for b in (kept.view.box for _, kept in views)]
    return {
        "view_owners": np.array([owner for owner, _ in views], np.int64),
        "view_poses": _stack([kept.view.map_from_camera for _, kept in views], (4, 4)),
        "view_boxes": np.array(boxes, np.int64).reshape(-1, 4),
        "view_keyframes": np.array([kept.view.keyframe_id for _, kept in views], np.int64),
        "view_directions": _stack([kept.direction for _, kept in views], (3,)),
        "view_numbers": _stack([(k.view.stamp, k.view.quality, k.distance) for _, k in views], (3,)),
    }


def _views_from_arrays(
    arrays: Mapping[str, np.ndarray], records: Mapping[int, EntityRecord], shift: float
) -> None:
    for row, owner in enumerate(arrays["view_owners"].tolist()):
        stamp, quality, distance = arrays["view_numbers"][row].tolist()
        box = ImageBox(*(int(v) for v in arrays["view_boxes"][row]))
        pose = arrays["view_poses"][row].copy()
        view = View(stamp + shift, pose, box, int(arrays["view_keyframes"][row]), quality)
        records[owner].views += (KeptView(view, arrays["view_directions"][row].copy(), distance),)


# --- vectors -------------------------------------------------------------------------------------------


def _vectors_to_arrays(records: list[EntityRecord]) -> Arrays:
    """Return the vectors of the records, grouped by channel, model and length.

    Each group is a matrix and an array of its owners; the groups are listed in "channels" as JSON.
    """
    groups: dict[tuple[str, str, int], tuple[list[int], list[np.ndarray], list[float]]] = {}
    for record in records:
        for channel, embedding in record.embeddings.items():
            key = channel, embedding.model, len(embedding.vector)
            owners, rows, weights = groups.setdefault(key, ([], [], []))
            owners.append(record.instance.id)
            rows.append(embedding.vector)
            weights.append(-1.0)
        if record.appearance is not None:
            fused = record.appearance
            owners, rows, weights = groups.setdefault(
                ("", record.appearance_model, len(fused.total)), ([], [], [])
            )
            owners.append(record.instance.id)
            rows.append(fused.total)
            weights.append(fused.weight)
    arrays: Arrays = {"channels": np.frombuffer(json.dumps(list(groups)).encode(), np.uint8)}
    for number, (owners, rows, weights) in enumerate(groups.values()):
        arrays[f"vector_owners_{number}"] = np.array(owners, np.int64)
        arrays[f"vector_weights_{number}"] = np.array(weights, np.float64)
        arrays[f"vectors_{number}"] = np.array(rows, np.float32)
    return arrays


def _vectors_from_arrays(arrays: Mapping[str, np.ndarray], records: Mapping[int, EntityRecord]) -> None:
    for number, (channel, model, length) in enumerate(json.loads(arrays["channels"].tobytes())):
        rows, weights = arrays[f"vectors_{number}"], arrays[f"vector_weights_{number}"]
        if rows.shape[1:] != (length,):
            raise ValueError(f"vectors of {channel!r} are {rows.shape}")
        for row, owner in enumerate(arrays[f"vector_owners_{number}"].tolist()):
            if channel:
                records[owner].embeddings[channel] = Embedding(str(model), rows[row].copy())
            else:
                records[owner].appearance = FusedVector(rows[row].copy(), float(weights[row]))
                records[owner].appearance_model = str(model)
