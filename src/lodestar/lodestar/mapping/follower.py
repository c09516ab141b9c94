"""Protocol between the owner of a set of records and its followers: deltas in the order of revisions, and pages.

The owner publishes each change as a delta from one revision to the next. Whoever misses one asks for a page: what
changed after a cursor, in the order of revision and id, up to the page's own cursor. What changes while somebody pages
comes later in that order, so paging does not start again. Where a follower's revision is so old that the owner has
forgotten what was removed since, it gives the first page of everything, with previous_revision 0. Neither ROS nor a
clock is needed here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from heapq import nsmallest
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

ALL = 2**32 - 1  # as the id of a cursor: the whole revision
PAGE_SIZE = 256  # records
AHEAD = 64  # deltas that are kept while something before them is missing; chosen: some seconds of them

T = TypeVar("T")


class Cursor(NamedTuple):
    """A place in the order of changes: all revisions before this one, and in this one the records up to the id."""

    revision: int = 0
    id: int = ALL

    @property
    def is_whole(self) -> bool:
        """Return whether the revision is known to its end."""
        return self.id == ALL


def page_of(
    changed: Iterable[tuple[int, int]], since: Cursor, newest: int, size: int
) -> tuple[list[int], Cursor]:
    """Return the ids of the next page and the cursor behind it.

    changed: (revision, id) of each record by its last change. newest: the owner's revision. size: 0 = `PAGE_SIZE`.
    """
    size = size or PAGE_SIZE
    left = nsmallest(size + 1, (one for one in changed if one > since))
    until = Cursor(newest) if len(left) <= size else Cursor(*left[size - 1])
    return [identity for _, identity in left[:size]], until


def pages_of(
    delta_since: Callable[..., tuple[T, Cursor]], size: int = PAGE_SIZE, **options: Any
) -> Iterator[T]:
    """Give all pages of an owner in this process, from the start; delta_since: its method of that name."""
    since, more = Cursor(), True
    while more:
        page, since = delta_since(since.revision, since.id, size, **options)
        more = not since.is_whole
        yield page


class Delta(Protocol):
    """A delta or a page, as a record or as its message."""

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
    """Role of a delta for the follower's copy; parts are applied in the order in which they are given."""

    NEXT = auto()  # the delta after the last one
    PAGE = auto()  # a page of what was missed
    FIRST = auto()  # the first page of everything: what is known from before goes
    OVERTAKEN = auto()  # a delta whose records the page that follows has; only its evidence is new


@dataclass(frozen=True)
class Request:
    """A page to ask for. number: ascending."""

    number: int
    since: Cursor


class Follower(Generic[D]):
    """Decide what of a stream of deltas is applied and which pages are missing. Not safe for threads.

    Deltas and answers may be lost, doubled or reordered, and the owner may start again under another session. Every
    part that is given out is newer than those before it, and after each call the parts are one whole revision.
    """

    def __init__(self) -> None:
        self.fills = 0  # completed pagings
        self._name: tuple[int, str] | None = None  # map and session of what is known
        self._revision = 0  # everything up to it is known
        self._ahead: deque[D] = deque(maxlen=AHEAD)
        self._pages: list[D] = []  # until the last one has come
        self._read = Cursor()  # the end of these pages
        self._whole = True  # everything is to be paged
        self._asked: Request | None = None
        self._issued = self._answered = 0  # numbers of requests
        self._doubted = 0  # number of the last request that was made before something was missed

    @property
    def is_whole(self) -> bool:
        """Return whether everything was paged since the last `restart`."""
        return not self._whole

    def restart(self) -> None:
        """Page everything again."""
        self._whole, self._pages, self._asked = True, [], None

    def doubt(self) -> None:
        """Ask whether something was missed, for example after a time of silence."""
        self._doubted = self._issued

    def hear(self, delta: D) -> list[tuple[Part, D]]:
        """Take a delta of the stream; return what is to be applied now."""
        name = _name_of(delta)
        if self._name is None and delta.previous_revision == 0:
            self._name = name  # it holds everything
        if name == self._name and delta.revision <= self._revision:
            return []
        if all(name != _name_of(one) or delta.revision != one.revision for one in self._ahead):
            self._ahead.append(delta)
        parts = self._catch_up() if name == self._name else []
        if not parts:
            self.doubt()
        return parts

    def request(self) -> Request | None:
        """Return the page to ask for now; None while one is asked for, or if nothing is missing."""
        complete = not self._whole and not self._pages and self._answered > self._doubted
        if self._asked is not None or complete:
            return None
        since = self._read if self._pages else Cursor(0 if self._whole else self._revision)
        self._issued += 1
        self._asked = Request(self._issued, since)
        return self._asked

    def give_up(self, request: Request) -> None:
        """Note that a request has failed or takes too long; its answer is ignored if it comes."""
        if self._asked is request:
            self._asked = None

    def answer(self, request: Request, page: D, until_id: int) -> list[tuple[Part, D]]:
        """Take the page to a request; return what is to be applied now. until_id: id of the page's cursor."""
        if self._asked is not request:
            return []
        self._asked = None
        name = _name_of(page)
        if name != (_name_of(self._pages[0]) if self._pages else name if self._whole else self._name):
            self.restart()  # the owner was started again
            return []
        if page.previous_revision != request.since.revision:  # too long ago: the owner begins with everything
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
        """Return the pages, and around them the deltas that were waiting for them."""
        first = Part.FIRST if self._pages[0].previous_revision == 0 else Part.PAGE
        known = self._revision if name == self._name else 0
        self._name, self._revision = name, self._read.revision
        over = [one for one in self._waiting() if known < one.revision <= self._revision]
        pages = [(Part.PAGE if place else first, page) for place, page in enumerate(self._pages)]
        self.fills += 1
        return [*((Part.OVERTAKEN, one) for one in over), *pages, *self._catch_up()]

    def _catch_up(self) -> list[tuple[Part, D]]:
        """Return the waiting deltas that follow what is known, and forget those that nothing needs any more."""
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
        """Return the deltas of the session that is followed, in their order."""
        return sorted(
            (one for one in self._ahead if _name_of(one) == self._name), key=lambda one: one.revision
        )


def _name_of(delta: Delta) -> tuple[int, str]:
    return delta.map_id, delta.session_id
