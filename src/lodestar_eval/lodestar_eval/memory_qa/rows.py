"""Rows of the table: the same answerer with different evidence, and two that show what the scores mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lodestar_eval.memory_qa.questions import Answerer, Question
from lodestar_eval.memory_qa.recording import Recording
from lodestar_eval.memory_qa.reference_answerers import Guesser, Oracle

OURS, COSINE, OBJECT_CAPTIONS, MMR = "ours", "cosine", "object_captions", "mmr"
TIME_STRATIFIED, OURS_WITHOUT_IB, FULL = "time_stratified", "ours_without_ib", "full"
CHANCE, ORACLE = "chance", "oracle"

#: Makes the answerer of a row for one tour.
Maker = Callable[[Recording, Sequence[Question]], Answerer]


@dataclass(frozen=True)
class Row:
    """A row. rule: what its answerer is told to choose evidence by. Rows with the same `maker` share one memory."""

    name: str
    summary: str
    maker: Maker
    rule: str


def _guesser(recording: Recording, questions: Sequence[Question]) -> Answerer:
    return Guesser(questions, recording.seed)


def _oracle(recording: Recording, questions: Sequence[Question]) -> Answerer:
    return Oracle(questions)


ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        Row(CHANCE, "guesses among what was seen; knows the kind of the answer", _guesser, CHANCE),
        Row(ORACLE, "knows the gold", _oracle, ORACLE),
    )
}
