"""Images that the memory stores, and their selection for a question (SnapMem 3.2.3 and 3.3)."""

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
    """Stored image of some objects. stamp: seconds. position: (3,) of the camera in map, metres.

    labels, caption: untrusted descriptions; empty labels = a further view of objects that a snapshot shows
    too. heading: radians in plan, None = unknown. shares: share of the image's area inside each object's
    outline, (0, 1], by entity. frontier: whether it shows the way to unknown space.
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
        """Return whether an object's outline takes up at least the share `least` of the image."""
        return self.shares.get(identity, 0.0) >= least


def shots_for(text: str, shots: Sequence[Shot], phrases: PhraseBook, most: int) -> list[Shot]:
    """Return the images that show one of the categories most relevant to a text, best first.

    Raises MissingPhrases.
    """
    by_name = {shot.image: shot for shot in shots if shot.labels}
    described = {name: Described(shot.labels, shot.caption) for name, shot in by_name.items()}
    return [by_name[name] for name in Prefilter(phrases).choose(text, described)[:most]]


def shots_of(ids: Sequence[int], shots: Sequence[Shot], least: float) -> list[Shot]:
    """Return images that show these objects, each image once.

    First comes the largest view of each object, in the order of the objects, then the next best view of each.
    """

    def ranked(identity: int) -> list[Shot]:
        showing = [shot for shot in shots if shot.shows(identity, least)]
        return sorted(showing, key=lambda shot: (-shot.shares[identity], -shot.stamp))

    rounds = (shot for turn in zip_longest(*map(ranked, ids)) for shot in turn if shot is not None)
    return list({shot.image: shot for shot in rounds}.values())
