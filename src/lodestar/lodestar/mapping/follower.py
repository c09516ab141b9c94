"""Protocol between the owner of a set of records and its followers: deltas in the order of revisions, and pages.

The owner publishes each change as a delta from one revision to the next. A follower that misses a delta requests
pages: the records that changed after a cursor, in the order of revision and id, up to the page's own cursor. Changes
made meanwhile come later in that order, so paging does not restart. If the follower's revision is so old that the
owner has forgotten the removals since, the owner sends the first page of all records, with previous_revision 0. The
module needs neither ROS nor a clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from heapq import nsmallest
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

ALL = 2**32 - 1  # largest id in a cursor: the whole revision is included
PAGE_SIZE = 256  # records per page
AHEAD = 64  # deltas kept while an earlier one is missing; chosen: some seconds of them

T = TypeVar("T")


class Cursor(NamedTuple):
    """Position in the sequence of changes, which is sorted by revision and then by record id.

    It lies after all changes of earlier revisions and after those of `revision` with ids up to `id`.
    """

    revision: int = 0
    id: int = ALL

    @property
    def is_whole(self) -> bool:
        """Return whether all changes of the revision lie before the cursor."""
        return self.id == ALL


def page_of(
    changed: Iterable[tuple[int, int]], since: Cursor, newest: int, size: int
) -> tuple[list[int], Cursor]:
    """Return the ids of the records of the next page, and the cursor at its end.

    changed: per record, (revision of its last change, id). newest: the owner's revision. size: most records
    of a page, 0 = `PAGE_SIZE`.
    """
    size = size or PAGE_SIZE
    left = nsmallest(size + 1, (one for one in changed if one > since))
    until = Cursor(newest) if len(left) <= size else Cursor(*left[size - 1])
    return [identity for _, identity in left[:size]], until


def pages_of(
    delta_since: Callable[..., tuple[T, Cursor]], size: int = PAGE_SIZE, **options: Any
) -> Iterator[T]:
    """Yield all pages of an owner in this process, from the start.

    delta_since: the owner's method of that name.
    """
    since, more = Cursor(), True
    while more:
        page, since = delta_since(since.revision, since.id, size, **options)
        more = not since.is_whole
        yield page


class Delta(Protocol):
    """Interface of a delta or page, whether a core record or a ROS message."""

    @property
    def revision(self) -> int: ...

    @property
    def previous_revision(self) -> int: ...

    @property
    def map_id(self) -> int: ...

    @property
    def session_id(self) -> str: ...


D = TypeVar("D", bound=Delta)


class Part(Enum):
    """Kind of a received delta or page, which says how to apply it to the follower's copy."""

    NEXT = auto()  # the delta that follows the last one
    PAGE = auto()  # a page of missed changes
    FIRST = auto()  # the first page of all records: discard the copy first
    OVERTAKEN = auto()  # a delta whose records are also in the pages after it; only its observations are new


@dataclass(frozen=True)
class Request:
    """Request for one page. number: ascending. since: the cursor after which the page starts."""

    number: int
    since: Cursor


class Follower(Generic[D]):
    """Decides which deltas of a stream are applied and which pages are requested. Not safe for threads.

    Deltas and pages may be lost, duplicated or reordered, and the owner may restart with another session. The
    methods `hear` and `answer` return parts: deltas and pages to apply to the copy in this order, each with
    its kind (`Part`). After all of them are applied, the copy is at a whole revision.
    """

    def __init__(self) -> None:
        self.fills = 0  # number of completed pagings
        self._name: tuple[int, str] | None = None  # map and session of the copy
        self._revision = 0  # revision of the copy
        self._ahead: deque[D] = deque(maxlen=AHEAD)
        self._pages: list[D] = []  # pages received, until the last one has arrived
        self._read = Cursor()  # cursor at the end of these pages
        self._whole = True  # whether all records must be paged
        self._asked: Request | None = None
        self._issued = self._answered = 0  # numbers of the last request and of the last complete answer
        self._doubted = 0  # requests up to this number do not cover the last suspected gap

    @property
    def is_whole(self) -> bool:
        """Return whether the copy is complete: all pages since the last `restart` have arrived."""
        return not self._whole

    def restart(self) -> None:
        """Discard the received pages, so that `request` asks for all records again."""
        self._whole, self._pages, self._asked = True, [], None

    def doubt(self) -> None:
        """Note that a delta may have been missed, as after a long silence; `request` then asks for a page."""
        self._doubted = self._issued

    def hear(self, delta: D) -> list[tuple[Part, D]]:
        """Process a delta of the stream; return the parts to apply now."""
        name = _name_of(delta)
        if self._name is None and delta.previous_revision == 0:
            self._name = name  # this delta holds all records
        if name == self._name and delta.revision <= self._revision:
            return []
        if all(name != _name_of(one) or delta.revision != one.revision for one in self._ahead):
            self._ahead.append(delta)
        parts = self._catch_up() if name == self._name else []
        if not parts:
            self.doubt()
        return parts

    def request(self) -> Request | None:
        """Return the page to request now; None while a request is pending or if nothing is missing."""
        complete = not self._whole and not self._pages and self._answered > self._doubted
        if self._asked is not None or complete:
            return None
        since = self._read if self._pages else Cursor(0 if self._whole else self._revision)
        self._issued += 1
        self._asked = Request(self._issued, since)
        return self._asked

    def give_up(self, request: Request) -> None:
        """Cancel a request that failed or takes too long; a late answer is ignored."""
        if self._asked is request:
            self._asked = None

    def answer(self, request: Request, page: D, until_id: int) -> list[tuple[Part, D]]:
        """Process the page that answers a request; return the parts to apply now.

        until_id: id in the cursor at the end of the page.
        """
        if self._asked is not request:
            return []
        self._asked = None
        name = _name_of(page)
        if name != (_name_of(self._pages[0]) if self._pages else name if self._whole else self._name):
            self.restart()  # the owner was restarted
            return []
        # cursor too old: the owner starts with all records
        if page.previous_revision != request.since.revision:
            self.restart()
        self._pages.append(page)
        self._read = Cursor(page.revision, until_id)
        if not self._read.is_whole or (self._whole and name == self._name and page.revision < self._revision):
            return []
        self._answered = request.number
        parts = self._take_pages(name) if self._whole or page.revision > self._revision else []
        self._pages, self._whole = [], False
        return parts

    def _take_pages(self, name: tuple[int, str]) -> list[tuple[Part, D]]:
        """Return the received pages as parts, between the stored deltas that they cover and later ones."""
        first = Part.FIRST if self._pages[0].previous_revision == 0 else Part.PAGE
        known = self._revision if name == self._name else 0
        self._name, self._revision = name, self._read.revision
        over = [one for one in self._waiting() if known < one.revision <= self._revision]
        pages = [(Part.PAGE if place else first, page) for place, page in enumerate(self._pages)]
        self.fills += 1
        return [*((Part.OVERTAKEN, one) for one in over), *pages, *self._catch_up()]

    def _catch_up(self) -> list[tuple[Part, D]]:
        """Return the stored deltas that continue the copy's revision as parts; drop outdated ones."""
        waiting, found = self._waiting(), []
        for one in waiting:
            if one.previous_revision <= self._revision < one.revision:
                self._revision = one.revision
                found.append((Part.NEXT, one))
        others = [one for one in self._ahead if _name_of(one) != self._name]
        late = [one for one in waiting if one.revision > self._revision]
        self._ahead = deque([*others, *late], AHEAD)
        return found

    def _waiting(self) -> list[D]:
        """Return the stored deltas of the followed session that are not applied yet, in order of revision."""
        return sorted(
            (one for one in self._ahead if _name_of(one) == self._name), key=lambda one: one.revision
        )


def _name_of(delta: Delta) -> tuple[int, str]:
    return delta.map_id, delta.session_id
