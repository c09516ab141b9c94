"""Journal of published entities and their revisions, the source of deltas and pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import islice

from lodestar.mapping.records import Merge
from lodestar.scene.records import Entity, EntityState, SceneDelta

DEFAULT_PAGE = 256


class Journal:
    """Revisions of entities. A delta costs its own size and a page that of the changes, not that of the scene."""

    def __init__(self) -> None:
        self.revision = 0
        self.published: dict[int, Entity] = {}  # in the order of their last change
        self._revisions: dict[int, int] = {}
        self._dirty: dict[int, None] = {}  # in the order in which they changed
        self._merged: list[tuple[int, Merge]] = []
        self._removed: dict[int, int] = {}

    def mark(self, identity: int) -> None:
        """Mark an entity as changed; a later delta has it."""
        self._dirty[identity] = None

    def pending(self, limit: int) -> list[int]:
        """Return the next entities to publish, in the order of their changes."""
        return list(islice(self._dirty, limit))

    def changed_at(self, identity: int) -> int:
        """Return the revision of the entity's last change; the next one where it is not published yet."""
        return self.revision + 1 if identity in self._dirty else self._revisions.get(identity, 0)

    def forget(self, identity: int) -> None:
        """Drop an entity."""
        self.published.pop(identity, None)
        self._revisions.pop(identity, None)
        self._dirty.pop(identity, None)

    def removed(self, identity: int) -> None:
        """Record that an entity was removed without a successor; the next delta lists it."""
        self.forget(identity)
        self._removed[identity] = self.revision + 1

    def returned(self, identity: int) -> None:
        """Record that a removed id is in use again."""
        self._removed.pop(identity, None)

    def publish(
        self,
        stamp: float,
        batch: Iterable[int],
        make: Callable[[int], Entity],
        merges: Iterable[Merge],
        removed: Iterable[int],
        identity: tuple[int, str],
    ) -> SceneDelta:
        """Return the delta of a batch, merges and removals; without any, the revision stays the same.

        identity: map id and session.
        """
        previous, merges, removed = self.revision, tuple(merges), tuple(dict.fromkeys(removed))
        updated = []
        batch = tuple(batch)
        if batch or merges or removed:
            self.revision += 1
        for one in batch:
            del self._dirty[one]
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
        revision: int,
        page: int,
        page_size: int,
        wanted: Collection[int],
        include_archived: bool,
        identity: tuple[int, str],
    ) -> tuple[SceneDelta, int]:
        """See SceneDictionary.delta_since."""
        changed = []
        for one in reversed(self.published):
            if self._revisions[one] <= revision:
                break
            if (not wanted or one in wanted) and (
                include_archived or self.published[one].state != EntityState.ARCHIVED
            ):
                changed.append(one)
        changed.sort()
        size = page_size if page_size > 0 else DEFAULT_PAGE
        pages = max(1, -(-len(changed) // size))
        if not 0 <= page < pages:
            raise ValueError(f"there is no page {page}: there are {pages}")
        first = page == 0
        delta = SceneDelta(
            stamp=stamp,
            revision=self.revision,
            previous_revision=revision,
            updated=tuple(self.published[i] for i in changed[page * size : (page + 1) * size]),
            merges=tuple(m for r, m in self._merged if r > revision) if first else (),
            removed=tuple(i for i, r in self._removed.items() if r > revision) if first else (),
            map_id=identity[0],
            session_id=identity[1],
        )
        return delta, pages

    def restart(self, revision: int, ids: Iterable[int], merges: Iterable[Merge]) -> None:
        """Start anew at this revision: all of `ids` count as changed, and only these merges are known."""
        self.revision = revision
        self.published.clear()
        self._revisions.clear()
        self._merged = [(revision, merge) for merge in merges]
        self._removed.clear()
        self._dirty = dict.fromkeys(ids)
