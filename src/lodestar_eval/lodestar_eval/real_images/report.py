"""Rows of a recording's result: its metrics, and those of the page's tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lodestar.scene.records import Entity
from lodestar_eval.metrics import mean, share
from lodestar_eval.real_images.detecting import Sightings
from lodestar_eval.real_images.questions import QuestionRow
from lodestar_eval.real_images.scoring import RoomScore, centre_of, twins
from lodestar_eval.study import Row


def rows_of(
    lost: Mapping[str, int],
    sightings: Sightings,
    scored: RoomScore,
    halves: tuple[Sequence[Entity], Sequence[Entity]],
    questions: Sequence[QuestionRow],
) -> Iterator[Row]:
    """Yield the metrics, then a row per line of the tables, whose title is `_table`.

    lost: numbers of unused frames by reason. halves: entities of the maps made from odd and from even frames.
    """
    pairs, found = twins(*halves), scored.metrics()
    metrics = {
        "frames": sightings.taken, **found, "false_or_doubled": found["false"] + found["doubled"],
        "consistent": share(2.0 * len(pairs), sum(map(len, halves))),
        "consistent_distance_m": mean([distance for *_, distance in pairs]), "questions": len(questions),
        "questions_right": mean([float(row.right) for row in questions]),
        "recall_per_frame": share(sum(sightings.hits), sum(sightings.frames)),
    }  # fmt: skip
    yield {"labels": sightings.room.name, "_metrics": metrics}
    for row, frames, hits in zip(scored.rows, sightings.frames, sightings.hits):
        entity = row.entity
        yield {
            "_table": "Labelled things", "thing": row.thing.label, "which": row.thing.note,
            "counted": "yes" if row.in_view else "no: not in view", "frames": frames,
            "detected": share(hits, frames), "found": "no" if entity is None else "yes",
            "place_error_m": row.error, "place_gap_m": row.gap, "doubled": len(row.doubled),
            "looks": 0 if entity is None else entity.observation_count,
        }  # fmt: skip
    groups = {
        "false": scored.false, "unsure, not counted": scored.unsure, "beyond the labels, not counted": scored.beyond,
        "doubled": [entity for row in scored.rows for entity in row.doubled],
    }  # fmt: skip
    for kind, entities in groups.items():
        for entity in entities:
            yield {
                "_table": "Other entities", "what": kind, "label": entity.label, "middle_m": _text(centre_of(entity)),
                "size_m": _text(np.asarray(entity.box_max) - np.asarray(entity.box_min)),
                "looks": entity.observation_count, "confidence": entity.confidence,
            }  # fmt: skip
    for asked in questions:
        right = "yes" if asked.right else "no"
        told = {"expected": asked.expected, "right": right, "answer": asked.answer}
        yield {"_table": "Questions", "question": asked.text, **told}
    for label, count in sightings.detections.most_common():
        per_frame = count / sightings.taken
        yield {"_table": "Detections by label", "label": label, "detections": count, "per_frame": per_frame}
    for reason, count in sorted(lost.items()):
        yield {"_table": "Frames that were not used", "why": reason, "not_used": count}


def _text(point: np.ndarray) -> str:
    return ", ".join(f"{value:.2f}" for value in point)
