"""Tracks of people and animals: constant velocity in the plane, gated association, expiry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar.geometry.poses import inverse
from lodestar.mapping.instances.records import CaptionVote, Instance, InstanceDelta, Observation
from lodestar.mapping.movers.plane_tracks import LONGEST, MOVER_MISSES, PlaneTrack, associate, new_belief
from lodestar.perception.config import MoverConfig
from lodestar.perception.frames import RgbdFrame
from lodestar.perception.movers import MoverSight, SplitFrame

MOVER_CONFIRM = 2  # sightings that confirm a track; chosen: a single false detection must not become a mover
#: First id of tracks; ids of instances and signs are lower.
FIRST_TRACK = 3 << 29
_IDS = (1 << 31) - 1 - FIRST_TRACK
_AROUND = 0.15  # m around a body within which depth still belongs to the body
_BODY = 0.25  # m, least radius of a body, which may be partly outside the image; chosen: half the shoulders of an adult
_BEHIND = 0.5  # m beyond a track's position, from which on depth shows that the mover is not there
_CLOCK_SET = 1.0  # s; a stamp that is older by more means that the clock was set back
_SMOOTH = 0.3  # weight of a new box in height and size
_LATE = 0.5  # s after which a camera track that another sensor still follows is outdated; chosen: two images
_SAME = 0.6  # m between two tracks of one body, plus walking distance; chosen: two bodies side by side
_WALK = 1.4  # m/s, walking speed of a person


def is_track(identity: int) -> bool:
    """Return whether an id is that of a mover's track."""
    return identity >= FIRST_TRACK


@dataclass(frozen=True)
class MoverTrack:
    """Estimated state of a mover at `stamp`, in map, metres.

    place: (3,), the middle of its body. velocity: (2,) m/s. size: (3,). first_seen, last_seen: stamps,
    seconds.
    """

    id: int
    label: str
    caption: str
    place: np.ndarray
    velocity: np.ndarray
    size: np.ndarray
    first_seen: float
    last_seen: float
    stamp: float


@dataclass(eq=False, kw_only=True)
class _State(PlaneTrack):
    """Track of one mover in odom. height: z of the middle of its body; size: (3,), metres."""

    height: float
    size: np.ndarray
    sight: MoverSight
    id: int = 0  # assigned by the sighting that confirms the track; 0 = unconfirmed
    votes: dict[tuple[str, str], float] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, str]:
        """Return the (label, caption) with the largest weight."""
        return max(self.votes, key=lambda words: (self.votes[words], words))


def without_outdated(seen: Sequence[MoverTrack], ranged: Sequence[MoverTrack]) -> tuple[MoverTrack, ...]:
    """Return the tracks of camera and range sensor, without camera tracks that are outdated.

    A camera track is outdated if its mover has left the camera's view and the range sensor still tracks it
    elsewhere; the robot would otherwise avoid a place that is empty. Each track of the range sensor matches
    at most one camera track; camera tracks seen last are matched first. seen: camera tracks. ranged: tracks
    of the range sensor.
    """
    kept, free = list[MoverTrack](), list(ranged)
    for track in sorted(seen, key=lambda one: -one.last_seen):
        away = [float(np.linalg.norm((one.place - track.place)[:2])) for one in free]
        nearest = int(np.argmin(away)) if free else -1
        late = max(free[nearest].last_seen - track.last_seen, 0.0) if free else 0.0
        is_same = bool(free) and away[nearest] <= _SAME + _WALK * late
        if is_same:
            del free[nearest]
        if not is_same or late <= _LATE:
            kept.append(track)
    return (*kept, *ranged)


class MoverTracker:
    """Tracks the movers in segmented camera frames. Only `tracks` and `without_movers` are thread-safe.

    Tracks are kept in odom, so corrections of map <- odom do not move them. A frame that is not newer than
    the last is ignored; if the clock goes back, tracking restarts.
    """

    def __init__(self, config: MoverConfig) -> None:
        self.config = config
        self.pictures = 0  # number of detections that were flat pictures
        self._states: list[_State] = []
        self._stamp = -np.inf
        self._map_from_odom = self._odom_from_camera = np.eye(4)
        self._next = 0
        self._ended: list[int] = []  # ids of tracks that ended since the last `told`
        self._tracks: tuple[MoverTrack, ...] = ()

    def restart_clock(self) -> None:
        """Forget all tracks, because the clock was set back."""
        self._ended += [state.id for state in self._states if state.id]
        self._states, self._stamp, self._tracks = [], -np.inf, ()

    def take(self, frame: RgbdFrame, split: SplitFrame) -> None:
        """Predict the tracks to the frame's stamp and update them with its movers.

        frame: with the depth of the movers still in it. split: the movers found in the frame.
        """
        if not np.isfinite([frame.odom_from_camera, frame.map_from_odom]).all():
            return
        if frame.stamp <= self._stamp:
            if frame.stamp > self._stamp - _CLOCK_SET:
                return
            self.restart_clock()
        step = min(frame.stamp - self._stamp, LONGEST) if self._states else 0.0
        self._stamp, self._odom_from_camera = frame.stamp, frame.odom_from_camera
        self._map_from_odom = np.array(frame.map_from_odom, np.float64)
        self.pictures += split.pictures
        for state in self._states:
            state.predict(step)
        sights = sorted(split.sights, key=lambda sight: -sight.detection.score)[: self.config.most]
        pairs = associate(self._states, np.array([one.place[:2] for one in sights]))
        for row, column in pairs:
            self._update(self._states[row], sights[column])
        matched = {column for _, column in pairs}
        seen = {row for row, _ in pairs}
        for row, state in enumerate(self._states):
            state.misses = 0 if row in seen else state.misses + self._is_seen_through(state, frame)
        begun = [self._begun(sight) for i, sight in enumerate(sights) if i not in matched]
        self._states = self._alive([*self._states, *begun], step)
        self._tracks = self._confirmed()

    def tracks(self) -> tuple[MoverTrack, ...]:
        """Return the confirmed tracks in map at the stamp of the newest frame. May be called from any thread."""
        return self._tracks

    def _confirmed(self) -> tuple[MoverTrack, ...]:
        turn = self._map_from_odom[:3, :3]
        return tuple(
            MoverTrack(
                state.id, *state.words, turn @ _middle(state) + self._map_from_odom[:3, 3],
                turn[:2, :2] @ state.mean[2:], state.size.copy(), state.first_seen, state.last_seen, self._stamp,
            )
            for state in self._states if state.id
        )  # fmt: skip

    def without_movers(self, frame: RgbdFrame) -> RgbdFrame:
        """Return the frame with invalid depth (0) at tracked movers; the same frame if no pixel is affected.

        All depth above and below a mover is cleared, because a person may be only partly in the image and a
        mask may lack the head.
        """
        pose, camera, depth = frame.odom_from_camera, frame.camera, frame.depth
        states = [state for state in self._states if abs(frame.stamp - state.last_seen) <= self.config.life]
        if not states or depth.shape != (camera.height, camera.width):
            return frame
        ahead = float(np.clip(frame.stamp - self._stamp, 0.0, LONGEST))
        plane = (camera.rays() @ pose[:2, :3].T.astype(np.float32)) * depth[..., None]
        own = np.zeros(depth.shape, bool)
        for state in states:
            x, y = (_middle(state, ahead)[:2] - pose[:2, 3]).astype(np.float32)
            own |= np.hypot(plane[..., 0] - x, plane[..., 1] - y) <= _radius(state.size)
        own &= depth > 0.0
        return replace(frame, depth=np.where(own, depth.dtype.type(0), depth)) if own.any() else frame

    def told(self, delta: InstanceDelta) -> InstanceDelta:
        """Return the voxel map's delta with the movers of its frame added, as instances and observations.

        Movers whose tracks have ended since the last call are listed as removed.
        """
        shown = [s for s in self._states if s.id and s.last_seen == self._stamp == delta.stamp]
        ended, self._ended = self._ended, []
        if not shown and not ended:
            return delta
        places = {track.id: track for track in self.tracks()}
        return replace(
            delta,
            updated=(*delta.updated, *(_instance(places[s.id], s) for s in shown)),
            observations=(*delta.observations, *(self._observation(s) for s in shown)),
            removed=(*delta.removed, *ended),
        )

    # --- internal ---------------------------------------------------------------------------------------------

    def _update(self, state: _State, sight: MoverSight) -> None:
        state.update(sight.place[:2], self._stamp)
        state.height += _SMOOTH * (float(sight.place[2]) - state.height)
        state.size = state.size + _SMOOTH * (_size(sight) - state.size)
        state.sight = sight
        _vote(state.votes, sight)
        if not state.id and state.sights >= MOVER_CONFIRM:
            self._next = max(self._next + 1, int(max(self._stamp, 0.0) * 10.0) % _IDS)
            state.id = FIRST_TRACK + self._next

    def _begun(self, sight: MoverSight) -> _State:
        mean, spread = new_belief(sight.place[:2])
        state = _State(
            mean=mean, covariance=spread, height=float(sight.place[2]), size=_size(sight), sight=sight,
            first_seen=self._stamp, last_seen=self._stamp,
        )  # fmt: skip
        _vote(state.votes, sight)
        return state

    def _alive(self, states: Iterable[_State], step: float) -> list[_State]:
        """Return the tracks to keep, last seen first; tracks not seen in this frame slow down."""
        config, kept = self.config, list[_State]()
        for state in states:
            unseen = self._stamp - state.last_seen
            if unseen > (config.life if state.id else config.life / 4.0) or state.misses >= MOVER_MISSES:
                self._ended += [state.id] if state.id else []
                continue
            if unseen > 0.0:
                state.coast(step)
            kept.append(state)
        kept.sort(key=lambda state: -state.last_seen)
        self._ended += [state.id for state in kept[config.most :] if state.id]
        return kept[: config.most]

    def _is_seen_through(self, state: _State, frame: RgbdFrame) -> bool:
        """Return whether the depth measured at a track's position lies clearly behind it."""
        camera = frame.camera
        x, y, z = (inverse(frame.odom_from_camera) @ np.append(_middle(state), 1.0))[:3]
        if z < 0.3 or frame.depth.shape != (camera.height, camera.width):
            return False
        column, row = round(camera.fx * x / z + camera.cx), round(camera.fy * y / z + camera.cy)
        if not (2 <= column < camera.width - 2 and 2 <= row < camera.height - 2):
            return False
        window = frame.depth[row - 2 : row + 3, column - 2 : column + 3]
        return bool((window > z + _BEHIND).mean() > 0.8)

    def _observation(self, state: _State) -> Observation:
        seen = state.sight.detection
        return Observation(
            state.id, self._stamp, self._odom_from_camera, seen.box, seen.pixel_count, seen.label, seen.caption,
            seen.score, float(np.linalg.norm(_middle(state) - self._odom_from_camera[:3, 3])), seen.feature,
            seen.feature_model,
        )  # fmt: skip


def _radius(size: np.ndarray) -> float:
    """Return the radius, metres, of the column that contains a body of this size (3,)."""
    return max(float(max(size[:2])) / 2.0, _BODY) + _AROUND


def _middle(state: _State, ahead: float = 0.0) -> np.ndarray:
    x, y, vx, vy = state.mean
    return np.array([x + ahead * vx, y + ahead * vy, state.height])


def _size(sight: MoverSight) -> np.ndarray:
    """Return the estimated size (3,), metres, of a body that was seen from one side.

    It is as deep as wide, 0.2 to 1 m, and as high as the points seen.
    """
    wide = float(np.clip(np.max((sight.high - sight.low)[:2]), 0.2, 1.0))
    return np.array([wide, wide, max(float(sight.high[2] - sight.low[2]), 0.1)])


def _vote(votes: dict[tuple[str, str], float], sight: MoverSight) -> None:
    words = sight.detection.label, sight.detection.caption
    votes[words] = votes.get(words, 0.0) + sight.detection.score
    if len(votes) > 16:
        del votes[min((one for one in votes if one != words), key=votes.__getitem__)]


def _instance(track: MoverTrack, state: _State) -> Instance:
    """Return a track as an instance record for the scene dictionary."""
    half = track.size / 2.0
    votes = sorted(state.votes.items(), key=lambda vote: -vote[1])
    return Instance(
        track.id, state.sights, track.place, np.diag(half**2 / 3.0), track.place - half, track.place + half,
        tuple(CaptionVote(label, caption, weight) for (label, caption), weight in votes), 1.0, state.sights,
        True, track.first_seen, track.last_seen,
    )  # fmt: skip
