"""Journal of published snapshots and their revisions, the source of deltas."""

from __future__ import annotations

from collections.abc import Collection

from lodestar.memory.records import Snapshot, SnapshotDelta


class SnapshotJournal:
    """Revisions of snapshots. A delta costs its own size. history: removals that are remembered."""

    def __init__(self, history: int) -> None:
        self.revision = 0
        self.published: dict[int, Snapshot] = {}  # in the order of their last change
        self._revisions: dict[int, int] = {}
        self._removed: dict[int, int] = {}  # in the order of their removal
        self._history = history
        self._complete_since = 0  # removals after this revision are all remembered

    def publish(self, stamp: float, updated: Collection[Snapshot], removed: Collection[int]) -> SnapshotDelta:
        """Return the delta of these changes; those that change nothing are left out, and without any the revision
        stays the same.
        """
        gone = tuple(identity for identity in removed if self.published.pop(identity, None) is not None)
        news = tuple(snapshot for snapshot in updated if self.published.get(snapshot.id) != snapshot)
        previous = self.revision
        if gone or news:
            self.revision += 1
        for identity in gone:
            del self._revisions[identity]
            self._removed[identity] = self.revision
        for snapshot in news:
            self.published.pop(snapshot.id, None)
            self.published[snapshot.id] = snapshot
            self._revisions[snapshot.id] = self.revision
            self._removed.pop(snapshot.id, None)
        while len(self._removed) > self._history:
            oldest = next(iter(self._removed))
            self._complete_since = self._removed.pop(oldest)
        return SnapshotDelta(stamp, self.revision, previous, news, gone)

    def restore(self, revision: int, published: Collection[Snapshot]) -> None:
        """Go on from what a predecessor had published; what it removed before is not known any more."""
        self.revision = self._complete_since = revision
        self.published = {snapshot.id: snapshot for snapshot in published}
        self._revisions = dict.fromkeys(self.published, revision)
        self._removed = {}

    def since(self, stamp: float, revision: int) -> SnapshotDelta:
        """Return all changes after a revision; everything, with previous_revision 0, where that is too long ago or
        unknown.
        """
        if not self._complete_since <= revision <= self.revision or revision == 0:
            return SnapshotDelta(stamp, self.revision, 0, tuple(self.published.values()))
        changed = []
        for identity in reversed(self.published):
            if self._revisions[identity] <= revision:
                break
            changed.append(self.published[identity])
        gone = tuple(identity for identity, when in self._removed.items() if when > revision)
        return SnapshotDelta(stamp, self.revision, revision, tuple(reversed(changed)), gone)
