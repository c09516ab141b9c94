"""Images that the memory keeps, and those of them that a question needs (SnapMem 3.2.3 and 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.keyframes.records import ImageName
from lodestar.memory.snapshots.prefilter import Described, Prefilter
from lodestar.models.phrases import PhraseBook


@dataclass(frozen=True)
class Shot:
    """An image of some things. stamp: seconds. position: (3,) of the camera in map, metres. labels, caption: untrusted
    words for what it shows.
    """

    image: ImageName
    stamp: float
    position: np.ndarray
    entity_ids: frozenset[int]
    labels: tuple[str, ...]
    caption: str = ""


def shots_for(text: str, shots: Sequence[Shot], phrases: PhraseBook, most: int) -> list[Shot]:
    """Return the images that show one of the categories that matter most to a text, best first. Raises
    MissingPhrases.
    """
    by_name = {shot.image: shot for shot in shots if shot.labels}
    described = {name: Described(shot.labels, shot.caption) for name, shot in by_name.items()}
    return [by_name[name] for name in Prefilter(phrases).choose(text, described)[:most]]
