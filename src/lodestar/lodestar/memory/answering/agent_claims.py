"""Verification of a language model's claims against the evidence that they cite."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lodestar.memory.answer import Proof, ProofKind
from lodestar.memory.answering.agent_tools import Notebook
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.records import Box, Sighting, Thing
from lodestar.memory.answering.replies import proofs_of_memories, proofs_of_things
from lodestar.memory.answering.shots import Shot
from lodestar.memory.answering.wording import place_in_words
from lodestar.memory.records import Memory
from lodestar.models.english import NUMBERS
from lodestar.models.kinship import same_kind
from lodestar.models.lexicon import load_lexicon, words_of
from lodestar.models.wordnet import load_wordnet
from lodestar.scene.captions import clean_text

_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_SLACK = 5.0  # seconds by which a claimed time may differ from that of a cited memory (STaR V)
_SEEN = "seen by a model"
_MOST_COUNTED = 200  # largest count accepted from a picture; chosen
# metres by which a claimed place may differ from a cited box; chosen: the robot's own accuracy of a goal
_NEAR = 1.0
#: Nouns that denote a time, a place or a quantity and name no object.
_TELLING_TEXT = (
    "second minute hour day time moment yesterday today left right front side top bottom middle way one "
    "metre meter robot person somebody thing place room here there ago"
)
_TELLING = frozenset(_TELLING_TEXT.split())


class BadClaim(ValueError):
    """Raised for a claim that its evidence does not support; the message gives the reason without quoting the claim."""


@dataclass(frozen=True)
class Checked:
    """Verified claim of the language model. box, time, number: from the store, if the claim states one.

    For a claim about `pictures`, the number, the text and `said` (the object's name) are the model's own and
    unverified. outlined: ids of the cited objects that are outlined in the pictures.
    """

    text: str
    memories: tuple[Memory, ...]
    things: tuple[Thing, ...]
    box: Box | None = None
    time: tuple[float, float] | None = None
    number: float | None = None
    pictures: tuple[Shot, ...] = ()
    said: str = ""
    outlined: frozenset[int] = frozenset()

    @property
    def names(self) -> list[str]:
        """Return the names of the objects that the claim is about."""
        return [self.said] if self.pictures and self.said else [thing.name for thing in self.things]

    def proofs(self, inquiry: Inquiry) -> list[Proof]:
        """Return a proof for each image, object and memory that the claim cites."""
        seen = [
            Proof(
                ProofKind.KEYFRAME,
                shot.image.id,
                shot.stamp,
                shot.position,
                _SEEN,
                session=shot.image.session,
            )
            for shot in self.pictures
        ]
        return [*seen, *proofs_of_things(self.things), *proofs_of_memories(self.memories)]


def checked_claim(
    inquiry: Inquiry, shown: Notebook, claim: dict[str, Any], least_share: float = 0.0
) -> Checked:
    """Return the verified claim, with place, time and count from the store. Raises BadClaim.

    A claim that cites a picture shown to the model may state new facts. Its place and time are still the
    store's, and the objects that it cites must be outlined in the picture and take up at least `least_share`
    of it.
    """
    resolve = inquiry.tools.scene.resolve
    memories, things, seen = [], [], list[Sighting]()
    pictures = _cited_pictures(shown, claim["evidence"])
    outlined = frozenset[int]()
    if pictures:
        outlined = frozenset(int(name[1:]) for name in claim["evidence"] if name[0] == "e")
        _check_outlines(outlined, pictures, least_share)
    for name in claim["evidence"]:
        identity = int(name[1:])
        if name[0] == "k" or (name[0] == "e" and pictures):
            continue
        if name[0] == "m":
            if identity not in shown.memories:
                raise BadClaim("it cites a note that was not shown")
            memories.append(shown.memories[identity])
        elif identity in shown.things:
            things.append(shown.things[identity])
        else:
            found = [
                Sighting(m, p) for m in shown.memories.values() for p in m.primitives
                if resolve(p.entity_id) == identity
            ]  # fmt: skip
            if not found:
                raise BadClaim("it cites a thing that was not shown")
            seen.append(max(found, key=lambda sighting: sighting.memory.start))
    memories += [sighting.memory for sighting in seen]
    text = clean_text(claim["text"])
    if not any(c.isalpha() for c in text):
        raise BadClaim("it has no words")
    box = _place(claim["place"], memories, things, [*seen, *_in_pictures(inquiry, pictures, outlined)])
    time = _time(inquiry, claim["seconds_ago"], memories, things, pictures)
    if pictures:
        return Checked(
            text, tuple(memories), tuple(things), box, time, _counted(claim["number"]), tuple(pictures),
            clean_text(claim["thing"]), outlined,
        )  # fmt: skip
    cited = {thing.id for thing in things} | {resolve(s.primitive.entity_id) for s in seen}
    number = _count(claim["number"], cited)
    _check_names(inquiry, f"{text} {clean_text(claim['thing'])}", memories, things)
    _check_numbers(text, claim, number)
    return Checked(text, tuple(memories), tuple(things), box, time, number)


def _cited_pictures(shown: Notebook, names: Sequence[str]) -> list[Shot]:
    ids = [int(name[1:]) for name in names if name[0] == "k"]
    if not shown.pictures.keys() >= set(ids):
        raise BadClaim("it cites a picture that was not shown")
    return [shown.pictures[i] for i in ids]


def _check_outlines(outlined: frozenset[int], pictures: Sequence[Shot], least: float) -> None:
    """Raise BadClaim unless each picture shows a cited object and each cited object is in a picture.

    outlined: ids of the cited objects. least: share of the image's area that an object's outline must cover.
    """
    for shot in pictures:
        if outlined and not any(shot.shows(identity, least) for identity in outlined):
            raise BadClaim("it cites a picture that does not show the thing, or shows too little of it")
    for identity in outlined:
        if not any(shot.shows(identity, least) for shot in pictures):
            raise BadClaim("it cites a thing that is not in its pictures")


def _place(
    said: list[float] | None, memories: list[Memory], things: list[Thing], seen: Sequence[Sighting | Box]
) -> Box | None:
    if said is None:
        return None
    point = np.array(said, float)
    if not np.isfinite(point).all():
        raise BadClaim("its place is none")
    boxes = [stay.box for thing in things for stay in thing.stays]
    boxes += [one if isinstance(one, Box) else one.box for one in seen]
    boxes += [Sighting(m, p).box for m in memories for p in m.primitives]
    near = [(float(np.linalg.norm(point - np.clip(point, b.low, b.high))), k) for k, b in enumerate(boxes)]
    if near and min(near)[0] <= _NEAR:
        return boxes[min(near)[1]]
    for memory in memories:
        if float(np.linalg.norm(point[:2] - memory.position[:2])) <= _NEAR:
            return Box(memory.position, memory.position)
    raise BadClaim("its place is not that of its evidence")


def _time(
    inquiry: Inquiry, ago: float | None, memories: list[Memory], things: list[Thing], pictures: Sequence[Shot]
) -> tuple[float, float] | None:
    if ago is None:
        return None
    stamp = inquiry.now - float(ago)
    if not math.isfinite(stamp):
        raise BadClaim("its time is none")
    spans = [(m.start, m.end) for m in memories] + [(s.first, s.last) for t in things for s in t.stays]
    spans += [(shot.stamp, shot.stamp) for shot in pictures]
    found = [span for span in spans if span[0] - _SLACK <= stamp <= span[1] + _SLACK]
    if not found:
        raise BadClaim("its time is not that of its evidence")
    return min(found, key=lambda span: span[1] - span[0])


def _in_pictures(inquiry: Inquiry, pictures: Sequence[Shot], outlined: frozenset[int]) -> list[Box]:
    """Return the known boxes of the objects that a claim cites, or else of all objects in its pictures."""
    scene = inquiry.tools.scene
    ids = outlined or {scene.resolve(i) for shot in pictures for i in (*shot.entity_ids, *shot.shares)}
    return [Box(e.box_min, e.box_max) for i in sorted(ids) if (e := scene.entities.get(i)) is not None]


def _counted(said: float | None) -> float | None:
    """Return the count that a model gave for a picture.

    Raises BadClaim unless it is an integer from 0 to `_MOST_COUNTED`.
    """
    if said is not None and (not math.isfinite(said) or said != int(said) or not 0 <= said <= _MOST_COUNTED):
        raise BadClaim("its number is none that can be counted in a picture")
    return said


def _count(said: float | None, cited: set[int]) -> float | None:
    if said is None:
        return None
    if float(said) != len(cited):
        raise BadClaim("its number is not that of the things that it cites")
    return float(len(cited))


def _check_names(inquiry: Inquiry, text: str, memories: Iterable[Memory], things: Iterable[Thing]) -> None:
    """Raise BadClaim for a noun, an attribute or a room that is neither in the evidence nor in the question."""
    known = [clean_text(inquiry.question.text), *(phrase for phrase in inquiry.question.phrases)]
    for memory in memories:
        known += [memory.text, memory.region, inquiry.room_at(memory.position)]
        for primitive in memory.primitives:
            room = inquiry.room_at(primitive.centre)
            known += [primitive.label, primitive.caption, room]
    for thing in things:
        rooms = [inquiry.room_at(stay.box.centre) for stay in thing.stays]
        places = [place_in_words(inquiry, stay.box, thing) for stay in thing.stays]
        known += [thing.name, thing.label, *thing.attributes, *rooms, *places]
    shown = {kind for text_of in known for kind in _nouns(text_of)}
    looks = {look for text_of in known for look in _looks(text_of)}
    for noun in _nouns(text):
        if not any(noun == other or same_kind(noun, other) for other in shown):
            raise BadClaim("it names a thing or a room that its evidence does not")
    words = {lexicon_word for text_of in known for lexicon_word in _singulars(text_of)}
    if not _unknown_nouns(text) <= words:
        raise BadClaim("it names something that its evidence does not")
    if not _looks(text) <= looks:
        raise BadClaim("it names a look that its evidence does not")


def _nouns(text: str) -> set[str]:
    """Return the nouns of the lexicon and the rooms that a text names, by their canonical names."""
    lexicon, words, found, i = load_lexicon(), words_of(text), set[str](), 0
    while i < len(words):
        length = lexicon.known_prefix(words[i:])
        room = lexicon.room(words[i])
        if length:
            name = lexicon.canonical(" ".join(words[i : i + length]))
            if name is not None and not lexicon.is_generic(name):
                found.add(name)
        elif room is not None:
            found.add(room)
        i += max(length, 1)
    return found


def _unknown_nouns(text: str) -> set[str]:
    """Return the words of a text that can only be nouns and are not in the lexicon, such as "sauna"."""
    wordnet, lexicon = load_wordnet(), load_lexicon()
    return {
        word for word in _singulars(text)
        if wordnet.is_noun(word) and not wordnet.is_verb(word)
        and lexicon.canonical(word) is None and lexicon.attribute(word) is None and word not in NUMBERS[2:]
        and word not in _TELLING
    }  # fmt: skip


def _singulars(text: str) -> set[str]:
    lexicon = load_lexicon()
    return {lexicon.singular(word) for word in words_of(text)}


def _looks(text: str) -> set[str]:
    lexicon = load_lexicon()
    found = (lexicon.attribute(word) for word in words_of(text))
    return {look for look in found if look is not None and lexicon.attribute_group.get(look) == "colors"}


def _check_numbers(text: str, claim: dict[str, Any], number: float | None) -> None:
    """Raise BadClaim for a number in the text that is neither the claim's count nor in its time or place."""
    allowed = {float(value) for value in (number, claim["seconds_ago"]) if value is not None}
    if claim["seconds_ago"] is not None:
        ago = float(claim["seconds_ago"])
        allowed |= {float(round(ago / unit)) for unit in (1.0, 60.0, 3600.0, 86400.0)}
    allowed |= {round(float(value), 1) for value in claim["place"] or ()}
    said = {float(match.replace(",", ".")) for match in _NUMBER.findall(text)}
    said |= {float(NUMBERS.index(word)) for word in words_of(text) if word in NUMBERS[2:]}
    if not said <= allowed:
        raise BadClaim("its text has a number that nothing shows")
