"""Answers from what people told the robot, where nothing that it saw answers."""

from __future__ import annotations

from lodestar.memory.answer import Answer
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.replies import proofs_of_memories, quoted, reply
from lodestar.memory.answering.tools import unit_rows
from lodestar.memory.answering.wording import ago_in_words
from lodestar.memory.records import Source
from lodestar.memory.requests import Request

_ALIKE = 0.55  # cosine of the question's words and an operator's word from which it is about the same; chosen


def as_told(inquiry: Inquiry) -> Answer | None:
    """Return an operator's word about the question's things as a quotation, None where there is none.

    It is told, not taken as true: the answer has no value but the sentence.
    """
    phrases = inquiry.cues[:1]
    if not phrases:
        return None
    request = Request(
        phrases=phrases,
        vectors=unit_rows(inquiry.tools, phrases),
        window=inquiry.window,
        sources=frozenset({Source.OPERATOR}),
        limit=1,
    )
    hits = [hit for hit in inquiry.tools.memories.search(request) if hit.score >= _ALIKE]
    if not hits:
        return None
    memory = hits[0].memory
    sentence = f"I have not seen it myself. Somebody told me {ago_in_words(memory.start, inquiry.now)}: "
    sentence += f"{quoted(inquiry, memory.text)}."
    return reply(
        inquiry, sentence, 0.5 * hits[0].score,
        proof=proofs_of_memories((memory,), hits[0].score), verified=memory.start,
    )  # fmt: skip
