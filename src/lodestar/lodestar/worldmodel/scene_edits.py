"""Conversion of amendments to edits of the scene dictionary, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lodestar.scene.amendments import AmendmentRefused, Edit, EntityEdit, check_edits
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.records import Refusal, SceneDelta
from lodestar.scene.relations import Relation
from lodestar.worldmodel.amendment_checks import MalformedAmendment, check_amendment
from lodestar.worldmodel.amendments import OF_WAYS, Amendment, Change
from lodestar.worldmodel.records import Belief, entity_of


@dataclass(frozen=True)
class SceneAmended:
    """Result of amending the scene. inverse: amendments that undo the change, in this order."""

    delta: SceneDelta
    inverse: tuple[Amendment, ...]


def amend_scene(
    scene: SceneDictionary, amendments: Sequence[Amendment], expected_revision: int = 0
) -> SceneAmended:
    """Apply all amendments to the scene or none, and return the result. Raises AmendmentRefused.

    expected_revision: see `SceneDictionary.amend`.
    """
    made = scene.amend(_edits(amendments), expected_revision)
    last = amendments[-1]
    return SceneAmended(made.delta, tuple(_amendment(edit, last) for edit in made.inverse))


def check_amendments(
    scene: SceneDictionary, amendments: Sequence[Amendment], expected_revision: int = 0
) -> None:
    """Raise AmendmentRefused if `amend_scene` would raise it; change nothing."""
    with scene.lock:
        check_edits(scene.state, _edits(amendments), expected_revision)


def _edits(amendments: Sequence[Amendment]) -> list[EntityEdit]:
    if not amendments:
        raise AmendmentRefused(Refusal.BAD_REQUEST, "there is no amendment; give at least one")
    return [_edit(amendment) for amendment in amendments]


def _edit(amendment: Amendment) -> EntityEdit:
    if amendment.change in OF_WAYS:
        raise AmendmentRefused(
            Refusal.BAD_REQUEST,
            f"{amendment.change.value} is no change of the scene; world_model keeps the closed ways",
        )
    try:
        check_amendment(amendment)
    except MalformedAmendment as error:
        raise AmendmentRefused(Refusal.BAD_REQUEST, str(error)) from error
    relation = None
    if amendment.belief is not None:
        belief = amendment.belief
        ids = tuple(i for i in map(entity_of, belief.arguments) if i is not None)
        relation = Relation(
            belief.predicate, belief.arguments, ids, belief.negated, amendment.author, amendment.reason
        )
    return EntityEdit(
        Edit(amendment.change.value), amendment.entity_id, amendment.label, amendment.author, relation
    )


def _amendment(edit: EntityEdit, source: Amendment) -> Amendment:
    """Return an edit of the inverse as an amendment with the same trace.

    source: the amendment that it undoes.
    """
    relation = edit.relation
    belief = None if relation is None else Belief(relation.predicate, relation.arguments, relation.negated)
    return Amendment(
        Change(edit.edit.value),
        f"taken back: {source.reason}",
        edit.author or source.author,
        edit.entity_id,
        edit.label,
        belief,
        None,
        source.trace_id,
    )
