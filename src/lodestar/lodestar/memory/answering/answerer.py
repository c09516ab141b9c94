"""Answers questions without a language model: a rule table per kind of question, then checks (ADR 0039)."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

import numpy as np

from lodestar.language.question import Question
from lodestar.language.question_sentences import question_sentence
from lodestar.memory.answer import Answer
from lodestar.memory.answering.config import AnsweringConfig
from lodestar.memory.answering.doubts import doubt_of
from lodestar.memory.answering.evidence_scope import EvidenceScope
from lodestar.memory.answering.families import answer_of, family_of
from lodestar.memory.answering.happenings import as_told
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.needs import serving_kinds
from lodestar.memory.answering.places import asks_before
from lodestar.memory.answering.readings import rooms_apart, rooms_meant, rooms_named
from lodestar.memory.answering.replies import unknown
from lodestar.memory.answering.tools import Shown, Tools
from lodestar.memory.answering.windows import resolved_window
from lodestar.memory.store import Statistics
from lodestar.models.lexicon import load_lexicon
from lodestar.query.verdict import PoolCache

_CAN_BE_ASKED = (
    "ask where, when or how often something was seen, how many there are, what is on or in something, "
    "what happened, or what I did and why"
)


class MemoryState(Enum):
    """State of the store: whether it holds memories that can be used."""

    READY = "ready"
    EMPTY = "empty"  # no memories
    OTHER_MAP = "other map"  # all memories are from another map


def memory_state(statistics: Statistics) -> MemoryState:
    """Return the state of the store, from the numbers of records of this and other maps."""
    if statistics.records == 0:
        return MemoryState.EMPTY
    return MemoryState.OTHER_MAP if statistics.other_maps >= statistics.records else MemoryState.READY


class Answerer:
    """Answers typed questions. Read-only: it changes neither the memory nor the scene nor the robot's plans.

    Not safe for threads: one worker calls it, with a scene that does not change meanwhile (`SceneMirror.snapshot`).
    """

    def __init__(self, tools: Tools, config: AnsweringConfig | None = None) -> None:
        self.config = config or AnsweringConfig()
        self.tools = tools
        self._pools = PoolCache()

    def answer(
        self, question: Question, now: float, pose: np.ndarray | None = None, shown: Shown | None = None
    ) -> Answer:
        """Return the answer with its proof; the answer "I do not know" has confidence 0.

        now: present stamp, seconds. pose: (3,) x, y, yaw of base_link in map; None = the robot is lost.
        shown: content of the question's picture, or the object in view, for a question about "this". Raises
        MissingPhrases if vectors are missing, StoreError if the store cannot be read.
        """
        found = self._answer(question, now, pose, shown)
        if not question.is_likely:
            return found
        return replace(found, sentence=f'I take this as "{question_sentence(question)}" {found.sentence}')

    def _answer(self, question: Question, now: float, pose: np.ndarray | None, shown: Shown | None) -> Answer:
        inquiry = self.inquiry(question, now, pose, shown)
        window = resolved_window(inquiry)
        if window.problem and not (window.is_event and (question.is_partial or asks_before(question))):
            return unknown(inquiry, window.problem)
        inquiry = replace(inquiry, window=window.span)
        family = family_of(inquiry)
        if family is None:
            return unknown(inquiry, f"my memory of places, things and times cannot tell; {_CAN_BE_ASKED}")
        if question.image and shown is None and (question.item is None or not question.item.alternatives):
            return unknown(
                inquiry, "I do not see what is meant by this; send a picture of it or turn me towards it"
            )
        answer = answer_of(family, inquiry, inquiry.item)
        doubt = doubt_of(inquiry, answer) if answer.is_known else ""
        if doubt:
            kept = unknown(inquiry, doubt, answer.directive, answer.proof)
            answer = replace(kept, coverage=answer.coverage, last_verified=answer.last_verified)
        if not answer.is_known:
            told = as_told(inquiry)
            return answer if told is None else told
        return answer

    def inquiry(
        self, question: Question, now: float, pose: np.ndarray | None = None, shown: Shown | None = None
    ) -> Inquiry:
        """Return an `Inquiry` for the question; its time window is not resolved yet."""
        used = shown if question.image or _names_no_thing(question) else None
        bare = Inquiry(question, now, pose, self.tools, self.config, used, pools=self._pools)
        return replace(bare, scope=_scope(bare), serving=serving_kinds(bare))


def _scope(inquiry: Inquiry) -> EvidenceScope | None:
    """Return the known rooms that a question names, as the scope of its evidence; None if there are none."""
    question, scene = inquiry.question, inquiry.tools.scene
    if scene.rooms is None or scene.rooms.is_empty or inquiry.shown is not None:
        return None
    item = question.item
    rooms = rooms_meant(inquiry, item)
    visits = rooms is not None
    if rooms is None:
        said = rooms_apart(inquiry, item)[1] if item is not None and item.alternatives else ()
        names = (*question.scope.labels, *said)
        rooms = rooms_named(inquiry, names) if names else None
    if rooms is None or not rooms.ids or rooms.guessed:
        return None
    known = frozenset(region for region in rooms.ids if len(scene.rooms.places_of(region)))
    return EvidenceScope(known, visits, scene) if known else None


_PICTURES = frozenset({"picture", "image", "photo", "photograph"})


def _names_no_thing(question: Question) -> bool:
    """Return whether the question does not name its object, so that a picture or the view has to show it.

    It then names none, "something" or "the thing in the picture", or was only partly parsed.
    """
    if question.item is None or not question.item.alternatives or question.is_partial:
        return True
    kinds = {variable.category for graph in question.item.best for variable in graph.variables}
    lexicon = load_lexicon()
    targets = {graph.target.category for graph in question.item.best}
    return not kinds.isdisjoint(_PICTURES) or all(lexicon.is_generic(kind) for kind in targets)
