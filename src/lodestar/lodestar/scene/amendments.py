"""Corrections of entities by an operator or an expert (VLM-DEWM 3.1.5).

Kinds: archive, restore, doubt, relabel, relate. They change beliefs, not observations: a later sighting has
the same effect as without the correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from lodestar.scene.captions import words_only
from lodestar.scene.lifecycle import OPERATOR, EntityRecord
from lodestar.scene.records import EntityState, Refusal, SceneDelta
from lodestar.scene.relations import Relation
from lodestar.scene.scene_state import SceneState


class Edit(Enum):
    """Kinds of amendments."""

    ARCHIVE = "ARCHIVE"
    RESTORE = "RESTORE"
    DOUBT = "DOUBT"  # make uncertain, also if archived
    # an operator's label overrides all votes; another author's weighs slightly more than all votes together
    RELABEL = "RELABEL"
    RELATE = "RELATE"


class AmendmentRefused(ValueError):
    """Error: a request with amendments was refused, and none of them was carried out.

    The message says which one is wrong, and what to do.
    """

    def __init__(self, refusal: Refusal, message: str) -> None:
        super().__init__(message)
        self.refusal = refusal


@dataclass(frozen=True)
class EntityEdit:
    """One amendment of an entity, or a stated relation.

    entity_id: 0 for RELATE. label: for RELABEL, "" = revoke the last label. author: such as "operator".
    """

    edit: Edit
    entity_id: int = 0
    label: str = ""
    author: str = ""
    relation: Relation | None = None


@dataclass(frozen=True)
class Amended:
    """Result of amendments. inverse: edits that undo them, in the order in which to carry them out."""

    delta: SceneDelta
    inverse: tuple[EntityEdit, ...]


def check_edits(state: SceneState, edits: Sequence[EntityEdit], expected_revision: int) -> None:
    """Raise AmendmentRefused for the first edit that cannot be carried out.

    expected_revision: an edit is refused if its entity has changed after this revision; 0 = no check.
    """
    relabelled: set[int] = set()
    for number, edit in enumerate(edits, 1):
        where = f"amendment {number} ({edit.edit.value})"
        if (edit.edit is Edit.RELATE) != (edit.relation is not None):
            raise AmendmentRefused(Refusal.BAD_REQUEST, f"{where}: a relation is given with RELATE alone")
        wanted = [edit.entity_id] if edit.relation is None else list(edit.relation.entities)
        ids = [state.resolve(identity) for identity in wanted]
        for identity in ids:
            if identity not in state.records:
                raise AmendmentRefused(
                    Refusal.UNKNOWN_ENTITY, f"{where}: entity {identity} is not in the scene; query it anew"
                )
            if 0 < expected_revision < state.journal.changed_at(identity):
                raise AmendmentRefused(
                    Refusal.STALE,
                    f"{where}: entity {identity} has changed since revision {expected_revision}; look at it anew",
                )
        if edit.edit is Edit.RELABEL:
            known = ids[0] in relabelled or bool(state.records[ids[0]].relabelled[0])
            if not words_only(edit.label) and (edit.label.strip() or not known):
                raise AmendmentRefused(Refusal.BAD_REQUEST, f"{where}: {edit.label[:40]!r} is no label")
            relabelled.add(ids[0])


def apply_edits(state: SceneState, edits: Sequence[EntityEdit]) -> tuple[list[int], tuple[EntityEdit, ...]]:
    """Carry out checked edits; return the ids of the changed entities and the inverse edits."""
    changed: dict[int, None] = {}
    inverse: list[EntityEdit] = []
    for edit in edits:
        if edit.relation is not None:
            before = state.relations.put(edit.relation)
            inverse[:0] = [replace(edit, relation=before or edit.relation.opposite)]
            if OPERATOR in (edit.relation.author, "" if before is None else before.author):
                stated = [state.resolve(i) for i in edit.relation.entities[:1]]
                changed |= dict.fromkeys(stated)
                for identity in stated:
                    state.journal.mark(identity)
            continue
        identity = state.resolve(edit.entity_id)
        record = state.records[identity]
        back = _back(record, replace(edit, entity_id=identity))
        _apply(record, edit, state)
        state.settled(identity)
        changed[identity] = None
        inverse[:0] = back
    return list(changed), tuple(inverse)


def _apply(record: EntityRecord, edit: EntityEdit, state: SceneState) -> None:
    if edit.edit is Edit.ARCHIVE:
        record.archive()
    elif edit.edit is Edit.RESTORE:
        record.restore()
    elif edit.edit is Edit.DOUBT:
        record.doubt()
    else:
        record.relabel(words_only(edit.label), edit.author)
        state.queue.add(record.instance.id)


def _back(record: EntityRecord, edit: EntityEdit) -> list[EntityEdit]:
    """Return the edits that undo an edit, from the record as it is before the edit.

    They restore the state, with the default confidence of that state.
    """
    if edit.edit is Edit.RELABEL:
        label, author, _ = record.relabelled
        return [replace(edit, label=label, author=author or edit.author)]
    target = {Edit.ARCHIVE: EntityState.ARCHIVED, Edit.RESTORE: EntityState.ACTIVE}.get(
        edit.edit, EntityState.UNCERTAIN
    )
    if record.state is target:
        return []
    back = {EntityState.ARCHIVED: Edit.ARCHIVE, EntityState.ACTIVE: Edit.RESTORE}.get(
        record.state, Edit.DOUBT
    )
    return [replace(edit, edit=back)]
