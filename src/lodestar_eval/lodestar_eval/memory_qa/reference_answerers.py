"""Reference answerers that bound the scores: one knows the gold answers, one guesses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar_eval.memory_qa.questions import DURATION, Answer, Asked, Evidence, Gold, Question
from lodestar_eval.memory_qa.recording import Stream

_SEGMENT = 3.0  # seconds of a guessed segment of evidence (STaR IV-A)
_PIECES = 6
_MOST = 8  # most objects, or times per minute, in a guess


class Oracle:
    """Answers every question with its gold answer: an upper bound that no robot reaches."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._gold = {q.asked.id: q.gold for q in questions}

    def remember(self, stream: Stream) -> Stream:
        """Return the stream."""
        return stream

    def answer_all(self, memory: Stream, questions: Sequence[Asked], evidence_rule: str) -> list[Answer]:
        """Return the gold answers, with the times at which their objects were in view as evidence."""
        return [self._answer(question.id, self._gold[question.id]) for question in questions]

    def _answer(self, identity: str, gold: Gold) -> Answer:
        return Answer(
            identity,
            gold.value,
            place=gold.places[0] if gold.places else None,
            time=gold.times[0][0] if gold.times else None,
            number=gold.number,
            yes=gold.yes,
            words=gold.words,
            confidence=1.0,
            evidence=tuple(Evidence(a, b, np.zeros(3)) for a, b in gold.seen[:_PIECES]),
        )


class Guesser:
    """Guesses answers of the right kind among objects and times that the robot saw: a lower bound."""

    def __init__(self, questions: Sequence[Question], seed: int) -> None:
        self._value = {q.asked.id: q.gold.value for q in questions}
        self._rng = np.random.default_rng([seed, 0x6E55])

    def remember(self, stream: Stream) -> Stream:
        """Return the stream."""
        return stream

    def answer_all(self, memory: Stream, questions: Sequence[Asked], evidence_rule: str) -> list[Answer]:
        """Return guesses, with random segments as evidence."""
        return [self._guess(memory, question) for question in questions]

    def _guess(self, stream: Stream, question: Asked) -> Answer:
        rng, value = self._rng, self._value[question.id]
        entities = sorted(stream.scene.entities)
        some = stream.scene.entities[entities[int(rng.integers(len(entities)))]] if entities else None
        number = float(rng.integers(1, _MOST + 1))
        return Answer(
            question.id,
            value,
            place=None if some is None else (some.box_min + some.box_max) / 2.0,
            time=float(rng.uniform(0.0, stream.end)),
            number=60.0 * number if value == DURATION else number,
            yes=bool(rng.integers(2)),
            words=frozenset() if some is None else frozenset({some.label}),
            confidence=float(rng.random()),
            evidence=tuple(self._piece(stream) for _ in range(_PIECES)),
        )

    def _piece(self, stream: Stream) -> Evidence:
        step = stream.steps[int(self._rng.integers(len(stream.steps)))]
        ids = frozenset(s.entity_id for s in step.sightings)
        return Evidence(step.stamp, step.stamp + _SEGMENT, step.map_from_base[:3, 3], ids)
