"""Archiving of loaded entities whose object was seen elsewhere, before the robot visits the old place."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lodestar.scene.amendments import AmendmentRefused, Edit, EntityEdit
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.records import EntityState, SceneDelta
from lodestar.scene.session_changes import ChangeKind, ThingChange

MOST_COMPARED = 3000  # most entities of a scene that is compared; takes about a second


@dataclass(frozen=True)
class SeenElsewhere:
    """Ids of entities whose object was seen elsewhere, and the revision of the scene that was compared."""

    ids: tuple[int, ...] = ()
    revision: int = 0


class MovedThings:
    """Archives entities of a loaded map whose object now stands elsewhere under another id.

    No depth measurement through the old place is needed, unlike in the life cycle of VLM-DEWM B.6. An entity
    is archived in this way at most once per map, so that a sighting or an operator's amendment that restores
    it is not overruled.
    """

    def __init__(self, scene: SceneDictionary) -> None:
        self._scene = scene
        self._archived: set[int] = set()
        self._compared: tuple[int, int] = (0, -1)  # (map id, scene revision) of the last comparison
        self.changes: list[ThingChange] = []  # result of the last comparison

    def find(self) -> SeenElsewhere:
        """Compare the scene with the map as it was loaded; return the entities to archive.

        Slow; may run on another thread than the updates of the scene.
        """
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
        """Archive the found entities and return the deltas.

        An entity that has changed since the comparison is skipped; the next comparison covers it.
        """
        deltas = []
        for identity in found.ids:
            try:
                made = self._scene.amend([EntityEdit(Edit.ARCHIVE, identity)], found.revision)
            except AmendmentRefused:
                continue
            self._archived.add(identity)
            deltas.append(made.delta)
        return deltas
