"""Actions as transactions: staged, committed or rolled back, with a journal and undo (VLM-DEWM 3.1.5, 3.2.7).

An action that begins is staged, which changes no belief. Its outcome makes an entry: amendments that belong
together. The entry is written to the journal before it is applied, and closed afterwards. Entries that were
not closed when the process died are applied again after a restart.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

import numpy as np
from msgspec import Struct

from lodestar.geometry.map_correction import MapCorrection
from lodestar.storage.journal_file import JournalFile
from lodestar.storage.records import BadRecord, Stamp, decode
from lodestar.worldmodel.amendments import OF_STATE, Amendment, Change, ClosedWay, middle_of, moved_amendment
from lodestar.worldmodel.records import Action, Skill

KIND, VERSION = "lodestar-world-model", 3  # of the journal's file
#: Entries that can be undone. Older ones are dropped, except for ways they closed that are still closed.
MAX_ENTRIES = 1000
MAX_ACTIONS = 2000  # number of ended actions to remember, so that a repeated end changes nothing


class _Line(Struct, frozen=True, tag_field="op", tag=str.lower):
    """A line of the journal, tagged with the name of its class."""


class Begin(_Line, frozen=True):
    """Journal line: an action has begun; its trace, time, skill and arguments."""

    trace_id: str
    stamp: Stamp
    skill: Skill
    arguments: tuple[str, ...]


class End(_Line, frozen=True):
    """Journal line: the action of a trace has ended."""

    trace_id: str


class Opened(_Line, frozen=True, tag="entry"):
    """Journal line: an entry of amendments that is to be applied."""

    number: int
    stamp: Stamp
    trace_id: str
    undoes: int
    amendments: tuple[Amendment, ...]


class Done(_Line, frozen=True):
    """Journal line: an entry was applied. inverse: amendments that undo it."""

    number: int
    inverse: tuple[Amendment, ...]


class Refused(_Line, frozen=True):
    """Journal line: an entry was refused, with the reason."""

    number: int
    reason: str


class Move(_Line, frozen=True):
    """Journal line: the map was corrected rigidly. jump: transform (4, 4) in map."""

    jump: np.ndarray


class Bend(_Line, frozen=True):
    """Journal line: the map was corrected by a different transform in each part.

    places: (K, 2) middles of the K closed ways, in map; moves: (K, 4, 4), the transforms of these places.
    """

    jump: np.ndarray
    places: np.ndarray
    moves: np.ndarray

    @property
    def correction(self) -> MapCorrection:
        """Return the correction of the map, with its transforms at these places."""
        count = len(self.places)
        places = np.column_stack([self.places, np.zeros(count)])
        return MapCorrection(self.jump, np.arange(count), np.zeros(count), places, self.moves, alike=0.0)


class _Numbered(Struct):
    """Number of a journal entry, decoded alone if the rest of its line is invalid."""

    number: int = 0


Line = Begin | End | Opened | Done | Refused | Move | Bend


def journal_of_run(folder: Path) -> JournalFile[Line]:
    """Return the journal in the folder of a run. Raises OSError, UnsafeFolder."""
    return JournalFile(folder / "world_model.journal", KIND, VERSION, Line)


class Status(Enum):
    """States of a journal entry, which records changes to the world model made together."""

    OPEN = "open"  # written, not applied yet
    DONE = "done"
    REFUSED = "refused"
    UNDONE = "undone"


@dataclass(frozen=True)
class Entry:
    """Amendments that belong together, as one entry of the journal.

    undoes: number of the entry that this one undoes, 0 = none. inverse: amendments that undo it, known once
    it is done. replayed: written by an earlier process. words: its amendments as sentences, once it is done.
    """

    number: int
    stamp: float
    amendments: tuple[Amendment, ...]
    trace_id: str = ""
    undoes: int = 0
    status: Status = Status.OPEN
    inverse: tuple[Amendment, ...] = ()
    reason: str = ""
    replayed: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Staged:
    """An action that has begun and not ended, without its goal."""

    stamp: float
    action: Action


class Overtaken(ValueError):
    """Raised if a later entry changed the same property; that entry must be undone first."""


class NoSuchEntry(LookupError):
    """Raised if the journal has no such entry; the message lists the existing ones."""


class AlreadyUndone(ValueError):
    """Raised if the entry was undone before, or is itself an undo."""


class Transactions:
    """The staged actions and the entries, in memory and in a journal.

    Errors of the journal are raised before anything changes.
    """

    def __init__(self, journal: JournalFile[Line] | None = None) -> None:
        self._journal = journal
        self.staged: OrderedDict[str, Staged] = OrderedDict()  # by trace id
        self.entries: OrderedDict[int, Entry] = OrderedDict()
        self.problems = list(journal.problems) if journal is not None else []  # unreadable lines
        self.ended: OrderedDict[str, None] = OrderedDict()  # trace ids of ended actions
        self._next = 1
        for line in journal.lines if journal is not None else ():
            self._replay(line)
        for body in journal.left_out if journal is not None else ():
            with suppress(BadRecord):
                self._next = max(self._next, decode(body, _Numbered).number + 1)
        if journal is not None and journal.is_full:
            journal.rewrite(list(self._lines()))

    # --- actions ----------------------------------------------------------------------------------------------

    def begin(self, trace_id: str, stamp: float, action: Action) -> bool:
        """Stage an action. Return False if it has begun or ended before."""
        if trace_id in self.staged or trace_id in self.ended:
            return False
        staged = Staged(stamp, Action(action.skill, action.arguments))
        self._write(Begin(trace_id, stamp, action.skill, action.arguments))
        self._stage(trace_id, staged)
        return True

    def end(self, trace_id: str) -> bool:
        """End an action, staged or not. Return False if it has ended before."""
        if trace_id in self.ended:
            return False
        self._write(End(trace_id))
        self._over(trace_id)
        return True

    # --- entries ----------------------------------------------------------------------------------------------

    def open(
        self, stamp: float, amendments: Iterable[Amendment], trace_id: str = "", undoes: int = 0
    ) -> Entry:
        """Write a new entry, which is to be applied, and return it. This also ends the action `trace_id`."""
        entry = Entry(self._next, stamp, tuple(amendments), trace_id, undoes)
        self._write(_entry_line(entry))
        self._next += 1
        self._keep(entry)
        if trace_id:
            self._over(trace_id)
        return entry

    def undo(self, number: int, stamp: float) -> Entry:
        """Write a new entry that undoes another one, and return it.

        Raises NoSuchEntry, AlreadyUndone, Overtaken.
        """
        entry = self.entries.get(number)
        if entry is None or entry.status in (Status.OPEN, Status.REFUSED):
            known = ", ".join(str(n) for n, e in self.entries.items() if e.status is Status.DONE)
            raise NoSuchEntry(f"there is no entry {number} to undo; there are {known or 'none'}")
        if entry.undoes:
            raise AlreadyUndone(
                f"entry {number} itself took {entry.undoes} back; say the correction again instead"
            )
        if entry.status is Status.UNDONE:
            raise AlreadyUndone(f"entry {number} was taken back before")
        self._refuse_overtaken(entry)
        return self.open(stamp, entry.inverse, undoes=number)

    def _refuse_overtaken(self, entry: Entry) -> None:
        """Raise Overtaken if a later valid entry changed the same property of the same entity."""
        changed = {(_subject(a.change), a.entity_id) for a in entry.amendments if a.entity_id}
        for later in self.entries.values():
            if later.number <= entry.number or later.status is not Status.DONE or later.undoes:
                continue
            for amendment in later.amendments:
                if (_subject(amendment.change), amendment.entity_id) in changed:
                    raise Overtaken(
                        f"entry {later.number} changed entity {amendment.entity_id} since; undo that one first"
                    )

    def done(self, entry: Entry, inverse: Iterable[Amendment], words: tuple[str, ...] = ()) -> Entry:
        """Close an applied entry as done, and return it. inverse: amendments that undo it."""
        made = replace(entry, status=Status.DONE, inverse=tuple(inverse), words=words)
        self._write(Done(entry.number, made.inverse))
        self._keep(made)
        self._undone(made)
        return made

    def refused(self, entry: Entry, reason: str) -> Entry:
        """Close an entry as refused, and return it; none of its amendments was applied."""
        made = replace(entry, status=Status.REFUSED, reason=reason)
        self._write(Refused(entry.number, reason))
        self._keep(made)
        return made

    def move(self, correction: MapCorrection) -> None:
        """Apply a correction of the map to the closed ways in all entries, so that these stay in place."""
        every = (a for entry in self.entries.values() for a in (*entry.amendments, *entry.inverse))
        ways = {amendment.way for amendment in every if amendment.way is not None}
        if not ways:
            return
        if correction.is_rigid:
            self._write(Move(correction.jump))
        else:
            places = np.array(sorted({middle_of(way) for way in ways}))
            bend = Bend(correction.jump, places, np.array([correction.at_place(place) for place in places]))
            self._write(bend)
        self._moved(correction)

    def _moved(self, correction: MapCorrection) -> None:
        for entry in list(self.entries.values()):
            made, back = (
                tuple(moved_amendment(a, correction) for a in part)
                for part in (entry.amendments, entry.inverse)
            )
            self.entries[entry.number] = replace(entry, amendments=made, inverse=back)

    @property
    def waiting(self) -> tuple[Entry, ...]:
        """Return the entries that were written and are not closed yet, oldest first."""
        return tuple(entry for entry in self.entries.values() if entry.status is Status.OPEN)

    # --- the journal ------------------------------------------------------------------------------------------

    def _write(self, line: Line) -> None:
        if self._journal is None:
            return
        self._journal.append(line)
        if self._journal.is_full:
            with suppress(OSError):  # the line is written; only the journal stays long
                self._journal.rewrite([*self._lines(), line])

    def _lines(self) -> Iterable[Line]:
        """Yield the lines of a compacted journal: ended actions, staged actions, and entries."""
        for trace_id in self.ended:
            yield End(trace_id)
        for trace_id, staged in self.staged.items():
            yield Begin(trace_id, staged.stamp, staged.action.skill, staged.action.arguments)
        for entry in self.entries.values():
            yield _entry_line(entry)
            if entry.status in (Status.DONE, Status.UNDONE):
                yield Done(entry.number, entry.inverse)
            elif entry.status is Status.REFUSED:
                yield Refused(entry.number, entry.reason)

    def _replay(self, line: Line) -> None:
        try:
            self._follow(line)
        except (LookupError, ValueError) as error:
            self.problems.append(f"a line was left out: {type(error).__name__}: {error}: {line}"[:300])

    def _follow(self, line: Line) -> None:
        """Apply a line of the journal. Raises LookupError for a missing entry, ValueError."""
        if isinstance(line, Begin):
            self._stage(line.trace_id, Staged(line.stamp, Action(line.skill, line.arguments)))
        elif isinstance(line, End):
            self._over(line.trace_id)
        elif isinstance(line, Opened):
            self._next = max(self._next, line.number + 1)
            self._keep(
                Entry(line.number, line.stamp, line.amendments, line.trace_id, line.undoes, replayed=True)
            )
            if line.trace_id:
                self._over(line.trace_id)
        elif isinstance(line, Done):
            made = replace(self.entries[line.number], status=Status.DONE, inverse=line.inverse)
            self._keep(made)
            self._undone(made)
        elif isinstance(line, Refused):
            self._keep(replace(self.entries[line.number], status=Status.REFUSED, reason=line.reason))
        elif isinstance(line, Bend):
            count = len(line.places)
            if not count or line.places.shape != (count, 2) or line.moves.shape != (count, 4, 4):
                raise ValueError("the correction of the map is none")
            self._moved(line.correction)
        else:
            if line.jump.shape != (4, 4):
                raise ValueError("the correction of the map is none")
            self._moved(MapCorrection(line.jump))

    def _stage(self, trace_id: str, staged: Staged) -> None:
        self.staged[trace_id] = staged
        while len(self.staged) > MAX_ACTIONS:
            self.staged.popitem(last=False)

    def _over(self, trace_id: str) -> None:
        self.staged.pop(trace_id, None)
        self.ended[trace_id] = None
        while len(self.ended) > MAX_ACTIONS:
            self.ended.popitem(last=False)

    def _keep(self, entry: Entry) -> None:
        self.entries[entry.number] = entry
        if len(self.entries) > MAX_ENTRIES:
            self._forget_oldest(entry.stamp)

    def _forget_oldest(self, now: float) -> None:
        """Drop the oldest entry; but keep those of its amendments whose closed ways are still closed.

        These ways thus stay closed after a restart.
        """
        standing = self._standing(now)
        for number, entry in list(self.entries.items()):
            if entry.status is Status.OPEN:
                continue
            kept = standing.get(number)
            if not kept:
                del self.entries[number]
                return
            if kept != entry.amendments:
                self.entries[number] = replace(
                    entry, amendments=kept, inverse=default_inverse(kept), words=()
                )

    def _standing(self, now: float) -> dict[int, tuple[Amendment, ...]]:
        """Return by entry number the amendments whose closed ways are still closed at `now`, seconds.

        Such a way has not expired, and no later entry has opened it. An entry that opens a way names the way
        in its inverse, which closes it again.
        """
        found: dict[int, tuple[Amendment, ...]] = {}
        opened: set[ClosedWay | None] = set()
        for entry in reversed(self.entries.values()):
            if entry.inverse:
                closed = [(a, a.way) for a in entry.amendments if a.change is Change.CLOSE_WAY]
                found[entry.number] = tuple(
                    a for a, way in closed if way is not None and way not in opened and way.expires > now
                )
            opened |= {a.way for a in entry.inverse if a.change is Change.CLOSE_WAY}
        return found

    def _undone(self, entry: Entry) -> None:
        former = self.entries.get(entry.undoes)
        if former is not None:
            self._keep(replace(former, status=Status.UNDONE))


def _subject(change: Change) -> Change:
    """Return the kind of change that represents all kinds which set the same property as this one."""
    return Change.ARCHIVE if change in OF_STATE else change


def default_inverse(amendments: Iterable[Amendment]) -> tuple[Amendment, ...]:
    """Return the amendments that undo these, if the state before them is unknown."""
    back = {
        Change.ARCHIVE: Change.RESTORE,
        Change.DOUBT: Change.RESTORE,
        Change.RESTORE: Change.ARCHIVE,
        Change.RELABEL: Change.RELABEL,
        Change.RELATE: Change.RELATE,
        Change.CLOSE_WAY: Change.OPEN_WAY,
        Change.OPEN_WAY: Change.CLOSE_WAY,
    }
    inverse: list[Amendment] = []
    for amendment in amendments:
        belief = amendment.belief
        opposite = None if belief is None else replace(belief, negated=not belief.negated)
        inverse.insert(0, replace(amendment, change=back[amendment.change], label="", belief=opposite))
    return tuple(inverse)


def _entry_line(entry: Entry) -> Opened:
    return Opened(entry.number, entry.stamp, entry.trace_id, entry.undoes, entry.amendments)
