"""Entities of a loaded map whose thing was seen elsewhere since: they are archived before anybody walks there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lodestar.scene.amendments import AmendmentRefused, Edit, EntityEdit
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.records import EntityState, SceneDelta
from lodestar.scene.session_changes import ChangeKind, ThingChange

MOST_COMPARED = 3000  # entities up to which a scene is compared; that takes about a second then


@dataclass(frozen=True)
class SeenElsewhere:
    """Ids of entities whose thing was seen elsewhere, as of a revision of the scene."""

    ids: tuple[int, ...] = ()
    revision: int = 0


class MovedThings:
    """Archive what a loaded map has at a place whose thing stands elsewhere now, under another id.

    Depth archives an entity when it is measured through the old place (VLM-DEWM B.6); this needs no look there. Each
    entity is archived so once per map: a sighting, or an operator's word, that brings it back is not overruled.
    """

    def __init__(self, scene: SceneDictionary) -> None:
        self._scene = scene
        self._archived: set[int] = set()
        self._compared: tuple[int, int] = (0, -1)  # map and revision of the last comparison
        self.changes: list[ThingChange] = []  # that it found

    def find(self) -> SeenElsewhere:
        """Compare the scene with the map as it was loaded. Slow; may run beside the scene's updates."""
        scene = self._scene
        state = scene.map_id, scene.revision
        if state == self._compared:
            return SeenElsewhere()
        if state[0] != self._compared[0]:
            self._archived.clear()
        self._compared = state
        self.changes = scene.changes_since_load(MOST_COMPARED)
        ids = [
            change.before.id
            for change in self.changes
            if change.kind is ChangeKind.MOVED
            and change.before is not None
            and change.after is not None
            and change.after.id != change.before.id
        ]
        return SeenElsewhere(tuple(self._present(ids)), state[1])

    def _present(self, ids: Collection[int]) -> list[int]:
        entities = self._scene.entities()
        return [
            identity
            for identity in ids
            if identity not in self._archived
            and identity in entities
            and entities[identity].state is not EntityState.ARCHIVED
        ]

    def archive(self, found: SeenElsewhere) -> list[SceneDelta]:
        """Archive them, and return the deltas; one that has changed since is left to the next comparison."""
        deltas = []
        for identity in found.ids:
            try:
                made = self._scene.amend([EntityEdit(Edit.ARCHIVE, identity)], found.revision)
            except AmendmentRefused:
                continue
            self._archived.add(identity)
            deltas.append(made.delta)
        return deltas
