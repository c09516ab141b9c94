"""Verification of claims about pictures: pictures must be able to show what is claimed, without contradictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lodestar.language.question import AnswerType, Question, QuestionKind
from lodestar.memory.answering.agent_claims import BadClaim, Checked
from lodestar.memory.answering.config import ANSWERING_GAP
from lodestar.memory.answering.coverage import Coverage, FloorLooks
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.replies import floor_seen
from lodestar.memory.answering.shots import Shot
from lodestar.models.lexicon import load_lexicon


def check_pictures(inquiry: Inquiry, claims: Sequence[Checked], yes: bool | None) -> None:
    """Raise BadClaim if the cited pictures cannot show the claimed fact, or contradict each other.

    A change, or its absence, needs pictures of two moments in each claim; pictures cannot show what is gone; contents
    of a room need a picture of that room; denying a property needs a picture of that very object. A property and a
    count must be equal in all pictures, and a "yes" must name the property in question.
    """
    seen = [claim for claim in claims if claim.pictures]
    if not seen:
        return
    question, changes = inquiry.question, inquiry.is_of_change
    if changes and question.kind is QuestionKind.WHAT_THERE:
        raise BadClaim("a picture shows what is there, not what is gone")
    if (changes or inquiry.asks_first) and not all(_spans(claim, ANSWERING_GAP) for claim in seen):
        raise BadClaim("pictures of one moment do not show whether something changed")
    if question.asked and yes is False and not all(claim.outlined for claim in seen):
        raise BadClaim("it cites no picture of the very thing that it denies something of")
    if question.asked and not all(_fits(question, claim, yes) for claim in seen):
        raise BadClaim("what it sees of the thing is not what it answers")
    if not all(any(_is_of_rooms(inquiry, shot) for shot in claim.pictures) for claim in seen):
        raise BadClaim("it cites pictures of another room")
    if question.kind is QuestionKind.ATTRIBUTE and len({_value(claim.said) for claim in seen}) > 1:
        raise BadClaim("its pictures do not agree")
    if question.answer is AnswerType.NUMBER and len({claim.number for claim in seen}) > 1:
        raise BadClaim("its pictures do not agree in how many there are")


def floor_of_pictures(inquiry: Inquiry, claims: Sequence[Checked]) -> Coverage:
    """Return the share of the floor that the cited pictures show, which limits a claim of absence.

    Raises BadClaim if a claim cites no picture, or if the share is unknown or 0.
    """
    if not all(claim.pictures for claim in claims):
        raise BadClaim("notes cannot show that something is not there")
    looks = FloorLooks(inquiry.config.coverage)
    shots = {shot.image: shot for claim in claims for shot in claim.pictures if shot.heading is not None}
    for shot in sorted(shots.values(), key=lambda shot: shot.stamp):
        looks.look(shot.stamp, shot.position, shot.heading or 0.0)
    asked = replace(inquiry, tools=replace(inquiry.tools, looks=looks), window=None)
    seen = floor_seen(asked, None if inquiry.scope is None else inquiry.scope.regions)
    if seen is None or seen.share <= 0.0:
        raise BadClaim("nobody knows how much of the floor its pictures show, so nothing is not there")
    return seen


def _spans(claim: Checked, gap: float) -> bool:
    """Return whether the oldest and the newest picture of a claim are more than `gap` seconds apart."""
    stamps = [shot.stamp for shot in claim.pictures]
    return max(stamps) - min(stamps) > gap


def _is_of_rooms(inquiry: Inquiry, shot: Shot) -> bool:
    """Return whether an image was taken in the rooms that the question names, or shows an object in them."""
    scope, scene = inquiry.scope, inquiry.tools.scene
    if scope is None or inquiry.region_at(shot.position) in scope.regions:
        return True
    things = (scene.entities.get(identity) for identity in shot.shares)
    return any(
        one is not None and (one.region_id or inquiry.region_at(one.mean)) in scope.regions for one in things
    )


def _fits(question: Question, claim: Checked, yes: bool | None) -> bool:
    """Return whether the property that a claim names agrees with the answer `yes`.

    If `yes`, it must be a property that the question asks about, else another one. Always True without an
    answer, or if the question asks about anything besides properties.
    """
    looks = {_value(p.value) for p in question.asked if p.name == "HasAttribute" and not p.negated}
    if len(looks) != len(question.asked) or yes is None:
        return True
    return (_value(claim.said) in looks) is yes


def _value(said: str) -> str:
    lexicon, word = load_lexicon(), said.casefold().strip()
    return lexicon.attribute(word) or lexicon.canonical(word) or word
