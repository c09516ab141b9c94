"""Images that the memory keeps, and those of them that a question needs (SnapMem 3.2.3 and 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from lodestar.keyframes.records import ImageName
from lodestar.memory.snapshots.prefilter import Described, Prefilter
from lodestar.models.phrases import PhraseBook


@dataclass(frozen=True)
class Shot:
    """An image of some things. stamp: seconds. position: (3,) of the camera in map, metres. labels, caption: untrusted
    words for what it shows; no labels = another view of things that a snapshot shows. heading: radians in plan, None =
    not known. shares: of the image's area that the outline of each thing in it takes, (0, 1], by entity. frontier: it
    shows the way to what is not known yet.
    """

    image: ImageName
    stamp: float
    position: np.ndarray
    entity_ids: frozenset[int]
    labels: tuple[str, ...]
    caption: str = ""
    heading: float | None = None
    shares: Mapping[int, float] = field(default_factory=dict)
    frontier: bool = False

    def shows(self, identity: int, least: float) -> bool:
        """Whether the outline of a thing takes at least this share of the image."""
        return self.shares.get(identity, 0.0) >= least


def shots_for(text: str, shots: Sequence[Shot], phrases: PhraseBook, most: int) -> list[Shot]:
    """Return the images that show one of the categories that matter most to a text, best first. Raises
    MissingPhrases.
    """
    by_name = {shot.image: shot for shot in shots if shot.labels}
    described = {name: Described(shot.labels, shot.caption) for name, shot in by_name.items()}
    return [by_name[name] for name in Prefilter(phrases).choose(text, described)[:most]]


def shots_of(ids: Sequence[int], shots: Sequence[Shot], least: float) -> list[Shot]:
    """Return the images that show these things, each once: the one that shows each largest, in the order of the things,
    then the next best of each.
    """

    def ranked(identity: int) -> list[Shot]:
        showing = [shot for shot in shots if shot.shows(identity, least)]
        return sorted(showing, key=lambda shot: (-shot.shares[identity], -shot.stamp))

    rounds = (shot for turn in zip_longest(*map(ranked, ids)) for shot in turn if shot is not None)
    return list({shot.image: shot for shot in rounds}.values())
