"""Chain that makes memories and snapshots from the outputs of the robot's parts, at the memory node's rates.

A memory is a stored record of an observation, an event or a message, with its time and place. A segment is a
stretch of time whose observations make one memory. A snapshot is a keyframe that represents the entities it
shows (SnapMem).
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from lodestar.assembly.config import MemoryConfig
from lodestar.assembly.memory_handover import Keeper, MemoryHandover
from lodestar.assembly.memory_images import MemoryImages, WantedImages
from lodestar.assembly.memory_news import belief_news
from lodestar.geometry.corrections import Anchor
from lodestar.geometry.map_correction import MapCorrection
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.keyframes.records import ImageName, Keyframe
from lodestar.mapping.instances.records import InstanceDelta
from lodestar.memory.answering.coverage import FloorLooks
from lodestar.memory.answering.records import name_in_words
from lodestar.memory.deeds import DRIVING, purpose_of
from lodestar.memory.errors import StoreError
from lodestar.memory.events import (
    DecisionNews,
    DirectiveNews,
    Place,
    SceneChange,
    remember_belief,
    remember_change,
    remember_decision,
    remember_directive,
    remember_word,
)
from lodestar.memory.last_seen import LAST_SEEN_MAX_PLACES, LastSeen, LastSeenPlaces, RememberedPlaces
from lodestar.memory.looked_places import LookedPlaces
from lodestar.memory.records import EventKind, MapName, Memory, Primitive, SnapshotDelta, map_name_of
from lodestar.memory.scene_changes import SceneChanges
from lodestar.memory.segments import SEGMENT_CLOCK_JUMP, Segmenter, primitive_of, views_of
from lodestar.memory.snapshots.upkeep import SnapshotUpkeep
from lodestar.memory.vision_captions import Captioner, ComposedCaptions
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta
from lodestar.worldmodel.events import WorldEvent

_JUMPS = 200  # newest corrections of the map kept, to correct memories that are read again


# limit of keyframes of this run to keep, and of those that memories refer to; as keyframes.store.max_count
MEMORY_MAX_WANTED = 2000
MEMORY_MAX_WAITING = 2000  # limit of memories queued while there is no working store; chosen: over an hour


class MemoryChain:
    """Makes memories and snapshots from the outputs of the robot's parts. Not thread-safe.

    scene: mirror that the owner keeps up to date; it applies each delta before it passes the delta here.
    Without a working store, memories are queued; the oldest are dropped first. counts: numbers of memories
    kept, dropped or refused, of inputs ignored while the robot was lost, and of map corrections. problem: why
    memories are queued.
    """

    def __init__(self, config: MemoryConfig, scene: SceneMirror, store: Keeper | None = None) -> None:
        self.config, self.scene = config, scene
        self.counts = Counter[str]()
        self._handover = MemoryHandover(MEMORY_MAX_WAITING, self.counts)
        self._captions: Captioner = ComposedCaptions()
        self.map = MapName(scene.map_id)
        self.grid: OccupancyGrid2D | None = None
        self.segmenter = Segmenter(scene, robot=config.store.robot)
        self._places = LookedPlaces(config.events)
        self.changes = SceneChanges(scene, self._places)
        self.snapshots = SnapshotUpkeep()
        self.looks = FloorLooks(config.answering.coverage)
        self.last_seen = LastSeenPlaces(config.last_seen)
        self._remembered: tuple[tuple[int, int], RememberedPlaces] | None = None
        self._anchor = Anchor()
        self._jumps: deque[tuple[int, MapCorrection]] = deque(maxlen=_JUMPS)  # with newest memory id
        self._decision = (0, 0)  # (epoch, memory id) of the last decision
        self.images = MemoryImages(self.segmenter, self.snapshots)
        self._knows_scene = False
        self._busy = False  # a directive is running
        # stamp of each event that waits for a pose, in order, and function that keeps it
        self._unplaced: deque[tuple[float, Callable[[Place], object]]] = deque(maxlen=MEMORY_MAX_WAITING)
        self._deed_stamp = -math.inf
        if store is not None:
            self.use_store(store)

    def use_captions(self, captions: Captioner) -> None:
        """Set the captioner of segments; the default composes captions from templates."""
        self._captions = captions

    # --- the store ----------------------------------------------------------------------------------------------

    @property
    def store(self) -> Keeper | None:
        """Return the store of the memories; None = there is none, and memories are queued."""
        return self._handover.store

    @property
    def problem(self) -> str:
        """Return why memories are queued, "" if they are not."""
        return self._handover.problem

    @property
    def waiting(self) -> int:
        """Return the number of queued memories."""
        return len(self._handover.waiting)

    def use_store(self, store: Keeper | None) -> None:
        """Set the store for memories; None = queue them."""
        self._handover.store = store
        if store is not None:
            store.use_map(self.map)
            self._recall()
            self._handover.hand_over()

    def _recall(self) -> None:
        """Load earlier views and last-seen places on this map from the store.

        Answers such as "not seen" then count them too.
        """
        try:
            if len(self.looks) == 0:
                self.looks.take(self._handover.newest_kept())
            self.recall_places()
        except StoreError as error:
            self._handover.problem = str(error)

    def recall_places(self) -> None:
        """Reload the last-seen places from the store, for example after memories were erased or imported.

        Loads the places of the LAST_SEEN_MAX_PLACES most recently remembered objects. Raises StoreError.
        """
        if self.store is None:
            return
        memories = self._handover.last_sights(LAST_SEEN_MAX_PLACES)
        self.last_seen.clear()
        jumps = list(self._jumps)
        for memory in memories:
            while jumps and memory.id > jumps[0][0]:  # stored in coordinates after this correction
                self.last_seen.move(jumps.pop(0)[1])
            self.last_seen.take(memory, former=not self._handover.is_own(memory.id))
        for _, jump in jumps:
            self.last_seen.move(jump)
        for memory in self._handover.waiting:  # not in the store yet
            if memory.map == self.map:
                self.last_seen.take(memory)

    def _keep(self, memory: Memory) -> int:
        """Store a memory and return its id; 0 if it is queued or was refused."""
        memory = self.images.with_session(memory)
        self.last_seen.take(memory)
        return self._handover.add(memory)

    # --- observations -------------------------------------------------------------------------------------------

    def take_pose(self, stamp: float, map_from_base: np.ndarray | None) -> None:
        """Record the pose (4, 4) of base_link in map; None = the robot is lost."""
        if map_from_base is None:
            self.segmenter.take_pose(stamp, None)
        else:
            heading = math.atan2(map_from_base[1, 0], map_from_base[0, 0])
            self.segmenter.take_pose(stamp, map_from_base[:3, 3], heading)
        self._place_waiting(stamp)

    def take_correction(
        self, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray, stamp: float | None = None
    ) -> None:
        """Move the recorded places after a jump of map <- odom (4, 4), such as a loop closure.

        odom_from_sensor: (4, 4), the pose at the stamp. Memories in the store keep their coordinates.
        """
        with (
            suppress(ValueError),
            self._anchor.correction(map_from_odom, odom_from_sensor, stamp) as correction,
        ):
            if correction is not None:
                self.counts["corrections"] += 1
                self._jumps.append((self._handover.newest, correction))
                self.changes.move(correction)
                self.last_seen.move(correction)
                self.looks.move(correction)

    def take_look(self, stamp: float, map_from_camera: np.ndarray) -> None:
        """Record that the camera looked from this pose (4, 4), optical frame in map.

        Ignored while the robot is lost.
        """
        if self.segmenter.here(stamp) is None:
            return
        axis = map_from_camera[:3, 2]
        self.looks.look(stamp, map_from_camera[:2, 3], math.atan2(axis[1], axis[0]))
        if self.grid is not None:
            self._places.look(stamp, map_from_camera, self.grid)
            for place in self.last_seen.look(stamp, map_from_camera, self.grid, self.scene):
                self._miss(stamp, place)

    def _miss(self, stamp: float, place: LastSeen) -> None:
        """Remember that an object of an earlier session is no longer at the place where it was last seen."""
        thing = place.thing._replace(entity_id=0)  # its old id may belong to another object now
        region = self.scene.regions.get(self.scene.region_at(thing.centre))
        change = SceneChange(
            EventKind.VANISHED, stamp, thing, name_in_words(thing.caption, thing.label),
            "" if region is None else region.label, last_seen=math.nan if place.stamp is None else place.stamp,
        )  # fmt: skip
        self._keep_change(change)

    def _keep_change(self, change: SceneChange) -> None:
        self._place(change.stamp, lambda place: self._keep(remember_change(change, place)))

    def take_instances(self, delta: InstanceDelta) -> None:
        """Record the instances seen in each image of the delta."""
        seen = ((one.stamp, one.instance_id, one.pixel_count) for one in delta.observations)
        for stamp, pixels in views_of(delta.stamp, seen):
            self.take_view(stamp, pixels)

    def take_view(self, stamp: float, pixels: Mapping[int, int]) -> None:
        """Record the entities seen in one image: entity id -> pixels of its mask."""
        self.segmenter.take_view(stamp, pixels)

    def take_keyframe(self, keyframe: Keyframe) -> None:
        """Record a keyframe, or a newer version of a known one."""
        self.images.take_keyframe(keyframe)

    def wanted_images(self) -> WantedImages:
        """Return the keyframes to keep, at most MEMORY_MAX_WANTED of each kind.

        The kinds are keyframes of this run, and those of all runs that memories refer to.
        """
        limit = MEMORY_MAX_WANTED
        remembered: tuple[ImageName, ...] = ()
        if self.store is not None:
            under_way = [ImageName(self.images.session, one) for one in self.segmenter.keyframe_ids]
            remembered = tuple(dict.fromkeys([*under_way, *self.store.images(limit)]))[:limit]
        own = (image.id for image in remembered if image.session == self.images.session)
        wanted = tuple(dict.fromkeys([*sorted(self.snapshots.wanted), *own]))[:limit]
        return WantedImages(wanted, "" if self.store is None else self.store.name, remembered)

    # --- restart of this process --------------------------------------------------------------------------------

    def snapshot_state(self) -> dict[str, Any]:
        """Return the state of the snapshots for a restarted process, as JSON values."""
        return {**self.snapshots.state(), "map": [self.map.map_id, self.map.fingerprint]}

    def restore_snapshots(self, state: Mapping[str, Any]) -> None:
        """Restore the snapshots of an earlier process. Call it before any other input.

        They do not change until the stored keyframes were listed and all pages of the scene were received.
        Raises ValueError for an invalid state; then nothing changes.
        """
        try:
            name = MapName(int(state["map"][0]), str(state["map"][1]))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ValueError(f"these are no snapshots: {type(error).__name__}: {error}") from error
        self.snapshots.restore(state)
        self.map = name
        self.segmenter.take_map(name)

    def take_grid(self, grid: OccupancyGrid2D) -> None:
        """Set the plan grid (2D occupancy grid for planning)."""
        self.grid = grid

    @property
    def pose(self) -> np.ndarray | None:
        """Return the robot's pose (3,) x, y, yaw in map; None while it is lost."""
        last = self.segmenter.track.last
        here = None if last is None else self.segmenter.here(last.stamp)
        return None if here is None else np.array([*here.position[:2], here.heading])

    # --- changes of the scene -----------------------------------------------------------------------------------

    def take_delta(self, delta: SceneDelta) -> None:
        """Process a change of the scene that was already applied to the mirror."""
        if self._is_other_map(delta):
            self._begin_map(delta)
            self.changes.learn()
            return
        self.snapshots.apply(delta)
        for change in self.changes.take(delta):
            self._keep_change(change)

    def take_page(self, delta: SceneDelta) -> None:
        """Process a page of the whole scene, or of missed changes: it updates the known state without creating
        events.
        """
        if self._is_other_map(delta):
            self._begin_map(delta)
        else:
            self.snapshots.apply(delta)
            if delta.previous_revision == 0:
                self.snapshots.keep_entities(self.scene.entities.get)
        self._knows_scene = True
        self.changes.learn(delta.updated)

    def _is_other_map(self, delta: SceneDelta) -> bool:
        return map_name_of(delta.map_id, delta.session_id) != self.map

    def _begin_map(self, delta: SceneDelta) -> None:
        """Switch to another map, loaded or newly created, and discard all state of the old one."""
        self._unplaced.clear()
        self.map = map_name_of(delta.map_id, delta.session_id)
        self.segmenter.take_map(self.map)
        self.changes.clear()
        self.looks.clear()
        self.last_seen.clear()
        self._anchor.resume(None)
        self._jumps.clear()
        self.snapshots.restart()
        self.images.lacks = True
        self.snapshots.apply(delta)
        if self.store is not None:
            self.store.use_map(self.map)
            self._recall()

    # --- directives, decisions and messages ---------------------------------------------------------------------

    def take_directive(self, news: DirectiveNews) -> None:
        """Remember the begin or end of a directive."""
        self._busy = not news.outcome
        self._move_for(news.stamp, DRIVING if self._busy else "")
        self._place(news.stamp, lambda place: self._keep(remember_directive(news, place)))

    def take_decision(self, news: DecisionNews) -> None:
        """Remember a decision, and remember it again when its outcome is known.

        Answers then use the second memory in place of the first.
        """
        self._busy |= not news.outcome
        if self._busy:
            target = self.scene.get(news.target) if news.target else None
            self._move_for(news.stamp, purpose_of(news, target))
        self._place(news.stamp, lambda place: self._keep_decision(news, place))

    def _keep_decision(self, news: DecisionNews, place: Place) -> None:
        memory = remember_decision(news, place, self._things(news.entity_ids))
        epoch, first = self._decision
        identity = self._keep(replace(memory, corrects=first) if first and epoch == news.epoch else memory)
        self._decision = (news.epoch, identity)

    def take_event(self, event: WorldEvent) -> None:
        """Remember an event of the world model."""
        if event.text:
            news, things = belief_news(event), self._things(event.entity_ids)
            self._place(event.stamp, lambda place: self._keep(remember_belief(news, place, things)))

    def _things(self, ids: Iterable[int]) -> list[Primitive]:
        found = [self.scene.get(identity) for identity in ids]
        return [primitive_of(entity) for entity in found if entity]

    def _move_for(self, stamp: float, purpose: str) -> None:
        """Record the purpose of the robot's motion from this stamp on.

        A stamp at or just before the last one, as of a decision made with its directive, is moved to just
        after it.
        """
        if self._deed_stamp - SEGMENT_CLOCK_JUMP <= stamp <= self._deed_stamp:
            stamp = math.nextafter(self._deed_stamp, math.inf)
        self._deed_stamp = stamp
        self.segmenter.take_deed(stamp, purpose)

    def take_word(self, stamp: float, text: str) -> int | None:
        """Remember an operator's message. Return the id of the memory, 0 if it is queued, None if the robot's
        place at the stamp is not known (yet).

        Raises ValueError for a text without letters.
        """
        place = self._place_at(stamp)
        return None if place is None else self._keep(remember_word(stamp, text, place))

    def _place(self, stamp: float, keep: Callable[[Place], object]) -> None:
        """Pass the robot's place at a stamp to `keep`: now or, if no pose is near enough, after later poses.

        If the robot is lost, `keep` is not called, and the event is not remembered.
        """
        self._unplaced.append((stamp, keep))
        self._place_waiting()

    def _place_waiting(self, newest: float | None = None) -> None:
        """Place the waiting events. newest: stamp of a new pose; only events after it wait longer.

        After the clock went back, events of before do not.
        """
        waiting = self._unplaced.copy()
        self._unplaced.clear()
        try:
            while waiting:
                stamp, keep = event = waiting.popleft()
                place = self._place_at(stamp)
                if place is not None:
                    keep(place)
                elif newest is None or 0.0 < stamp - newest < SEGMENT_CLOCK_JUMP:
                    self._unplaced.append(event)
                else:
                    self.counts["lost"] += 1
        finally:
            self._unplaced.extend(waiting)  # those after one that cannot be kept

    def _place_at(self, stamp: float) -> Place | None:
        """Return the robot's place at a stamp; None while it is lost."""
        here = self.segmenter.here(stamp)
        if here is None:
            return None
        region_id, region = self.segmenter.region_at(here.position)
        return Place(
            here.position, here.heading, self.segmenter.floor, region_id, region,
            robot=self.config.store.robot, map=self.map,
        )  # fmt: skip

    # --- last-seen places ---------------------------------------------------------------------------------------

    def remembered(self) -> RememberedPlaces:
        """Return the places where objects were last seen and where the scene has no such object now."""
        state = (self.last_seen.revision, self.scene.revision)
        if self._remembered is None or self._remembered[0] != state:
            before = RememberedPlaces(self.map, 0) if self._remembered is None else self._remembered[1]
            now = RememberedPlaces(self.map, before.revision + 1, self.last_seen.places(self.scene))
            self._remembered = state, before if before.revision and now.is_as(before) else now
        return self._remembered[1]

    # --- memories -----------------------------------------------------------------------------------------------

    def tick(self, stamp: float) -> SnapshotDelta:
        """Store queued memories and those of finished segments. Return the changes of the snapshots."""
        for memory in self.segmenter.finished():
            self._captions.offer(self.images.with_session(memory))
        for memory in self._captions.ready(stamp):
            self._keep(memory)
        self._handover.hand_over()
        if self.snapshots.is_held and self._knows_scene and not self.images.lacks:
            self.snapshots.release()
        return self.snapshots.commit(stamp)

    def close(self) -> None:
        """Store the memories of unfinished segments before the process ends."""
        for memory in self.segmenter.flush():
            self._captions.offer(memory)
        for memory in self._captions.ready(math.inf):
            self._keep(memory)
