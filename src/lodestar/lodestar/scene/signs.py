"""Signs as entities: text on which several views agree; and the rooms that plates beside doors name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher

import numpy as np

from lodestar.geometry.map_correction import MapCorrection
from lodestar.mapping.instances.records import CaptionVote, Instance, Observation
from lodestar.mapping.movers.mover_tracks import FIRST_TRACK
from lodestar.perception.sign_text import SIGN, clean_sign, sign_caption, sign_text
from lodestar.perception.signs import SignReading, SignSight
from lodestar.scene.lifecycle import EntityRecord
from lodestar.scene.records import EntityState
from lodestar.scene.regions import RegionMap

FIRST_SIGN = 1 << 30  # ids of signs lie above those of the voxel map's instances
# least summed score of views with equal text before a sign is an entity: two views at least; chosen
AGREE = 1.2
SHARE = 0.6  # least share of a sign's votes for its text; chosen
_SAME_PLACE = 0.06  # m; sights this near are of one sign, with any text; chosen: noise of depth and pose
_NEAR = 0.35  # m; sights this near with nearly equal texts are of one sign; chosen: error of localisation
_ALIKE = 0.6  # least ratio of two nearly equal texts (difflib); chosen: one wrong letter of three
_VIEW_SHIFT = 0.1  # m; cameras this far apart give independent votes: the same image reads the same; chosen
_MOST = 8  # most views kept for a sign
_MOST_TEXTS = 16  # most texts kept for a sign, those with most votes
_MAX_TRACKS = 500  # most signs without agreement yet; the oldest are dropped first
_THICK = 0.01  # m, thickness of a sign's box
_BEHIND = np.arange(0.15, 0.85, 0.1)  # m behind a plate, distances at which its room is searched; chosen
_DOOR = 2.0  # m, most from a plate to the doorway of its room; chosen


@dataclass(eq=False)
class SignTrack:
    """One sign, tracked over several views.

    place, normal: (3,) in map, metres. votes: text -> weight. cameras: positions (3,) in map of the views.
    """

    place: np.ndarray
    normal: np.ndarray
    size: tuple[float, float]
    first_seen: float
    identity: int = 0
    last_seen: float = 0.0
    votes: dict[str, float] = field(default_factory=dict)
    cameras: list[np.ndarray] = field(default_factory=list)
    count: int = 0

    @property
    def text(self) -> str:
        """Return the text with most votes."""
        return max(self.votes, key=lambda text: (self.votes[text], text), default="")

    @property
    def share(self) -> float:
        """Return the share, [0, 1], of the votes that are for `text`."""
        return self.votes[self.text] / sum(self.votes.values()) if self.votes else 0.0

    @property
    def is_agreed(self) -> bool:
        """Return whether enough views read the same text."""
        return self.votes.get(self.text, 0.0) >= AGREE and self.share >= SHARE

    def is_like(self, text: str) -> bool:
        """Return whether a text is nearly equal to one read before."""
        key = _key(text)
        return any(SequenceMatcher(None, key, _key(read)).ratio() >= _ALIKE for read in self.votes)

    def take(
        self, sight: SignSight, place: np.ndarray, normal: np.ndarray, camera: np.ndarray, stamp: float
    ) -> None:
        """Add one detection of the sign.

        It counts as a vote only if the camera stands apart from those of the earlier views. place, normal,
        camera: (3,) in map.
        """
        self.last_seen = max(self.last_seen, stamp)
        if any(np.linalg.norm(camera - other) < _VIEW_SHIFT for other in self.cameras):
            return
        self.cameras = [*self.cameras, camera][-_MOST:]
        text = next((read for read in self.votes if _key(read) == _key(sight.text)), sight.text)
        self.votes[text] = self.votes.get(text, 0.0) + sight.score
        if len(self.votes) > _MOST_TEXTS:
            del self.votes[min((read for read in self.votes if read != text), key=self.votes.__getitem__)]
        self.count += 1
        weight = 1.0 / min(self.count, _MOST)
        self.place = self.place + weight * (place - self.place)
        turned = self.normal + weight * (normal - self.normal)
        self.normal = turned / max(float(np.linalg.norm(turned)), 1e-9)
        self.size = (sight.width, sight.height) if text == self.text else self.size

    def move(self, jump: np.ndarray) -> None:
        """Move the track by a transform (4, 4) in map."""
        self.place = jump[:3, :3] @ self.place + jump[:3, 3]
        self.normal = jump[:3, :3] @ self.normal
        self.cameras = [jump[:3, :3] @ camera + jump[:3, 3] for camera in self.cameras]

    def instance(self) -> Instance:
        """Return the sign as an instance record.

        Its covariance is thin along its normal; its occupancy probability is the agreement of the views.
        """
        across = np.cross([0.0, 0.0, 1.0], self.normal)
        length = float(np.linalg.norm(across))
        across = across / length if length > 1e-6 else np.array([1.0, 0.0, 0.0])  # on a floor or ceiling
        up = np.cross(self.normal, across)
        axes = np.column_stack([across, up, self.normal])
        half = np.array([self.size[0] / 2, self.size[1] / 2, _THICK / 2])
        reach = np.abs(axes) @ half
        votes = sorted(self.votes.items(), key=lambda vote: (-vote[1], vote[0]))
        return Instance(
            self.identity,
            1,
            self.place.copy(),
            axes @ np.diag(half**2 / 3.0) @ axes.T,
            self.place - reach,
            self.place + reach,
            tuple(CaptionVote(SIGN, sign_caption(text), weight) for text, weight in votes),
            self.share,
            self.count,
            True,
            self.first_seen,
            self.last_seen,
        )

    @staticmethod
    def of(record: EntityRecord) -> SignTrack:
        """Return the track of a sign of a loaded scene."""
        instance = record.instance
        low, high = np.asarray(instance.box_min, float), np.asarray(instance.box_max, float)
        size = float(np.linalg.norm((high - low)[:2])), float((high - low)[2])
        return SignTrack(
            np.array(instance.centroid, float),
            normal_of(record),
            size,
            instance.first_seen,
            instance.id,
            instance.last_seen,
            {sign_text(vote.caption): vote.weight for vote in instance.votes if sign_text(vote.caption)},
            [kept.view.map_from_camera[:3, 3] for kept in record.views][-_MOST:],
            instance.observation_count,
        )


class SignBook:
    """Joins detections of signs into tracks; a track becomes an entity if its views agree.

    Not thread-safe.
    """

    def __init__(self) -> None:
        self._tracks: list[SignTrack] = []

    def clear(self) -> None:
        """Forget all tracks; the next `take` restores those of entities from the scene."""
        self._tracks = []

    def move(self, correction: MapCorrection) -> None:
        """Apply a correction of the map to the tracks."""
        for track in self._tracks:
            track.move(correction.at(track.first_seen))

    def take(
        self, reading: SignReading, map_from_odom: np.ndarray, records: Mapping[int, EntityRecord], first: int
    ) -> tuple[list[Instance], list[Observation]]:
        """Return the signs in a reading on which views agree, as instances, and observations of them.

        map_from_odom: current (4, 4). records: entities of the scene; tracks whose entity has been removed
        are forgotten. first: the least id that a new sign may have.
        """
        self._follow(records)
        map_from_camera = map_from_odom @ reading.odom_from_camera
        shown: dict[int, tuple[SignTrack, SignSight]] = {}
        for sight in _readable(reading.sights):
            place = map_from_odom[:3, :3] @ sight.place + map_from_odom[:3, 3]
            normal = map_from_odom[:3, :3] @ sight.normal
            track = self._track_of(sight, place, normal)
            if track is None:
                track = SignTrack(place, normal, (sight.width, sight.height), reading.stamp)
                self._tracks.append(track)
            track.take(sight, place, normal, map_from_camera[:3, 3], reading.stamp)
            if track.identity == 0 and track.is_agreed:
                track.identity, first = first, first + 1
            if track.identity:
                shown[track.identity] = track, sight
        waiting = [track for track in self._tracks if not track.identity]
        if len(waiting) > _MAX_TRACKS:
            self._tracks = [track for track in self._tracks if track.identity] + waiting[-_MAX_TRACKS:]
        away = [float(np.linalg.norm(track.place - map_from_camera[:3, 3])) for track, _ in shown.values()]
        observations = [
            Observation(
                identity, reading.stamp, reading.odom_from_camera, sight.box, sight.box.width * sight.box.height,
                SIGN, sign_caption(track.text), sight.score, distance,
            )
            for (identity, (track, sight)), distance in zip(shown.items(), away)
        ]  # fmt: skip
        return [track.instance() for track, _ in shown.values()], observations

    def _follow(self, records: Mapping[int, EntityRecord]) -> None:
        """Update the tracks from the signs in the scene: their existence and their places."""
        known = {track.identity: track for track in self._tracks if track.identity}
        self._tracks = [track for track in self._tracks if not track.identity or track.identity in records]
        self._tracks += [
            SignTrack.of(record) for record in signs_of(records) if record.instance.id not in known
        ]
        for track in self._tracks:
            if track.identity:  # a correction of the map has moved the sign
                track.place = np.array(records[track.identity].instance.centroid, float)

    def _track_of(self, sight: SignSight, place: np.ndarray, normal: np.ndarray) -> SignTrack | None:
        found = []
        for track in self._tracks:
            away = float(np.linalg.norm(track.place - place))
            if float(track.normal @ normal) > 0.5 and away < _NEAR:
                alike = track.is_like(sight.text)
                if alike or away < _SAME_PLACE:
                    found.append((not alike, away, track))
        return min(found, key=lambda one: one[:2])[2] if found else None


def _readable(sights: Iterable[SignSight]) -> list[SignSight]:
    """Return the detections with cleaned texts, because texts are untrusted; empty ones are left out."""
    cleaned = (replace(sight, text=clean_sign(sight.text)) for sight in sights)
    return [sight for sight in cleaned if sight.text]


def _key(text: str) -> str:
    """Return a key for comparing texts: letters and digits, in lower case."""
    return "".join(c for c in text.casefold() if c.isalnum())


def is_sign(identity: int) -> bool:
    """Return whether an id belongs to a sign."""
    return FIRST_SIGN <= identity < FIRST_TRACK


def signs_of(records: Mapping[int, EntityRecord]) -> list[EntityRecord]:
    """Return the records of signs."""
    return [records[identity] for identity in records if FIRST_SIGN <= identity < FIRST_TRACK]


def normal_of(record: EntityRecord) -> np.ndarray:
    """Return the normal (3,) of a sign in map, pointing to its readers."""
    axis = np.linalg.eigh(np.asarray(record.instance.covariance, float))[1][:, 0]
    if record.views:
        towards = record.views[-1].view.map_from_camera[:3, 3] - np.asarray(record.instance.centroid, float)
        axis = -axis if axis @ towards < 0.0 else axis
    return axis


def plates_by_region(records: Iterable[EntityRecord], rooms: RegionMap) -> dict[int, tuple[str, ...]]:
    """Return the texts of plates by the region that they name, surest first.

    A plate names the region behind its wall if that region's doorway lies beside the plate; archived plates
    are ignored.
    """
    found: dict[int, list[tuple[float, str]]] = {}
    for record in records:
        text = "" if record.state is EntityState.ARCHIVED else sign_text(record.caption)
        region = _behind(record, rooms) if text else 0
        if region:
            found.setdefault(region, []).append((-record.instance.occupancy_probability, text))
    return {region: tuple(dict.fromkeys(text for _, text in sorted(said))) for region, said in found.items()}


def _behind(record: EntityRecord, rooms: RegionMap) -> int:
    """Return the region behind a plate, which it names; 0 if unknown."""
    place, normal = np.asarray(record.instance.centroid, float)[:2], normal_of(record)[:2]
    length = float(np.linalg.norm(normal))
    if rooms.is_empty or length < 0.5:  # a sign on a floor or a ceiling
        return 0
    normal = normal / length
    front = int(rooms.at((place + 0.3 * normal)[None])[0])
    for region in rooms.at(place - _BEHIND[:, None] * normal, reach=0.0).tolist():
        if region and region != front:
            door = rooms.openings(front, region)
            if len(door) and float(np.linalg.norm(door - place, axis=1).min()) <= _DOOR:
                return region
    return 0
