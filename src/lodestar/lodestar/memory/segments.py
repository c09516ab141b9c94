"""Division of observations into segments of some seconds, as memories (STaR IV-A)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from lodestar.memory.deeds import STANDING, deeds_done
from lodestar.memory.records import FIRST_MAP, MapName, Memory, Primitive
from lodestar.memory.segment_captions import SeenThing, SegmentContent, compose_caption
from lodestar.memory.whereabouts import Pose, PoseTrack
from lodestar.scene.captions import clean_text
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity

SEGMENT_CLOCK_JUMP = 10.0  # seconds backwards that mean a reset clock rather than a late record; chosen
SEGMENT_SECONDS = 3.0  # of a segment (STaR VI-3: one caption every 3 s)
SEGMENT_LATENESS = 1.0  # seconds that a segment waits for records of slower streams; chosen
SEGMENT_MIN_PIXELS = 25  # least pixels of a mask for an object that counts as seen; chosen
SEGMENT_MAX_PRIMITIVES = 32  # things per segment, the largest in the images first; chosen


def views_of(stamp: float, seen: Iterable[tuple[float, int, int]]) -> list[tuple[float, dict[int, int]]]:
    """Return the content of each image, oldest first: its stamp, and entity id -> pixels of its mask.

    stamp: of the map's delta; if there are no observations, one image without objects is returned for it.
    seen: stamp, entity id and pixels of each observation.
    """
    views: dict[float, dict[int, int]] = {}
    for when, identity, pixels in seen:
        view = views.setdefault(when, {})
        view[identity] = view.get(identity, 0) + pixels
    return sorted(views.items()) or [(stamp, {})]


@dataclass
class _Window:
    """Records of one unfinished segment.

    seen: stamp of an image -> entity id -> pixels. known: entities in their state at the last sighting.
    keyframes: stamp -> id. deeds: (stamp, the robot's action in words).
    """

    seen: dict[float, Mapping[int, int]] = field(default_factory=dict)
    known: dict[int, Entity] = field(default_factory=dict)
    keyframes: dict[float, int] = field(default_factory=dict)
    deeds: list[tuple[float, str]] = field(default_factory=list)


class Segmenter:
    """Makes one memory per SEGMENT_SECONDS in which there were observations or actions. Not safe for threads.

    `take_*` only add a record; `finished` makes the memories. Segments begin at stamps that are multiples of
    SEGMENT_SECONDS, so that they do not depend on the start of a recording. No segment is made for a time in
    which the robot was lost. scene: copy of the scene dictionary that its owner keeps up to date. counts:
    dropped records by reason (late, duplicate, out_of_order, clock_set, invalid), images without a pose
    (unplaced), and dropped segments (lost, other_map).
    """

    def __init__(
        self, scene: SceneMirror, *, robot: str = "robot", session: str = "", map_name: MapName = FIRST_MAP
    ) -> None:
        self.counts = Counter[str]()
        self.track = PoseTrack()
        self.map = map_name
        self.floor = 0
        self._scene = scene
        self._robot, self._session = robot, session
        self._windows: dict[int, _Window] = {}
        self._newest = -math.inf
        self._streams: dict[str, float] = {}  # stream -> its last stamp
        self._deed = ""
        self._closed = -(2**62)  # index of the last finished segment

    # --- records ----------------------------------------------------------------------------------------------

    def take_pose(self, stamp: float, position: np.ndarray | None, heading: float = 0.0) -> None:
        """Record base_link's pose in map: (3,) metres, radians; None = unknown at this stamp."""
        if self._accept("pose", stamp):
            self.track.add(stamp, position, heading)

    def take_view(self, stamp: float, pixels: Mapping[int, int]) -> None:
        """Record the content of an image: entity id -> area of its mask, pixels; see `views_of`."""
        window = self._window("view", stamp)
        if window is None:
            return
        window.seen[stamp] = {self._scene.resolve(i): n for i, n in pixels.items() if n >= SEGMENT_MIN_PIXELS}
        self._look_up(window, window.seen[stamp])

    def take_keyframe(self, stamp: float, keyframe_id: int) -> None:
        """Record that a keyframe was stored."""
        window = self._window("keyframe", stamp)
        if window is not None:
            window.keyframes[stamp] = keyframe_id

    def take_deed(self, stamp: float, text: str) -> None:
        """Record the purpose of the robot's motion from now on, such as "driving to the red mug"; "" = none."""
        window = self._window("deed", stamp)
        text = clean_text(text)
        if window is None or text == self._deed:
            return
        window.deeds.append((stamp, text))
        self._deed = text

    def take_map(self, map_name: MapName, floor: int = 0) -> None:
        """Set the robot's map and floor. Unfinished segments of another map or floor are dropped.

        A map that gets a fingerprint when it is saved stays the same map.
        """
        saved = map_name.map_id == self.map.map_id and not self.map.fingerprint
        if (map_name != self.map and not saved) or floor != self.floor:
            self.counts["other_map"] += sum(bool(window.seen) for window in self._windows.values())
            self._begin_anew()
        self.map, self.floor = map_name, floor

    @property
    def keyframe_ids(self) -> list[int]:
        """Return the keyframes of the unfinished segments, newest first."""
        return sorted(
            (i for window in self._windows.values() for i in window.keyframes.values()), reverse=True
        )

    def drop_keyframes(self) -> None:
        """Drop the recorded keyframes, because their store was restarted and reuses ids."""
        for window in self._windows.values():
            window.keyframes.clear()

    # --- memories ---------------------------------------------------------------------------------------------

    def finished(self) -> list[Memory]:
        """Return the memories of the segments that cannot change any more, oldest first; their ids are 0."""
        over = math.floor((self._newest - SEGMENT_LATENESS) / SEGMENT_SECONDS) if self._windows else 0
        return self._close([index for index in sorted(self._windows) if index < over])

    def flush(self) -> list[Memory]:
        """Return the memories of all segments, also unfinished ones, at the end."""
        return self._close(sorted(self._windows))

    def here(self, stamp: float) -> Pose | None:
        """Return the robot's pose at the stamp, None if it was lost."""
        return self.track.at(stamp)

    def region_at(self, position: np.ndarray) -> tuple[int, str]:
        """Return id and label of the region at a place; 0, "" if it is unknown."""
        identity = self._scene.region_at(position)
        region = self._scene.regions.get(identity)
        return identity, "" if region is None else clean_text(region.label)

    # --- internal ---------------------------------------------------------------------------------------------

    def _accept(self, stream: str, stamp: float) -> bool:
        """Return whether a record is accepted; the stamps of a stream must increase."""
        if not math.isfinite(stamp):
            self.counts["invalid"] += 1
            return False
        if stamp < self._newest - SEGMENT_CLOCK_JUMP:
            self.counts["clock_set"] += 1
            self._begin_anew()
            self._streams.clear()
            self._newest, self._closed = stamp, -(2**62)
        last = self._streams.get(stream, -math.inf)
        if stamp <= last:
            self.counts["duplicate" if stamp == last else "out_of_order"] += 1
            return False
        self._streams[stream] = stamp
        self._newest = max(self._newest, stamp)
        return True

    def _window(self, stream: str, stamp: float) -> _Window | None:
        if not self._accept(stream, stamp):
            return None
        index = math.floor(stamp / SEGMENT_SECONDS)
        if index <= self._closed:
            self.counts["late"] += 1
            return None
        if index not in self._windows:
            self._windows[index] = _Window()
            if self._deed:
                self._windows[index].deeds.append((index * SEGMENT_SECONDS, self._deed))
        return self._windows[index]

    def _begin_anew(self) -> None:
        """Drop unfinished segments after a change of the clock or the map."""
        self._windows.clear()
        self.track.clear()

    def _look_up(self, window: _Window, ids: Mapping[int, int]) -> None:
        for identity in ids:
            entity = self._scene.get(identity)
            if entity is not None:
                window.known[identity] = entity

    def _close(self, indices: list[int]) -> list[Memory]:
        made = []
        for index in indices:
            window = self._windows.pop(index)
            self._closed = max(self._closed, index)
            memory = self._memory_of(index * SEGMENT_SECONDS, window)
            if memory is not None:
                made.append(memory)
        return made

    def _memory_of(self, start: float, window: _Window) -> Memory | None:
        end = start + SEGMENT_SECONDS
        if self.track.is_lost(start, end):
            self.counts["lost"] += 1
            return None
        placed = [
            (stamp, pose) for stamp in sorted(window.seen) if (pose := self.track.at(stamp)) is not None
        ]
        self.counts["unplaced"] += len(window.seen) - len(placed)
        pose = placed[len(placed) // 2][1] if placed else self._between(start, end)
        if pose is None:
            return None
        things = self._things(window, [stamp for stamp, _ in placed])
        region_id, region = self.region_at(pose.position)
        labels = {identity: found.label for identity, found in self._scene.regions.items()}
        driven, turned = self.track.driven(start, end), self.track.turned(start, end)
        deeds = deeds_done([text for _, text in sorted(window.deeds)], driven, turned)
        if not things and deeds == (STANDING,):
            return None
        content = SegmentContent(things, labels, deeds, driven, region, self._scene.rooms)
        text = compose_caption(content)
        if not text.strip():
            return None
        return Memory(
            0,
            text,
            start,
            end,
            pose.position.copy(),
            pose.heading,
            self.floor,
            region_id,
            region,
            tuple(primitive_of(thing.entity, thing.pixels) for thing in things),
            tuple(window.keyframes[stamp] for stamp in sorted(window.keyframes)),
            robot=self._robot,
            session=self._session,
            map=self.map,
        )

    def _between(self, start: float, end: float) -> Pose | None:
        """Return the robot's pose in the middle of a segment, None if it was lost."""
        return self.track.at((start + end) / 2.0)

    def _things(self, window: _Window, stamps: list[float]) -> tuple[SeenThing, ...]:
        """Return the objects in the images of these stamps, largest first; merged entities count as one.

        Entities have their state at the end of the segment, so an object that was confirmed in its last
        second is included. An entity that the scene has dropped has its state at the last sighting.
        """
        pixels: dict[int, int] = {}
        for stamp in stamps:
            for identity, count in window.seen[stamp].items():
                current = self._scene.resolve(identity)
                pixels[current] = max(pixels.get(current, 0), count)
                if identity in window.known:
                    window.known.setdefault(current, window.known[identity])
        self._look_up(window, pixels)
        found = [SeenThing(window.known[i], count) for i, count in pixels.items() if i in window.known]
        found.sort(key=lambda thing: (-thing.pixels, thing.entity.id))
        return tuple(found[:SEGMENT_MAX_PRIMITIVES])


def primitive_of(entity: Entity, pixels: int = 0) -> Primitive:
    """Return the entity in its present state as a primitive."""
    low, high = np.asarray(entity.box_min, float), np.asarray(entity.box_max, float)
    return Primitive(
        entity.id,
        clean_text(entity.label),
        (low + high) / 2.0,
        high - low,
        clean_text(entity.caption),
        pixels,
    )
