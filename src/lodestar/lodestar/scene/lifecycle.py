"""Mutable record of one entity and its life cycle: active, uncertain, archived (VLM-DEWM B.6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar.geometry.boxes import box_iou, transform_box
from lodestar.geometry.map_correction import MapCorrection
from lodestar.keyframes.records import Keyframe
from lodestar.mapping.instances.records import CaptionVote, Instance, Observation
from lodestar.models.kinship import same_kind
from lodestar.perception.eyes import EYES_RATE
from lodestar.perception.frames import ImageBox
from lodestar.scene.captions import attributes_of, clean_text, elect, merge_votes, says_more
from lodestar.scene.fusion import FusedVector, add_weight
from lodestar.scene.records import Embedding, Entity, EntityState
from lodestar.scene.views import SCENE_MAX_VIEWS, KeptView, join_views, keep_view, looks_alike, view_quality

SCENE_ATTRIBUTE_SHARE = 0.35  # least share of the votes, 0..1, for an attribute; chosen
SCENE_CLEAR_LOOKS = 3  # clear views through its place after which an entity is archived; chosen
SCENE_ABSENCE_DECAY = 0.5  # factor of the confidence per clear look; chosen
# lambda of VLM-DEWM eq. B.17, per scan with a clear view of the entity's place and no detection, by a detector that
# nearly always sees it; a scan by another counts by its chance
SCENE_DECAY = 0.95
SCENE_UNCERTAIN_BELOW = 0.6  # confidence, 0..1 (VLM-DEWM B.6)
SCENE_ARCHIVE_BELOW = 0.1  # confidence, 0..1 (VLM-DEWM B.6)
SCENE_SCAN_INTERVAL = 1.0  # seconds between two scans that count for the decay; chosen
# metres from an archived entity of the same kind within which a new one continues it; chosen
SCENE_RESTORE_DISTANCE = 0.5
SCENE_MAX_CAPTIONS = 16  # per entity, with their visibilities; chosen
SCENE_STATIC_MOTION = 0.5  # metres of motion over its life from which an entity is not static; chosen

MAX_INHERITED = 32  # votes kept of merged entities
SAME_BOX = 0.25  # box IoU above which a new entity continues the archived one of its kind
APPEARANCE = "appearance"  # channel of the detector's features
DETECTOR = "detector"  # model name of features without one
OPERATOR = "operator"  # author whose label overrides all votes


@dataclass
class EntityRecord:
    """Mutable data of an entity in the dictionary; `entity()` returns its public form."""

    instance: Instance
    label: str = ""
    caption: str = ""
    attributes: tuple[str, ...] = ()
    inherited: tuple[CaptionVote, ...] = ()  # votes of entities that were merged into this one
    seen_as: dict[str, float] = field(default_factory=dict)  # caption -> visibility of the views that gave it
    voted: str = ""  # the caption by votes alone
    voted_label: str = ""  # the label by votes, before an operator's label
    described: tuple[str, str, tuple[str, ...]] = (
        "",
        "",
        (),
    )  # label, and a captioner's caption and attributes for it
    relabelled: tuple[str, str, float] = ("", "", 0.0)  # label, author, weight as a vote
    embeddings: dict[str, Embedding] = field(default_factory=dict)
    appearance: FusedVector | None = None
    appearance_model: str = ""
    views: tuple[KeptView, ...] = ()
    region_id: int = 0
    confidence: float = 1.0
    state: EntityState = EntityState.ACTIVE
    looks_in_vain: int = 0
    last_scan: float = -np.inf  # stamp of the last miss that counted
    first_seen: float = 0.0
    last_seen: float = 0.0
    birthplace: np.ndarray = field(default_factory=lambda: np.zeros(3))
    neighbors: dict[int, float] = field(default_factory=dict)
    neighbors_at: np.ndarray | None = None
    revision: int = 0

    @staticmethod
    def of(instance: Instance) -> EntityRecord:
        """Return the record of a newly confirmed instance."""
        record = EntityRecord(instance, first_seen=instance.first_seen, last_seen=instance.last_seen)
        record.birthplace = np.array(instance.centroid, float)
        record.update(instance)
        return record

    def update(self, instance: Instance) -> None:
        """Apply a newer state of the instance; a new sighting in it makes the entity active again."""
        seen = instance.last_seen > self.last_seen
        self.instance = instance
        self.first_seen = min(self.first_seen, instance.first_seen)
        self.elect()
        if seen:
            self.sighted(instance.last_seen)

    def elect(self) -> None:
        """Elect label, caption and attributes from all votes; an operator's label overrides the votes."""
        said, author, weight = self.relabelled
        more = (CaptionVote(said, said, weight),) if said and author != OPERATOR else ()
        votes = self.instance.votes
        if self.inherited or more:
            votes = merge_votes(votes, self.inherited, more)
        label, caption, attributes = elect(votes, SCENE_ATTRIBUTE_SHARE)
        self.voted_label = label
        if said and author == OPERATOR and label != said:
            caption = caption.replace(label, said) if label and label in caption else said
            label = said
        if not label:
            return
        self.label, self.caption, self.attributes, self.voted = label, caption, attributes, caption
        if self.described[0] == label and self.described[1] and not says_more(caption, label):
            self.caption = self.described[1]
            self.attributes = attributes or tuple(
                dict.fromkeys(attributes_of(self.caption) + self.described[2])
            )

    def describe(self, label: str, caption: str, attributes: tuple[str, ...]) -> None:
        """Store a captioner's caption and attributes.

        They are used as long as the label stays the same and the voted caption says no more than the label.
        """
        self.described = label, clean_text(caption), attributes
        self.elect()

    def archive(self) -> None:
        """Mark the entity as gone until it is seen again."""
        self.confidence = min(self.confidence, SCENE_ARCHIVE_BELOW)
        self.state = EntityState.ARCHIVED

    def restore(self) -> None:
        """Mark the entity as present."""
        self.confidence, self.looks_in_vain, self.state = 1.0, 0, EntityState.ACTIVE

    def doubt(self) -> None:
        """Make the entity uncertain, with a confidence halfway between the limits."""
        self.confidence = 0.5 * (SCENE_ARCHIVE_BELOW + SCENE_UNCERTAIN_BELOW)
        self.looks_in_vain, self.state = 0, EntityState.UNCERTAIN

    def relabel(self, label: str, author: str) -> None:
        """Set the label that an author gave the entity; "" revokes the last one."""
        weight = sum(vote.weight for vote in (*self.instance.votes, *self.inherited))
        self.relabelled = (label, author, weight + 1.0) if label else ("", "", 0.0)
        self.elect()

    def sighted(self, stamp: float) -> None:
        """Make the entity active and certain after a sighting."""
        self.last_seen = max(self.last_seen, stamp)
        self.confidence = 1.0
        self.looks_in_vain = 0
        self.state = EntityState.ACTIVE

    def observe(self, observation: Observation, map_from_odom: np.ndarray) -> bool:
        """Apply one detection; return whether the views have changed."""
        self.sighted(observation.stamp)
        mean = np.asarray(self.instance.centroid, float)
        visibility = view_quality(observation)
        caption = clean_text(observation.caption) or clean_text(observation.label)
        add_weight(self.seen_as, caption, visibility, SCENE_MAX_CAPTIONS)
        if observation.feature is not None:
            seen = FusedVector.of(observation.feature, visibility)
            self._show(seen, observation.feature_model)
        before = self.views
        self.views = keep_view(before, observation, map_from_odom, mean)
        return self.views is not before

    def _show(self, seen: FusedVector | None, model: str) -> None:
        """Add a feature vector of a detection to the entity's appearance.

        A vector of another model or dimension replaces the appearance.
        """
        own = self.appearance
        if seen is None:
            return
        fits = own is not None and model == self.appearance_model and own.total.shape == seen.total.shape
        self.appearance = FusedVector.join(own, seen) if fits else seen
        self.appearance_model = model

    def looked_through(self) -> None:
        """Lower the confidence after a depth measurement through the entity's place.

        After SCENE_CLEAR_LOOKS of them without a sighting the entity is archived.
        """
        self.looks_in_vain += 1
        self._believe(self.confidence * SCENE_ABSENCE_DECAY)
        if self.looks_in_vain >= SCENE_CLEAR_LOOKS:
            self.confidence = min(self.confidence, SCENE_ARCHIVE_BELOW)
            self.state = EntityState.ARCHIVED

    def missed(self, stamp: float, chance: float) -> bool:
        """Lower the confidence after a frame that shows the place clearly without a detection (VLM-DEWM eq. B.17).

        chance: probability that such a frame shows the entity if it is there. Returns False, without an effect, if the
        last such frame is too recent.
        """
        if 0.0 <= stamp - self.last_scan < SCENE_SCAN_INTERVAL:
            return False
        self.last_scan = stamp
        self._believe(self.confidence * SCENE_DECAY ** (chance / EYES_RATE))
        return True

    def _believe(self, confidence: float) -> None:
        self.confidence = confidence
        if self.state == EntityState.ARCHIVED:
            return
        if confidence < SCENE_ARCHIVE_BELOW:
            self.state = EntityState.ARCHIVED
        elif confidence < SCENE_UNCERTAIN_BELOW:
            self.state = EntityState.UNCERTAIN

    def absorb(self, loser: EntityRecord) -> None:
        """Merge `loser`, which is the same object: take over its views, votes, embeddings and history."""
        self.inherited = merge_votes(self.inherited, loser.instance.votes, loser.inherited)[:MAX_INHERITED]
        self.views = join_views(self.views, loser.views, SCENE_MAX_VIEWS)
        for name, embedding in loser.embeddings.items():
            self.embeddings.setdefault(name, embedding)
        for caption, weight in loser.seen_as.items():
            add_weight(self.seen_as, caption, weight, SCENE_MAX_CAPTIONS)
        if self.appearance is None or loser.appearance_model == self.appearance_model:
            self._show(loser.appearance, loser.appearance_model)
        if loser.first_seen < self.first_seen:
            self.first_seen, self.birthplace = loser.first_seen, loser.birthplace
        self.last_seen = max(self.last_seen, loser.last_seen)
        self.region_id = self.region_id or loser.region_id
        if loser.relabelled[0] and self.relabelled[1] != OPERATOR:
            self.relabelled = loser.relabelled
        self.elect()

    def link(self, keyframe: Keyframe, box: ImageBox) -> bool:
        """Link a keyframe, in which `box` shows the entity, to its view of that stamp and to similar views.

        A similar view without an image is replaced by the keyframe's, if its position and direction are about
        the same. Returns False if nothing changed.
        """
        linked = False
        kept: list[KeptView] = []
        for each in self.views:
            view = each.view
            if abs(view.stamp - keyframe.stamp) < 1e-6:
                changed = view.keyframe_id != keyframe.id
                view = replace(view, keyframe_id=keyframe.id)
            else:
                changed = view.keyframe_id == 0 and looks_alike(each, keyframe.map_from_camera)
                if changed:
                    pose, bare = np.array(keyframe.map_from_camera, float), replace(box, outline=())
                    view = replace(
                        view, stamp=keyframe.stamp, map_from_camera=pose, box=bare, keyframe_id=keyframe.id
                    )
            linked |= changed
            kept.append(KeptView(view, each.direction, each.distance))
        self.views = tuple(kept)
        return linked

    def move(self, correction: MapCorrection) -> bool:
        """Apply a correction of the map; return whether anything moved.

        The entity moves like the map at its first sighting, each view like the map at its stamp.
        """
        jump = correction.at(self.first_seen)
        moves = [correction.at(kept.view.stamp) for kept in self.views]
        if all(np.array_equal(move, np.eye(4)) for move in (jump, *moves)):
            return False
        turn, instance = jump[:3, :3], self.instance
        box_min, box_max = transform_box(jump, instance.box_min, instance.box_max)
        self.instance = replace(
            instance,
            centroid=turn @ np.asarray(instance.centroid, float) + jump[:3, 3],
            covariance=turn @ np.asarray(instance.covariance, float) @ turn.T,
            box_min=box_min,
            box_max=box_max,
        )
        self.birthplace = turn @ self.birthplace + jump[:3, 3]
        if self.neighbors_at is not None:  # the neighbours have moved by the same correction
            self.neighbors_at = turn @ self.neighbors_at + jump[:3, 3]
        moved: list[KeptView] = []
        for kept, move in zip(self.views, moves):
            view = replace(kept.view, map_from_camera=move @ kept.view.map_from_camera)
            moved.append(KeptView(view, move[:3, :3] @ kept.direction, kept.distance))
        self.views = tuple(moved)
        return True

    def entity(self, covisible: dict[int, float], map_id: int, session_id: str) -> Entity:
        """Return the public, immutable record of the entity."""
        instance = self.instance
        embeddings = dict(self.embeddings)
        if self.appearance is not None:
            embeddings[APPEARANCE] = Embedding(self.appearance_model or DETECTOR, self.appearance.unit)
        moved = float(np.linalg.norm(np.asarray(instance.centroid, float) - self.birthplace))
        return Entity(
            id=instance.id,
            label=self.label,
            caption=self.caption,
            mean=np.array(instance.centroid, float),
            covariance=np.array(instance.covariance, float),
            box_min=np.array(instance.box_min, float),
            box_max=np.array(instance.box_max, float),
            attributes=self.attributes,
            embeddings=embeddings,
            views=tuple(kept.view for kept in self.views),
            region_id=self.region_id,
            occupancy_probability=instance.occupancy_probability,
            confidence=self.confidence,
            state=self.state,
            is_static=moved < SCENE_STATIC_MOTION,
            observation_count=instance.observation_count,
            first_seen=self.first_seen,
            last_seen=self.last_seen,
            covisible=covisible,
            neighbors=dict(self.neighbors),
            map_id=map_id,
            session_id=session_id,
        )


def archived_twin(
    record: EntityRecord, others: Iterable[tuple[int, EntityRecord]], orphans: Collection[int] = ()
) -> int | None:
    """Return the archived entity that is of the same kind and place as a new one, or None (VLM-DEWM B.6 b).

    others: entities nearby by id. orphans: ids that count as archived because they have no instance.
    """
    found: list[tuple[float, int]] = []
    for identity, other in others:
        if other is record or (other.state != EntityState.ARCHIVED and identity not in orphans):
            continue
        if not any(same_kind(label, record.label) for label in (other.label, other.voted_label)):
            continue
        a, b = record.instance, other.instance
        gap = float(np.linalg.norm(np.asarray(a.centroid) - b.centroid))
        overlap = float(box_iou(a.box_min, a.box_max, b.box_min, b.box_max))
        if gap <= SCENE_RESTORE_DISTANCE or overlap >= SAME_BOX:
            found.append((gap, identity))
    return min(found)[1] if found else None


def twin_reach(record: EntityRecord) -> float:
    """Return the largest possible distance, metres, from an entity's centre to that of its archived twin."""
    size = float(np.linalg.norm(np.subtract(record.instance.box_max, record.instance.box_min)[:2]))
    return max(SCENE_RESTORE_DISTANCE, 0.5 * size * (1.0 + 1.0 / SAME_BOX))
