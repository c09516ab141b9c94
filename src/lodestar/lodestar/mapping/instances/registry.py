"""Registry of present, merged and disappeared instances."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from lodestar.mapping.instances.records import Instance, Merge
from lodestar.mapping.instances.tracks import Track, Tracks

_REMEMBERED = 256  # largest number of remembered instances that disappeared and may return


class InstanceRegistry:
    """Registry of instances. Ids start at 1 and are never reused; merged ids resolve to the winner's.

    gone: instances that left their places, the latest last, at most `_REMEMBERED`.
    """

    def __init__(self) -> None:
        self.tracks = Tracks()
        self.instances: dict[int, Instance] = {}  # record of each instance at its last measurement
        self.gone: OrderedDict[int, Track] = OrderedDict()
        self.next_id = 1
        self._forward: dict[int, int] = {}
        self._removed: dict[int, int] = {}  # id -> revision of the removal
        self._merged: list[tuple[int, Merge]] = []

    def start(self, stamp: float, points: np.ndarray) -> Track:
        """Return a new instance around points (N, 3)."""
        low, high = np.percentile(points, (2, 98), axis=0)
        track = Track(self.next_id, stamp, stamp, low, high)
        self.next_id += 1
        self.tracks.add(track)
        return track

    def resolve(self, identity: int) -> int:
        """Return the current id of an instance: the winner's if it was merged, else the same id."""
        first = identity
        while identity in self._forward:
            identity = self._forward[identity]
        while first != identity:  # compress the path: later look-ups take one step
            self._forward[first], first = identity, self._forward[first]
        return identity

    def merge(self, loser: int, winner: int, revision: int, captions: int) -> Merge:
        """Merge two known instances and remove the loser; return the merge.

        captions: largest number of captions to keep.
        """
        lost = self.tracks.pop(loser)
        self.tracks[winner].absorb(lost, captions)
        return self._forward_to(loser, winner, revision)

    def return_as(self, identity: int, newcomer: int, revision: int, captions: int) -> Merge:
        """Give a new instance the id of a disappeared one, because both are one object; return the merge."""
        track, back = self.tracks.pop(newcomer), self.gone.pop(identity)
        back.box_min, back.box_max = track.box_min, track.box_max
        back.absence_count, back.last_absence, back.size = track.absence_count, track.last_absence, track.size
        back.absorb(track, captions)
        self.tracks.add(back)
        return self._forward_to(newcomer, identity, revision)

    def _forward_to(self, loser: int, winner: int, revision: int) -> Merge:
        self._forward[loser] = winner
        self.instances.pop(loser, None)
        merge = Merge(loser, winner)
        self._merged.append((revision, merge))
        return merge

    def remove(self, identity: int, revision: int) -> None:
        """Remove a false instance."""
        self.tracks.pop(identity)
        self.instances.pop(identity, None)
        self._removed[identity] = revision

    def lose(self, identity: int) -> None:
        """Mark an instance as disappeared; it may return elsewhere."""
        self.gone[identity] = self.tracks.pop(identity)
        self.instances.pop(identity, None)
        if len(self.gone) > _REMEMBERED:
            self.gone.popitem(last=False)

    def restore_merges(self, merges: list[tuple[int, Merge]]) -> None:
        """Replace the history of merges.

        merges: pairs (revision of the delta that announces the merge, merge).
        """
        self._merged = merges
        self._forward = {merge.loser: merge.winner for _, merge in merges}

    def changes(self) -> list[tuple[int, int]]:
        """Return pairs (revision of the last change, id) of the measured instances."""
        return [(self.tracks[i].revision, i) for i in self.instances]

    def merged_between(self, after: int, until: int) -> tuple[Merge, ...]:
        """Return the merges after revision `after`, up to and including `until`, oldest first."""
        return tuple(merge for at, merge in self._merged if after < at <= until)

    def removed_between(self, after: int, until: int) -> tuple[int, ...]:
        """Return the ids removed after revision `after`, up to and including `until`."""
        return tuple(i for i, at in self._removed.items() if after < at <= until)
