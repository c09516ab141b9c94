"""Holds and pauses, which forbid motion, and their releases: numbered records in a file.

A record stands from its request until its release. The file is synced before a request is answered.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from dataclasses import asdict, dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Any

from lodestar.storage.files import write_file
from lodestar.storage.private import FILE_MODE, UnsafeFolder, private_folder

OWN = "motion_gate"  # name under which the authority places holds of its own
JOYSTICK = "the joystick"  # places a hold while its dead man's switch is pressed
SEVERAL = "several others"  # owner of the records that were merged
RESERVED_NAMES = (OWN, JOYSTICK, SEVERAL)  # no request may use them
NAME_RESERVED, NOT_KEPT = 11603, 11604  # error codes of PlaceHold; the robot is held all the same
RESERVED = 1000  # numbers per write; a crash skips those that were reserved, so that none is given twice
BRIEF = 120  # longest text of a record
MOST = 16  # records that stand; the oldest are merged beyond that
HOW = (
    "a person who sees the robot releases it: python -m lodestar_ros.hold off, Resume on the page, or the service "
    "motion_gate/release_hold with its number"
)


class Kind(IntEnum):
    """Kind of a record, as in Hold.msg. A hold ends the directive, a pause keeps it."""

    HOLD = 1
    PAUSE = 2
    RELEASE = 3


@dataclass(frozen=True)
class Record:
    """A hold, a pause or a release. number: 0 = not numbered yet. since: seconds of the wall clock."""

    number: int
    kind: Kind
    who: str
    why: str = ""
    since: float = 0.0

    def __str__(self) -> str:
        at = time.strftime("%H:%M:%S", time.localtime(self.since))
        verb = "held" if self.kind is Kind.HOLD else "paused"
        return f"{verb} by {self.who} since {at}{f': {self.why}' if self.why else ''} (number {self.number})"

    @property
    def advice(self) -> str:
        """Return as text who holds the robot since when and why, and how to release it."""
        return f"held: {self.why}" if self in UNTOLD.records else f"{self}; {HOW}"

    @property
    def owner(self) -> tuple[Kind, str]:
        """Return (kind, who); at most one standing record has the same pair."""
        return self.kind, self.who


@dataclass(frozen=True)
class Standing:
    """The standing (not released) records, at most one per `Record.owner`; holds first, then newest first.

    number: of the newest record, releases included. last_hold: number of the newest hold, even if released.
    """

    number: int = 0
    last_hold: int = 0
    records: tuple[Record, ...] = ()
    release: Record | None = None  # the newest release

    @property
    def is_told(self) -> bool:
        """Return whether the gate has published these records; False for `UNTOLD`."""
        return self.number >= 0

    @property
    def hold(self) -> Record | None:
        """Return the newest standing hold, or None."""
        return next((one for one in self.records if one.kind is Kind.HOLD), None)

    @property
    def pause(self) -> Record | None:
        """Return the newest standing pause, or None."""
        return next((one for one in self.records if one.kind is Kind.PAUSE), None)

    def with_record(self, record: Record) -> Standing:
        """Return a copy with this hold or pause added, in place of an earlier one of the same owner."""
        records = _sorted([record, *(one for one in self.records if one.owner != record.owner)])
        last = record.number if record.kind is Kind.HOLD else self.last_hold
        return replace(self, number=record.number, last_hold=last, records=records)

    def without(self, record: Record, release: Record) -> Standing:
        """Return a copy without this record, after its release."""
        left = tuple(one for one in self.records if one != record)
        return replace(self, number=release.number, release=release, records=left)


def _sorted(records: list[Record]) -> tuple[Record, ...]:
    """Return records in the order of `Standing`; beyond `MOST` records, the oldest are merged into one.

    The merged record gets the number before the newest one's, so that no client releases it by the number of
    its own record.
    """
    oldest = sorted(records, key=lambda one: (one.who != SEVERAL, one.number))
    while len(oldest) > MOST:
        first, second, *rest = oldest
        kind = min(first.kind, second.kind)  # a hold is the stronger one
        why = first.why if first.who == SEVERAL else f"{first.who}, {second.who}"[:BRIEF]
        oldest = [Record(oldest[-1].number - 1, kind, SEVERAL, why, first.since), *rest]
    return tuple(sorted(oldest, key=lambda one: (one.kind, -one.number)))


#: Records that count as standing until the motion gate publishes its own: a hold.
UNTOLD = Standing(-1, -1, (Record(0, Kind.HOLD, OWN, "motion_gate is not running: start it"),))


class ReleaseRefused(Exception):
    """Raised for a release whose number no standing record has. later: one with a higher number stands."""

    def __init__(self, text: str, later: bool) -> None:
        super().__init__(text)
        self.later = later


class MotionAuthority:
    """Numbers holds, pauses and releases, and keeps them on disk.

    A hold forbids motion at once and is on disk before `place` returns; a release is on disk before it
    permits motion. After a crash, and with a damaged or unwritable file, a hold stands. file: in a private
    folder; None = another process uses it. now: seconds of the wall clock. crashed: the last process did not
    end properly. ran: a process with this file has run before, so that a missing file counts as damaged.
    """

    def __init__(self, file: Path | None, now: float, crashed: bool = False, ran: bool = False) -> None:
        self.fault = ""  # why the newest record is not on disk
        self._file, self._reserved = file, 0
        self.standing = Standing()
        why = "it came back after a crash" if crashed else ""
        try:
            if file is not None:
                self.standing = _parsed(json.loads(file.read_text()), crashed)
        except FileNotFoundError:
            why = why or ("its record is missing" if ran else "")
            self.standing = Standing(number=int(1e6 * now) if why else 0)
        except Exception as error:  # of any file the gate begins, and holds
            why = f"its record cannot be read ({error.__class__.__name__}: {error})"
            self.standing = Standing(number=int(1e6 * now))  # above every number that was ever given
        self._write(self.standing)
        if self.standing.hold is None and (why or self.fault):
            self.place(Kind.HOLD, OWN, why or self.fault, now)

    def place(self, kind: Kind, who: str, why: str, now: float) -> Record:
        """Forbid motion at once and return the new record. It is on disk, unless `fault` says why not.

        The file is not written again if a record of the same owner stands, because numbers are reserved
        ahead.
        """
        before = self.standing
        number = before.number + 1 + (len(before.records) == MOST)  # the one between is of merged records
        record = Record(number, kind, who[:BRIEF] or "somebody", why[:BRIEF], now)
        self.standing = before.with_record(record)
        if _owners(before) != _owners(self.standing) or record.number > self._reserved or self.fault:
            self._write(self.standing)
        return record

    def hold_once(self, why: str, now: float) -> bool:
        """Place a hold owned by the gate, unless one stands for this reason; return whether it was placed."""
        if any((one.who, one.why) == (OWN, why) for one in self.standing.records):
            return False
        self.place(Kind.HOLD, OWN, why, now)
        return True

    def release(self, number: int, who: str, now: float) -> Record:
        """Release the standing record with this number and return it. Raises ReleaseRefused."""
        before = self.standing
        for record in before.records:
            if record.number == number:
                release = Record(before.number + 1, Kind.RELEASE, who[:BRIEF] or "somebody", str(record), now)
                after = before.without(record, release)
                self._write(after)
                self.standing = after
                return record
        later = [record for record in before.records if record.number > number]
        if later:
            raise ReleaseRefused(f"number {number} was followed by another: {later[0]}", True)
        raise ReleaseRefused(f"nothing stands under number {number}", False)

    def close(self) -> None:
        """Write the file without reserved numbers, because the process ends properly."""
        self._write(self.standing, 0)

    def _write(self, standing: Standing, reserve: int = RESERVED) -> None:
        reserved = standing.number + reserve
        text = json.dumps({**asdict(standing), "number": reserved})
        if self._file is None:
            self.fault = "another motion_gate has its record"
            return
        try:
            private_folder(self._file.parent)
            write_file(self._file, [text.encode()])
        except (OSError, UnsafeFolder) as error:
            self.fault = f"its record cannot be written ({error.__class__.__name__}: {error})"
        else:
            self.fault, self._reserved = "", reserved


class RunMark:
    """A locked file that contains a mark while its process runs; a mark left behind shows a crash.

    crashed: the last process did not end properly, or the file cannot be written, so that the next crash
    would not be noticed. twin: another process has locked the file; it is left unchanged, and `crashed` is
    set, because that process may hang. existed: a process has used this file before.
    """

    def __init__(self, file: Path) -> None:
        self.crashed, self.twin, self._handle = True, False, -1
        self.existed = True
        try:
            private_folder(file.parent)
            self.existed = file.exists()
            self._handle = os.open(file, os.O_RDWR | os.O_CREAT, FILE_MODE)
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.crashed = os.fstat(self._handle).st_size > 0
            os.write(self._handle, b"running")
            os.fsync(self._handle)
        except BlockingIOError:
            self.twin = True
        except (OSError, UnsafeFolder):
            self.crashed = True

    def close(self, proper: bool = True) -> None:
        """Unlock the file, and remove the mark if `proper`, unless an error is ending the process."""
        if self._handle >= 0:
            if proper and not self.twin and sys.exc_info()[0] is None:
                os.ftruncate(self._handle, 0)
                os.fsync(self._handle)
            os.close(self._handle)
            self._handle = -1


def _parsed(found: dict[str, Any], crashed: bool) -> Standing:
    """Return the records of a parsed file; after a crash with new numbers, unknown to earlier requests."""
    number, last = _number(found["number"]), _number(found["last_hold"])
    release = None if found["release"] is None else _record(found["release"], {Kind.RELEASE})
    records = [_record(one, {Kind.HOLD, Kind.PAUSE}) for one in found["records"]]
    if len({one.owner for one in records}) < len(records) or any(one.number > number for one in records):
        raise ValueError("its records contradict each other")
    if crashed:
        ascending = sorted(records, key=lambda one: one.number)
        records = [replace(one, number=number + place) for place, one in enumerate(ascending, 1)]
        number += len(records)
    standing = Standing(number, last, _sorted(records), release)
    return replace(standing, last_hold=standing.hold.number) if crashed and standing.hold else standing


def _number(found: object) -> int:
    if type(found) is not int or not 0 <= found < 2**63:
        raise ValueError(f"{found!r:.40} is no number of a record")
    return found


def _record(found: dict[str, Any], kinds: set[Kind]) -> Record:
    """Return one record of a parsed file. Raises an error for a value that does not fit into a message."""
    kind, since = Kind(found["kind"]), float(found["since"])
    texts = found["who"], found["why"]
    if kind not in kinds or not all(isinstance(one, str) and len(one.encode()) < 2000 for one in texts):
        raise ValueError(f"a record is of the kind {kind}, or its texts are none")
    if not 0.0 <= since < 2**31:  # seconds of a stamp; also false for NaN
        raise ValueError(f"{since} is no time of a record")
    return Record(_number(found["number"]), kind, *texts, since)


def _owners(standing: Standing) -> set[tuple[Kind, str]]:
    return {one.owner for one in standing.records}
