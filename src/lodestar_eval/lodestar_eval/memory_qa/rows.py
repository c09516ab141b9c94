"""Compared methods, the rows of the results: one answerer with different evidence, and two references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lodestar_eval.memory_qa.questions import Answerer, Question
from lodestar_eval.memory_qa.recording import Recording
from lodestar_eval.memory_qa.reference_answerers import Guesser, Oracle

OURS, COSINE, OBJECT_CAPTIONS, MMR = "ours", "cosine", "object_captions", "mmr"
TIME_STRATIFIED, OURS_WITHOUT_IB, FULL = "time_stratified", "ours_without_ib", "full"
CHANCE, ORACLE = "chance", "oracle"
EYES = "eyes"

#: Makes the answerer of a row for one tour.
Maker = Callable[[Recording, Sequence[Question]], Answerer]


@dataclass(frozen=True)
class Row:
    """A compared method, one row of the results. rule: name of the rule that selects evidence. Rows with the
    same `maker` share one memory.
    """

    name: str
    summary: str
    maker: Maker
    rule: str


def _guesser(recording: Recording, questions: Sequence[Question]) -> Answerer:
    return Guesser(questions, recording.seed)


def _own(recording: Recording, questions: Sequence[Question]) -> Answerer:
    from lodestar_eval.memory_qa.answerer import OwnAnswerer
    from lodestar_eval.phrase_book import phrase_book

    return OwnAnswerer(phrase_book())


def _looking(recording: Recording, questions: Sequence[Question]) -> Answerer:
    from lodestar_eval.memory_qa.answerer import LookingAnswerer
    from lodestar_eval.phrase_book import phrase_book

    return LookingAnswerer(phrase_book(), recording)


def _oracle(recording: Recording, questions: Sequence[Question]) -> Answerer:
    return Oracle(questions)


ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        Row(FULL, "ours, with the scene and its relations", _own, FULL),
        Row(OURS, "six captions by Information Bottleneck", _own, "ours"),
        Row(OURS_WITHOUT_IB, "ours, every relevant primitive a cluster of its own", _own, "without_ib"),
        Row(COSINE, "the six captions most alike (ReMEmbR's way)", _own, "cosine"),
        Row(OBJECT_CAPTIONS, "captions of single things (OpenGraph's way)", _own, "object_captions"),
        Row(MMR, "maximal marginal relevance", _own, "mmr"),
        Row(TIME_STRATIFIED, "the best caption of each sixth of the time", _own, "time_stratified"),
        Row(EYES, "full, with a model that looks at the memory's pictures", _looking, EYES),
        Row(CHANCE, "guesses among what was seen; knows the kind of the answer", _guesser, CHANCE),
        Row(ORACLE, "knows the gold", _oracle, ORACLE),
    )
}
