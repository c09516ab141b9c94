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
    FULL: Row(_own, FULL),  # ours, with the scene and its relations
    OURS: Row(_own, "ours"),  # six captions by Information Bottleneck
    OURS_WITHOUT_IB: Row(_own, "without_ib"),  # every relevant primitive a cluster of its own
    COSINE: Row(_own, "cosine"),  # the six captions most alike (ReMEmbR's way)
    OBJECT_CAPTIONS: Row(_own, "object_captions"),  # captions of single objects (OpenGraph's way)
    MMR: Row(_own, "mmr"),  # maximal marginal relevance
    TIME_STRATIFIED: Row(_own, "time_stratified"),  # the best caption of each sixth of the time
    EYES: Row(_looking, EYES),  # full, with a model that looks at the memory's pictures
    CHANCE: Row(_guesser, CHANCE),  # guesses among what was seen; knows the kind of the answer
    ORACLE: Row(_oracle, ORACLE),  # knows the gold answer
}
