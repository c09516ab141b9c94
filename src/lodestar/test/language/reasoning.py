"""Scenes, views and models for tests of reasoners."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from lodestar.language.views import ViewPoint, ViewQuestion
from lodestar.scene.records import Entity, EntityState


@dataclass(frozen=True)
class Scored:
    entity_id: int
    score: float
    semantic_score: float
    explanation: str = ""


def entity(identity, caption="red chair", probability=0.9, state=EntityState.ACTIVE):
    center = np.array([identity, 2.0, 0.5])
    return Entity(
        identity, "chair", caption, center, np.eye(3), center - 0.25, center + 0.25,
        occupancy_probability=probability, state=state,
    )  # fmt: skip


def point(number, what="chair", score=0.0):
    return ViewPoint(number, what, (10.0 * number, 20.0), np.array([1.0, 2.0, 0.3]), 2.0, 0.1, score)


def view(*points, turns=("TURN_LEFT", "TURN_RIGHT"), **changes):
    return ViewQuestion(
        changes.pop("stamp", 1.0), np.zeros(3), changes.pop("target", "red chair"), (), (), tuple(points),
        turns, {"TURN_LEFT": 0.2, "TURN_RIGHT": 0.8}, **changes,
    )  # fmt: skip


class FakeModel:
    """Answers with the given texts in turn, the last one repeatedly; raises exceptions and calls callables."""

    def __init__(self, *answers):
        self.answers, self.asked, self.tasks = list(answers), [], 0

    def begin_task(self):
        self.tasks += 1

    def complete(self, system, user, schema, images=(), shorter=None):
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append((system, user, schema, images))
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            answer = answer()
        return answer if isinstance(answer, str) else json.dumps(answer)


def judged(*pairs):
    return {"judgements": [{"id": i, "confidence": c, "reason": "so it seems"} for i, c in pairs]}


def seen(action="GO", description="a room", image="1.000", **scores):
    marks = [{"number": int(n[1:]), "score": s} for n, s in scores.items()]
    return {
        "image": image,
        "scores": marks,
        "action": action,
        "description": description,
        "reason": "why not",
    }
