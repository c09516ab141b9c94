"""Construction of answers with proof, places, confidence and a suggested directive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from lodestar.grid.config import VIEWPOINT_TURNING_CLEARANCE
from lodestar.grid.viewpoints import NoViewpoint, find_viewpoints
from lodestar.language.directive import Step, StepKind
from lodestar.language.item_words import item_words, scope_words
from lodestar.language.items import Item, Scope
from lodestar.language.query_graph import QueryGraph, QueryVariable
from lodestar.language.question import AnswerType
from lodestar.language.sentences import step_sentence
from lodestar.memory.answer import Answer, AnswerPlace, AnswerValue, Proof, ProofKind
from lodestar.memory.answering.config import ANSWERING_PLACES, CONFIDENCE_PARTIAL
from lodestar.memory.answering.coverage import Coverage
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.records import Box, Search, Sighting, Thing
from lodestar.memory.answering.wording import ago_in_words, capital
from lodestar.memory.records import Memory
from lodestar.scene.captions import clean_text

ANSWERING_PROOFS = 20  # most proofs in one answer; as the default of ~/answer
CONFIDENCE_KNOWN_FROM = 0.25  # below it the answer is "I do not know"; chosen, see the risk-coverage curve
CONFIDENCE_LIKELY = 0.9  # factor if the question was read as another one of nearly the same meaning; chosen
ANSWERING_QUOTED = 160  # most characters of a quotation; chosen

NOT_KNOWN = "I do not know"
ANYTHING = Item(((QueryGraph((QueryVariable("object", "object"),)),),))


class CannotAnswer(Exception):
    """Raised if the question has no answer. answer: an answer without a value, with the reason."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.sentence)
        self.answer = answer


def reply(
    inquiry: Inquiry,
    sentence: str,
    confidence: float,
    *,
    places: Sequence[AnswerPlace] = (),
    times: Sequence[tuple[float, float]] = (),
    number: float | None = None,
    yes: bool | None = None,
    names: Iterable[str] = (),
    proof: Iterable[Proof] = (),
    verified: float | None = None,
    coverage: Coverage | None = None,
    directive: str = "",
) -> Answer:
    """Return an answer; below CONFIDENCE_KNOWN_FROM its sentence says that it is a guess.

    A guess keeps its value and has confidence 0. verified: time of the newest supporting observation; None =
    that of the coverage, if given.
    """
    asked = inquiry.question
    read = CONFIDENCE_PARTIAL if asked.is_partial else CONFIDENCE_LIKELY if asked.is_likely else 1.0
    sure = min(max(confidence * read, 0.0), 1.0)
    unsure = sure < CONFIDENCE_KNOWN_FROM
    if unsure:
        guess = sentence if sentence.startswith("I ") else f"{sentence[:1].lower()}{sentence[1:]}"
        sentence = f"{NOT_KNOWN}. My best guess: {guess}"
        sure = 0.0
    value = AnswerValue(
        asked.answer,
        tuple(places)[:ANSWERING_PLACES],
        tuple(times)[:ANSWERING_PLACES],
        number,
        yes,
        tuple(dict.fromkeys(name for name in map(clean_text, names) if name)),
    )
    kept = tuple(proof)[:ANSWERING_PROOFS]
    if coverage is not None and verified is None:
        verified = coverage.last
    if value.yes is False and not kept and coverage is None:
        value = replace(value, yes=None)
    share = None if coverage is None else round(coverage.share, 4)
    return Answer(
        inquiry.question, capital(sentence), value, round(sure, 4), kept, verified, share, directive
    )


def unknown(inquiry: Inquiry, why: str, directive: str = "", proof: Iterable[Proof] = ()) -> Answer:
    """Return an answer without a value. why: the reason. directive: command that would find out."""
    advice = f' Ask me to "{directive}" and I will find out.' if directive else ""
    return Answer(
        inquiry.question,
        f"{NOT_KNOWN}: {why.rstrip('.')}.{advice}",
        AnswerValue(inquiry.question.answer),
        0.0,
        tuple(proof)[:ANSWERING_PROOFS],
        directive=directive,
    )


def not_seen(inquiry: Inquiry, item: Item, search: Search) -> Answer:
    """Return an answer that no such object was seen, with the share of the floor that was looked at.

    A yes/no question is answered "no", with that share as confidence, or "unknown" if the share is unknown.
    """
    where = scope_words(inquiry.question.scope)
    named = item_words(item).removeprefix("the ") if item.alternatives else "thing like that"
    words = f"{named}{where}"
    directive = directive_to_find(item, inquiry.question.scope)
    if search.no_room:
        return unknown(inquiry, f"I know no place called {where.removeprefix(' in ')}", directive)
    seen = floor_seen(inquiry, search.rooms)
    proof = proofs_of_memories(search.memories)
    if seen is None:
        why = f"I have not seen any {words}, and I cannot tell how much of the floor I looked at"
        return unknown(inquiry, why, directive, proof)
    sentence = f"I have not seen any {words}. {coverage_in_words(inquiry, seen)}"
    denies = inquiry.question.answer is AnswerType.YES_NO
    doubt = 1.0 - search.best_miss
    if not denies or seen.share * doubt < CONFIDENCE_KNOWN_FROM:
        base = unknown(inquiry, sentence, directive, proof)
        return replace(base, coverage=round(seen.share, 4), last_verified=seen.last)
    return reply(
        inquiry, f"No, as far as I know. {sentence}", seen.share * doubt,
        yes=False, proof=proof, coverage=seen, directive=directive,
    )  # fmt: skip


# --- proof -----------------------------------------------------------------------------------------------------


def proofs_of_things(things: Iterable[Thing]) -> list[Proof]:
    """Return proofs for objects: the entity, its best view, and the newest sighting with an image."""
    found: list[Proof] = []
    for thing in things:
        if thing.entity is not None:
            found.append(
                Proof(ProofKind.ENTITY, thing.id, thing.last, thing.box.centre, thing.name, thing.score)
            )
            found += [
                Proof(ProofKind.KEYFRAME, view.keyframe_id, view.stamp, thing.box.centre, score=thing.score)
                for view in sorted(thing.entity.views, key=lambda v: -v.quality)[:1]
                if view.keyframe_id
            ]
        found += proofs_of_newest(thing.sightings, thing.score)
    return found


def proofs_of_newest(sightings: Sequence[Sighting], score: float = 1.0) -> list[Proof]:
    """Return proofs of the newest sighting: its memory, and its image or the newest earlier one.

    A standing robot stores keyframes rarely, so the newest sighting may have no image.
    """
    found = proofs_of_sightings(sightings[-1:], score)
    if sightings and not sightings[-1].memory.keyframe_ids:
        pictured = [one for one in sightings if one.memory.keyframe_ids][-1:]
        found += [one for one in proofs_of_sightings(pictured, score) if one.kind is ProofKind.KEYFRAME]
    return found


def proofs_of_sightings(sightings: Iterable[Sighting], score: float = 1.0) -> list[Proof]:
    """Return the memories of sightings and their images as proofs, with the object's position."""
    found = []
    for sighting in sightings:
        found += _proofs(sighting.memory, sighting.primitive.centre, score)
    return found


def proofs_of_memories(memories: Iterable[Memory], score: float = 1.0) -> list[Proof]:
    """Return memories and their images as proofs, with the robot's position."""
    return [proof for memory in memories for proof in _proofs(memory, memory.position, score)]


def _proofs(memory: Memory, position: np.ndarray, score: float) -> list[Proof]:
    text = clean_text(memory.text)
    found = [Proof(ProofKind.CAPTION, memory.id, memory.start, np.asarray(position, float), text, score)]
    ids = memory.keyframe_ids
    if ids:
        image, place = ids[len(ids) // 2], np.asarray(position, float)
        session = memory.keyframe_session
        found.append(Proof(ProofKind.KEYFRAME, image, memory.start, place, "", score, session))
    return found


def region_proof(inquiry: Inquiry, region_id: int) -> Proof:
    """Return a proof for a room."""
    region = inquiry.tools.scene.regions[region_id]
    place = np.array([*np.asarray(region.centroid, float)[:2], 0.0])
    return Proof(ProofKind.REGION, region_id, inquiry.tools.scene.stamp, place, clean_text(region.label))


# --- places ----------------------------------------------------------------------------------------------------


def place_of(inquiry: Inquiry, box: Box, thing: Thing | None = None) -> AnswerPlace:
    """Return the centre of a box, and a reachable pose from which it can be seen (None = unknown)."""
    inquiry.tools.check()
    grid = inquiry.tools.grid
    if grid is None or inquiry.lengths is None:
        return AnswerPlace(box.centre)
    views = [] if thing is None or thing.entity is None else [v.map_from_camera for v in thing.entity.views]
    try:
        best = find_viewpoints(
            grid, inquiry.lengths, box.low, box.high, views, config=inquiry.config.query.viewpoints
        )
    except NoViewpoint:
        return AnswerPlace(box.centre)
    x, y, yaw = (float(value) for value in best[0].pose)
    return AnswerPlace(box.centre, (x, y, yaw))


def room_place(inquiry: Inquiry, region_id: int) -> AnswerPlace:
    """Return the middle of a room and, if the floor is known, a pose in it for the robot."""
    rooms, region = inquiry.tools.scene.rooms, inquiry.tools.scene.regions[region_id]
    middle = np.array([*np.asarray(region.centroid, float)[:2], 0.0])
    grid = inquiry.tools.grid
    if rooms is None or grid is None:
        return AnswerPlace(middle)
    cells = rooms.places_of(region_id)
    rows = grid.cells_of(cells) if len(cells) else np.zeros((0, 2), int)
    shape = np.array(grid.cells.shape)
    kept = (rows >= 0).all(axis=1) & (rows < shape).all(axis=1)
    cells, rows = cells[kept], rows[kept]
    clear = grid.clearance[rows[:, 0], rows[:, 1]] if len(rows) else np.zeros(0)
    roomy = clear >= VIEWPOINT_TURNING_CLEARANCE
    if not roomy.any():
        return AnswerPlace(middle)
    best = cells[roomy][np.linalg.norm(cells[roomy] - middle[:2], axis=1).argmin()]
    return AnswerPlace(middle, (float(best[0]), float(best[1]), 0.0))


def floor_seen(inquiry: Inquiry, rooms: frozenset[int] | None) -> Coverage | None:
    """Return the share of the free floor of these rooms (None = everywhere) that was looked at in the window.

    Returns None without a grid, without camera poses, or if rooms are given and the map has none.
    """
    grid, looks, known = inquiry.tools.grid, inquiry.tools.looks, inquiry.tools.scene.rooms
    if grid is None or looks is None:
        return None
    floor = np.ones(grid.cells.shape, bool)
    if rooms is not None:
        if known is None:
            return None
        cells = np.argwhere(grid.free)
        floor = np.zeros(grid.cells.shape, bool)
        inside = np.isin(known.at(grid.points_of(cells)), list(rooms))
        floor[tuple(cells[inside].T)] = True
    return looks.coverage(grid, floor, inquiry.window, inquiry.tools.check)


def coverage_in_words(inquiry: Inquiry, seen: Coverage) -> str:
    """Return a sentence such as "I have looked at 78 % of the floor there, last 3 minutes ago."."""
    there = " there" if inquiry.question.scope else " that I know"
    when = "" if seen.last is None else f", last {ago_in_words(seen.last, inquiry.now)}"
    return f"I have looked at {100 * seen.share:.0f} % of the floor{there}{when}."


def directive_to_find(item: Item | None, scope: Scope) -> str:
    """Return a directive to find an object or to explore the scope, "" if it cannot be put into words."""
    if item is not None and item.alternatives:
        return step_sentence(Step(StepKind.FIND, replace(item, count=1, images=()), scope=scope))
    return step_sentence(Step(StepKind.EXPLORE, scope=scope)) if scope else ""


def quoted(inquiry: Inquiry, text: str) -> str:
    """Return an untrusted text in quotation marks, on one line and without control characters.

    Inner quotation marks become apostrophes.
    """
    said = clean_text(text).replace('"', "'")[:ANSWERING_QUOTED].strip()
    return f'"{said}"'
