"""Journal of published snapshots and their revisions, from which deltas are made."""

from __future__ import annotations

from collections.abc import Collection

from lodestar.memory.records import Snapshot, SnapshotDelta


class SnapshotJournal:
    """Published snapshots with their revisions. history: number of removals remembered.

    The cost of a delta depends on the size of the delta only.
    """

    def __init__(self, history: int) -> None:
        self.revision = 0
        self.published: dict[int, Snapshot] = {}  # in the order of the last change
        self._revisions: dict[int, int] = {}
        self._removed: dict[int, int] = {}  # in the order of removal
        self._history = history
        self._complete_since = 0  # all removals after this revision are remembered

    def publish(self, stamp: float, updated: Collection[Snapshot], removed: Collection[int]) -> SnapshotDelta:
        """Publish changes and return their delta; entries that change nothing are left out.

        If nothing changes, the revision stays the same.
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
        """Restore an earlier process's published snapshots; its earlier removals are unknown."""
        self.revision = self._complete_since = revision
        self.published = {snapshot.id: snapshot for snapshot in published}
        self._revisions = dict.fromkeys(self.published, revision)
        self._removed = {}

    def since(self, stamp: float, revision: int) -> SnapshotDelta:
        """Return all changes after a revision.

        If the revision is too old or unknown, returns all snapshots, with previous_revision 0.
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
