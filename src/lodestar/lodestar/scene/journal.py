"""Journal of published entities and their revisions, the source of deltas and pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import islice

from lodestar.mapping.follower import Cursor, page_of
from lodestar.mapping.instances.records import Merge
from lodestar.scene.records import Entity, EntityState, SceneDelta

#: Most removals that are remembered; a reader behind the oldest starts anew. Chosen: minutes of a crowd.
MOST_REMOVED = 1024


class Journal:
    """Published entities and the revision of the last change of each.

    The cost of a delta grows with its own size and that of a page with the number of changes, not with the
    size of the scene.
    """

    def __init__(self) -> None:
        self.revision = 0
        self.published: dict[int, Entity] = {}  # ordered by last change
        self._revisions: dict[int, int] = {}
        self._dirty: dict[int, None] = {}  # changed entities to publish, in the order of their changes
        self._seen: dict[int, None] = {}  # entities in `_dirty` that were seen since
        self._merged: list[tuple[int, Merge]] = []
        self._removed: dict[int, int] = {}  # id -> revision of its removal, in that order
        self._complete = 0  # all removals after this revision are known

    def mark(self, identity: int, *, seen: bool = False) -> None:
        """Mark an entity as changed, so that a later delta publishes it.

        Entities that were seen are published earlier.
        """
        self._dirty[identity] = None
        if seen:
            self._seen[identity] = None

    def pending(self, limit: int) -> list[int]:
        """Return the next entities to publish, at most `limit`, in the order of their changes.

        Entities that were seen come first, then those that were only moved or renamed, for which a quarter of
        the places is reserved.
        """
        first = list(islice(self._seen, limit - limit // 4))
        others = (one for one in self._dirty if one not in self._seen)
        batch = [*first, *islice(others, limit - len(first))]
        return batch + list(islice(self._seen, len(first), len(first) + limit - len(batch)))

    def changed_at(self, identity: int) -> int:
        """Return the revision of an entity's last change.

        If the change is not published yet, this is the next revision.
        """
        return self.revision + 1 if identity in self._dirty else self._revisions.get(identity, 0)

    def forget(self, identity: int) -> None:
        """Remove an entity from the journal without reporting it."""
        self.published.pop(identity, None)
        self._revisions.pop(identity, None)
        self._dirty.pop(identity, None)
        self._seen.pop(identity, None)

    def removed(self, identity: int) -> None:
        """Remove an entity without a successor, and remember the removal for pages."""
        self.forget(identity)
        self._removed.pop(identity, None)
        self._removed[identity] = self.revision + 1
        while len(self._removed) > MOST_REMOVED:
            self._complete = self._removed.pop(next(iter(self._removed)))

    def publish(
        self,
        stamp: float,
        batch: Iterable[int],
        make: Callable[[int], Entity],
        merges: Iterable[Merge],
        removed: Iterable[int],
        identity: tuple[int, str],
    ) -> SceneDelta:
        """Return the delta of a batch of entities, merges and removals, under the next revision.

        Without any of them the revision stays the same. identity: map id and session.
        """
        previous, merges, removed = self.revision, tuple(merges), tuple(dict.fromkeys(removed))
        updated = []
        batch = tuple(batch)
        if batch or merges or removed:
            self.revision += 1
        for one in batch:
            del self._dirty[one]
            self._seen.pop(one, None)
            self._removed.pop(one, None)  # the id is used again
            self.published.pop(one, None)
            entity = self.published[one] = make(one)
            self._revisions[one] = self.revision
            updated.append(entity)
        self._merged.extend((self.revision, merge) for merge in merges)
        return SceneDelta(
            stamp,
            self.revision,
            previous,
            tuple(updated),
            merges,
            removed,
            map_id=identity[0],
            session_id=identity[1],
        )

    def page(
        self,
        stamp: float,
        since: Cursor,
        size: int,
        wanted: Collection[int],
        include_archived: bool,
        identity: tuple[int, str],
    ) -> tuple[SceneDelta, Cursor]:
        """Return a page of changes, see SceneDictionary.delta_since."""
        if since.is_whole and since.revision < self._complete:  # a partial cursor is already paging
            since = Cursor()
        changed: list[tuple[int, int]] = []
        hidden: list[tuple[int, int]] = []
        for one in reversed(self.published):
            at = self._revisions[one]
            if at < since.revision:
                break
            if wanted and one not in wanted:
                continue
            shown = include_archived or self.published[one].state != EntityState.ARCHIVED
            (changed if shown else hidden).append((at, one))
        ids, until = page_of(changed, since, self.revision, size)
        gone = [*((at, one) for one, at in self._removed.items()), *hidden] if since.revision else []
        delta = SceneDelta(
            stamp=stamp,
            revision=until.revision,
            previous_revision=since.revision,
            updated=tuple(self.published[one] for one in ids),
            merges=tuple(merge for at, merge in self._merged if since.revision < at <= until.revision),
            removed=tuple(one for at, one in gone if since < (at, one) <= until),
            map_id=identity[0],
            session_id=identity[1],
        )
        return delta, until

    def restart(self, revision: int, ids: Iterable[int], merges: Iterable[Merge]) -> None:
        """Reset the journal to a revision: all of `ids` count as changed, and only these merges are known."""
        self.revision, self._complete = revision, 0
        self.published.clear()
        self._revisions.clear()
        self._merged = [(revision, merge) for merge in merges]
        self._removed.clear()
        self._dirty = dict.fromkeys(ids)
        self._seen.clear()
