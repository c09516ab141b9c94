"""Metrics, pass thresholds and tables of a recording, compared with its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lodestar.scene.records import Entity
from lodestar_eval.metrics import mean
from lodestar_eval.real_images.labels import LabelledRoom
from lodestar_eval.real_images.questions import QuestionRow
from lodestar_eval.real_images.scoring import LABELLED, REACH, RoomScore, centre_of, twins
from lodestar_eval.registry import Bar, Result, Table

_FOUND, _WRONG, _PLACE = 0.8, 2, 0.25  # the bars: share found; wrong objects; metres


@dataclass
class Sightings:
    """Counts per object of a room: frames that show it, and those of them with a matching detection.

    detections: number by label, over all frames.
    """

    frames: list[int]
    hits: list[int]
    detections: dict[str, int] = field(default_factory=dict)


def result_of(
    room: LabelledRoom,
    taken: int,
    lost: Mapping[str, int],
    sightings: Sightings,
    scored: RoomScore,
    halves: tuple[Sequence[Entity], Sequence[Entity]],
    questions: Sequence[QuestionRow],
) -> Result:
    """Return the complete result.

    taken: number of frames used. lost: numbers of unused frames by reason. halves: entities of the maps made
    from odd and from even frames.
    """
    pairs = twins(*halves)
    both = len(halves[0]) + len(halves[1])
    metrics = {"frames": float(taken), **scored.metrics()}
    metrics["false_or_doubled"] = metrics["false"] + metrics["doubled"]
    metrics["consistent"] = 2.0 * len(pairs) / both if both else float("nan")
    metrics["consistent_distance_m"] = mean([distance for *_, distance in pairs])
    metrics["questions"] = float(len(questions))
    metrics["questions_right"] = mean([float(row.right) for row in questions])
    seen, hit = sum(sightings.frames), sum(sightings.hits)
    metrics["recall_per_frame"] = hit / seen if seen else float("nan")
    return Result(
        metrics,
        bars=(
            Bar("labelled things found, share", metrics["found"], _FOUND),
            Bar("entities false or doubled", metrics["false_or_doubled"], _WRONG, False),
            Bar("error of place, mean of the things found, m", metrics["place_error_m"], _PLACE, False),
        ),
        tables=(
            _things(scored, sightings),
            _others(scored),
            _questions(questions),
            _detections(sightings, taken),
            *([Table("Frames that were not used", ("why", "frames"), _counts(lost))] if lost else []),
        ),
        notes=_NOTES,
        config={"labels": room.name},
    )


def _things(scored: RoomScore, sightings: Sightings) -> Table:
    columns = (
        "thing", "seen in frames", "detected in, share", "found", "error of place, m", "centre from the box, m",
        "doubled", "looks",
    )  # fmt: skip
    rows = []
    for row, frames, hits in zip(scored.rows, sightings.frames, sightings.hits):
        name = f"{row.thing.label} ({row.thing.note})" if row.thing.note else row.thing.label
        found = "yes" if row.entity is not None else ("**no**" if row.in_view else "")
        rows.append(
            (
                name if row.in_view else f"{name}, not counted: not in view",
                str(frames),
                f"{hits / frames:.2f}" if frames else "",
                found,
                "" if row.entity is None else f"{row.error:.2f}",
                "" if row.entity is None else f"{row.gap:.2f}",
                str(len(row.doubled)),
                "" if row.entity is None else str(row.entity.observation_count),
            )
        )
    return Table("Labelled things", columns, tuple(rows))


def _others(scored: RoomScore) -> Table:
    groups = [("false", scored.false), ("unsure, not counted", scored.unsure)]
    groups.append(("beyond the labels, not counted", scored.beyond))
    groups.append(("doubled", tuple(e for row in scored.rows for e in row.doubled)))
    rows = []
    for kind, entities in groups:
        for entity in entities:
            size = np.asarray(entity.box_max) - np.asarray(entity.box_min)
            rows.append(
                (
                    kind, entity.label, _text(centre_of(entity)), _text(size), str(entity.observation_count),
                    f"{entity.confidence:.2f}",
                )
            )  # fmt: skip
    return Table(
        "Other entities", ("what", "label", "middle, m", "size, m", "looks", "confidence"), tuple(rows)
    )


def _questions(questions: Sequence[QuestionRow]) -> Table:
    rows = tuple((q.text, q.expected, "yes" if q.right else "**no**", q.answer) for q in questions)
    return Table("Questions", ("question", "expected", "right", "answer"), rows)


def _detections(sightings: Sightings, taken: int) -> Table:
    rows = tuple(
        (label, str(count), f"{count / taken:.2f}")
        for label, count in sorted(sightings.detections.items(), key=lambda item: -item[1])
    )
    return Table("Detections by label", ("label", "detections", "per frame"), rows)


def _counts(lost: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    return tuple((reason, str(count)) for reason, count in sorted(lost.items()))


def _text(point: np.ndarray) -> str:
    return ", ".join(f"{value:.2f}" for value in point)


_NOTES = (
    f"An entity is a labelled thing where both are of one kind and its middle lies within {REACH:g} m of the labelled "
    "box; they are paired one to one. `place_error_m` is the mean over the things found of the distance between the "
    "two middles, and what the bar is on; `place_gap_m` that of the entity's middle from the box. Further entities of "
    "a thing are doubled; those where nothing of their kind was labelled are false.",
    "Counted are the things that at least 3 frames show by 200 pixels of depth or more. Not counted are entities at "
    f"things that the labels call unsure, and those more than {LABELLED:g} m outside of all labels. `recall_per_frame` "
    "is the share of the frames that show a thing in which a detection of its kind has its box (IoU 0.25).",
    "`consistent`: share of the entities of two maps, one of the odd and one of the even frames, that have a twin of "
    "their kind in the other within 0.5 m; `consistent_distance_m` between their middles.",
)
