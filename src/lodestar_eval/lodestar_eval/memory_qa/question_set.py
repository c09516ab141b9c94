"""Selection of the hundred questions about a tour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from lodestar_eval.memory_qa.binary_questions import no_forms, yes_forms
from lodestar_eval.memory_qa.descriptive_questions import counting_forms, descriptive_forms
from lodestar_eval.memory_qa.drafts import Draft, Forms, Maker
from lodestar_eval.memory_qa.picture_questions import Camera, SimulatedCamera, picture_forms
from lodestar_eval.memory_qa.questions import COUNTS, Asked, Question
from lodestar_eval.memory_qa.recording import Glance
from lodestar_eval.memory_qa.spatial_questions import spatial_forms
from lodestar_eval.memory_qa.temporal_questions import temporal_forms
from lodestar_eval.memory_qa.truth import TourTruth
from lodestar_eval.memory_qa.visual_questions import visual_forms
from lodestar_eval.memory_qa.wordings import worded
from lodestar_sim.worlds.world import World

_REPEATS = 2  # most questions of one kind about the same object


class TooFewQuestions(ValueError):
    """Raised if the tour shows too little for so many questions; the message names the kind."""


def questions_of(
    world: World,
    glances: Sequence[Glance],
    seed: int,
    wordings: str,
    counts: dict[str, int] | None = None,
    camera: Camera | None = None,
    short: bool = False,
) -> list[Question]:
    """Return the questions about a tour; the seed determines all but their wordings.

    wordings: development, reserved or both. counts: number of questions by kind, None = `COUNTS`. camera: by
    default the simulator's. short: allow fewer questions, as is always allowed for kind "visual"; else raises
    TooFewQuestions.
    """
    wanted = COUNTS if counts is None else counts
    maker = Maker(TourTruth(world, glances), np.random.default_rng([seed, 0x9A5]))
    drafts = _drafts(maker, wanted, camera or SimulatedCamera(maker, seed))
    captions = Counter(stays[0].thing.caption for stays in maker.truth.stays.values())
    questions: list[Question] = []
    for kind, chosen in drafts.items():
        if len(chosen) < wanted.get(kind, 0) and kind != "visual" and not short:
            raise TooFewQuestions(
                f"{world.name} {seed}: {len(chosen)} {kind} questions instead of {wanted[kind]}; use another seed, "
                "a longer tour or a larger building"
            )
        for number, draft in enumerate(chosen, start=1):
            name = f"{world.name}-{seed}-{kind}-{number}"
            rng = np.random.default_rng([seed, len(questions), 0x30D])
            text, wording = worded(draft.form, draft.slots, wordings, rng)
            alike = any(captions[maker.truth.stays[i][0].thing.caption] > 1 for i in draft.things)
            asked = Asked(name, text, maker.truth.end, draft.picture)
            questions.append(Question(asked, kind, draft.form, wording, draft.gold, alike))
    return questions


def _drafts(maker: Maker, counts: dict[str, int], camera: Camera) -> dict[str, list[Draft]]:
    half = counts["yes_no"] // 2
    numbers = counts["descriptive"] // 2
    yes = _chosen(yes_forms(maker), counts["yes_no"] - half)
    counted = _chosen(counting_forms(maker), numbers)
    return {
        "spatial": _chosen(spatial_forms(maker), counts["spatial"]),
        "yes_no": [*yes, *_chosen(no_forms(maker), half)],
        "descriptive": [*counted, *_chosen(descriptive_forms(maker), counts["descriptive"] - len(counted))],
        "temporal": _chosen(temporal_forms(maker), counts["temporal"]),
        "picture": _chosen(picture_forms(maker, camera), counts["picture"]),
        "visual": _chosen(visual_forms(maker), counts.get("visual", 0)),
    }


def _chosen(forms: Forms, count: int) -> list[Draft]:
    """Return up to `count` different drafts, from each form in turn, at most `_REPEATS` about one object."""
    chosen: list[Draft] = []
    asked: Counter[int] = Counter()
    said: set[tuple[str, tuple[tuple[str, str], ...], tuple[int, ...]]] = set()
    waiting: dict[str, Iterator[Draft]] = dict(forms)
    while waiting and len(chosen) < count:
        for name in list(waiting):
            draft = _next(waiting[name], asked, said)
            if draft is None:
                del waiting[name]
            elif len(chosen) < count:
                chosen.append(draft)
                asked.update(draft.things)
    return chosen


def _next(
    drafts: Iterator[Draft],
    asked: Counter[int],
    said: set[tuple[str, tuple[tuple[str, str], ...], tuple[int, ...]]],
) -> Draft | None:
    for draft in drafts:
        key = (
            draft.form,
            tuple(sorted(draft.slots.items())),
            draft.things if draft.picture is not None else (),
        )
        if key not in said and all(asked[i] < _REPEATS for i in draft.things):
            said.add(key)
            return draft
    return None
