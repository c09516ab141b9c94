"""Segments of some seconds of what was observed, as memories (STaR IV-A)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from lodestar.memory.config import SegmentConfig
from lodestar.memory.deeds import STANDING, deeds_done
from lodestar.memory.records import MapName, Memory, Primitive
from lodestar.memory.segment_captions import SeenThing, SegmentContent, compose_caption
from lodestar.memory.whereabouts import Pose, PoseTrack
from lodestar.scene.captions import clean_text
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity

_FIRST_MAP = MapName(1)


def views_of(stamp: float, seen: Iterable[tuple[float, int, int]]) -> list[tuple[float, dict[int, int]]]:
    """Return what each image showed, oldest first: its stamp, and entity id -> pixels of its mask, for `take_view`.

    stamp: of the change of the map that tells what was seen; without anything it is one of an image that showed
    nothing. seen: stamp, id and pixels of each observation.
    """
    views: dict[float, dict[int, int]] = {}
    for when, identity, pixels in seen:
        view = views.setdefault(when, {})
        view[identity] = view.get(identity, 0) + pixels
    return sorted(views.items()) or [(stamp, {})]


@dataclass
class _Window:
    """The records of one segment that is not finished. seen: stamp -> id -> pixels. known: entities as they were at
    their last sight.
    """

    seen: dict[float, Mapping[int, int]] = field(default_factory=dict)
    known: dict[int, Entity] = field(default_factory=dict)
    keyframes: dict[float, int] = field(default_factory=dict)
    deeds: list[tuple[float, str]] = field(default_factory=list)


class Segmenter:
    """Make one memory of every `seconds` in which something was seen or done. Not safe for threads.

    `take_*` only note a record; `finished` makes the memories. Segments lie at multiples of `seconds` in the clock of
    the stamps, so that a recording gives the same ones wherever it begins. There is none for a time in which the robot
    was lost. scene: the follower's mirror, which its owner keeps up to date. counts: records that were dropped, by
    reason (late, duplicate, out_of_order, clock_set, invalid), images without a pose (unplaced), and segments (lost,
    other_map).
    """

    def __init__(
        self,
        scene: SceneMirror,
        config: SegmentConfig,
        *,
        robot: str = "robot",
        session: str = "",
        map_name: MapName = _FIRST_MAP,
    ) -> None:
        self.config, self.counts = config, Counter[str]()
        self.track = PoseTrack(config)
        self.map = map_name
        self.floor = 0
        self._scene = scene
        self._robot, self._session = robot, session
        self._windows: dict[int, _Window] = {}
        self._newest = -math.inf
        self._streams: dict[str, float] = {}  # stream -> its last stamp
        self._deed = ""
        self._closed = -(2**62)  # windows up to this one are finished

    # --- records ----------------------------------------------------------------------------------------------

    def take_pose(self, stamp: float, position: np.ndarray | None, heading: float = 0.0) -> None:
        """Note base_link's pose in map: (3,) metres, radians; None = it is not known at this stamp."""
        if self._accept("pose", stamp):
            self.track.add(stamp, position, heading)

    def take_view(self, stamp: float, pixels: Mapping[int, int]) -> None:
        """Note what an image showed: entity id -> area of its mask, pixels; see `views_of`."""
        window = self._window("view", stamp)
        if window is None:
            return
        window.seen[stamp] = {
            self._scene.resolve(i): n for i, n in pixels.items() if n >= self.config.min_pixels
        }
        self._look_up(window, window.seen[stamp])

    def take_keyframe(self, stamp: float, keyframe_id: int) -> None:
        """Note that a keyframe was stored."""
        window = self._window("keyframe", stamp)
        if window is not None:
            window.keyframes[stamp] = keyframe_id

    def take_deed(self, stamp: float, text: str) -> None:
        """Note for what purpose the robot moves from now on, as "driving to the red mug"; "" = none."""
        window = self._window("deed", stamp)
        text = clean_text(text)
        if window is None or text == self._deed:
            return
        window.deeds.append((stamp, text))
        self._deed = text

    def take_map(self, map_name: MapName, floor: int = 0) -> None:
        """Note the map and floor that the robot is on. Segments that are under way on another one are dropped.

        A map that is saved gets a fingerprint and stays the same map.
        """
        saved = map_name.map_id == self.map.map_id and not self.map.fingerprint
        if (map_name != self.map and not saved) or floor != self.floor:
            self.counts["other_map"] += sum(bool(window.seen) for window in self._windows.values())
            self._begin_anew()
        self.map, self.floor = map_name, floor

    @property
    def keyframe_ids(self) -> list[int]:
        """Return the keyframes of the segments under way, the newest first."""
        return sorted(
            (i for window in self._windows.values() for i in window.keyframes.values()), reverse=True
        )

    def drop_keyframes(self) -> None:
        """Forget the keyframes that were noted: their store begins anew, and their ids mean others."""
        for window in self._windows.values():
            window.keyframes.clear()

    # --- memories ---------------------------------------------------------------------------------------------

    def finished(self) -> list[Memory]:
        """Return the memories of the segments that can change no more, oldest first; their ids are 0."""
        over = math.floor((self._newest - self.config.lateness) / self.config.seconds) if self._windows else 0
        return self._close([index for index in sorted(self._windows) if index < over])

    def flush(self) -> list[Memory]:
        """Return the memories of all segments, before the end."""
        return self._close(sorted(self._windows))

    def here(self, stamp: float) -> Pose | None:
        """Return where the robot was, None while it was lost."""
        return self.track.at(stamp)

    def region_at(self, position: np.ndarray) -> tuple[int, str]:
        """Return id and label of the region at a place; 0, "" where none is known."""
        identity = self._scene.region_at(position)
        region = self._scene.regions.get(identity)
        return identity, "" if region is None else clean_text(region.label)

    # --- within -----------------------------------------------------------------------------------------------

    def _accept(self, stream: str, stamp: float) -> bool:
        """Return whether a record counts; the stamps of a stream increase."""
        if not math.isfinite(stamp):
            self.counts["invalid"] += 1
            return False
        if stamp < self._newest - self.config.clock_jump:
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
        index = math.floor(stamp / self.config.seconds)
        if index <= self._closed:
            self.counts["late"] += 1
            return None
        if index not in self._windows:
            self._windows[index] = _Window()
            if self._deed:
                self._windows[index].deeds.append((index * self.config.seconds, self._deed))
        return self._windows[index]

    def _begin_anew(self) -> None:
        """Drop what is under way: the clock or the map is another one."""
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
            memory = self._memory_of(index * self.config.seconds, window)
            if memory is not None:
                made.append(memory)
        return made

    def _memory_of(self, start: float, window: _Window) -> Memory | None:
        end = start + self.config.seconds
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
        deeds = deeds_done([text for _, text in sorted(window.deeds)], driven, turned, self.config)
        if not things and deeds == (STANDING,):
            return None
        content = SegmentContent(things, labels, deeds, driven, region, self._scene.rooms)
        text = compose_caption(content, self.config)
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
        """Return a trusted pose in the middle of a segment in which nothing was seen."""
        return self.track.at((start + end) / 2.0)

    def _things(self, window: _Window, stamps: list[float]) -> tuple[SeenThing, ...]:
        """Return what the images of these stamps showed, largest first; entities that merged meanwhile are one.

        Entities are as the scene knows them now, at the end of the segment: a thing that was confirmed in its last
        second is in it. One that the scene has dropped is as it was when it was seen.
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
        return tuple(found[: self.config.max_primitives])


def primitive_of(entity: Entity, pixels: int = 0) -> Primitive:
    """Return the entity as it is now."""
    low, high = np.asarray(entity.box_min, float), np.asarray(entity.box_max, float)
    return Primitive(
        entity.id,
        clean_text(entity.label),
        (low + high) / 2.0,
        high - low,
        clean_text(entity.caption),
        pixels,
    )
