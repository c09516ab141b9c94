"""Tree of frames that rejects transforms which would break it, and explains failed look-ups."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

_MAX_PAIRS = 100  # pairs that are counted separately; names come from other nodes


class Cause(Enum):
    """Reason for a missing transform; waiting helps only with FUTURE."""

    NO_FRAME = "no frame"
    NOT_CONNECTED = "not connected"
    FUTURE = "newer than what was received"
    PAST = "older than what is kept"


class TransformUnavailable(LookupError):
    """Raised if a transform is unknown at a stamp; the message names the missing frame."""

    def __init__(self, cause: Cause, message: str) -> None:
        super().__init__(message)
        self.cause = cause


class Admission(Enum):
    """Decision on a received transform: kept, kept in place of others, kept after a restart, or refused."""

    KEPT = "kept"
    REPLACED = "kept in place of others, which are no longer in the tree"
    RESTARTED = "kept; its stamp fell back, so everything that moves was forgotten"
    REFUSED = "refused"


@dataclass
class _Edge:
    """Parent of a frame. newest: largest stamp (s). heard: time of the last transform (s of the tree's clock)."""

    parent: str
    static: bool
    newest: float
    heard: float


@dataclass
class _Rival:
    """A rejected pair of frames: start of its uninterrupted reception, last reception, and count."""

    first: float
    last: float
    count: int = 1


class FrameTree:
    """The parent of every frame. Not safe for threads: the buffer that owns it holds the lock.

    A transform that would close a loop, or give a frame a second parent, is rejected while the contradicted one is
    valid. A moving frame's parent is valid for `takeover` seconds (of `clock`) after its last transform. A static one
    is valid until a moving rival has been received for that long, at least `insistence` times. So a transform that is
    published once by mistake changes nothing, and an early mistake yields to a transform that is published
    continuously. `loops` and `fights` count the rejected pairs by name, `lacking` the look-ups for which a transform
    was missing. `unheard` returns the publishers that cannot be received, for the message of such a look-up.

    A moving frame whose stamps fall back by more than `restart` seconds belongs to a restarted simulator or replay.
    """

    def __init__(
        self,
        restart: float = 2.0,
        takeover: float = 1.0,
        insistence: int = 5,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.loops: Counter[str] = Counter()
        self.fights: Counter[str] = Counter()
        self.lacking = 0
        self.unheard = ""
        self._restart, self._takeover, self._insistence, self._clock = restart, takeover, insistence, clock
        self._edges: dict[str, _Edge] = {}
        self._rivals: dict[tuple[str, str], _Rival] = {}

    def admit(self, parent: str, child: str, stamp: float, static: bool) -> Admission:
        """Attach the child to the parent, or reject the transform. stamp: seconds."""
        now, edge = self._clock(), self._edges.get(child)
        if edge is not None and edge.parent == parent and edge.static == static:
            edge.heard = now
            if not static and stamp < edge.newest - self._restart:
                self.forget_moving()
                self._edges[child] = _Edge(parent, static, stamp, now)
                return Admission.RESTARTED
            edge.newest = max(edge.newest, stamp)
            return Admission.KEPT
        chain = self.chain(parent)
        loop = chain[: chain.index(child)] if child in chain else []
        second = [child] if edge is not None and edge.parent != parent else []
        if loop or second:
            insists_since = self._insists_since(parent, child, static, now)
            open_at = [f for f in loop if self._gives_way(self._edges[f], insists_since, now)]
            # the driver was restarted with another robot description
            replaces = static and edge is not None and edge.static
            free = not second or replaces or self._gives_way(self._edges[child], insists_since, now)
            if (loop and not open_at) or not free:
                self._count(parent, child, bool(loop))
                return Admission.REFUSED
            if replaces:
                self._count(parent, child, False)
            for other in open_at[:1]:
                del self._edges[other]
        self._edges[child] = _Edge(parent, static, stamp, now)
        return Admission.KEPT if edge is None and not loop else Admission.REPLACED

    def _insists_since(self, parent: str, child: str, static: bool, now: float) -> float:
        """Return the time since which a rejected pair was received without a pause.

        Returns inf if that is too short, or the pair too rare or static, to replace another.
        """
        rival = self._rivals.get((parent, child))
        if rival is None or now - rival.last > self._takeover:
            if len(self._rivals) >= _MAX_PAIRS:
                self._rivals.clear()
            rival = self._rivals[parent, child] = _Rival(now, now, 0)
        rival.last, rival.count = now, rival.count + 1
        insists = not static and rival.count >= self._insistence and now - rival.first >= self._takeover
        return rival.first if insists else math.inf

    def _gives_way(self, edge: _Edge, insists_since: float, now: float) -> bool:
        """Return whether a frame's parent yields to a rejected pair received since `insists_since`."""
        if edge.static:
            return insists_since < math.inf and edge.heard <= insists_since
        return now - edge.heard > self._takeover

    def _count(self, parent: str, child: str, loop: bool) -> None:
        pair, counts = f"{parent} -> {child}", self.loops
        if not loop:
            pair, counts = f"{pair} and {self._edges[child].parent} -> {child}", self.fights
        counts[pair if pair in counts or len(counts) < _MAX_PAIRS else "others"] += 1

    def forget_moving(self) -> None:
        """Forget all moving frames; static ones stay."""
        self._edges = {child: edge for child, edge in self._edges.items() if edge.static}
        self._rivals.clear()

    def parent(self, child: str) -> str | None:
        """Return a frame's parent; None for a root."""
        edge = self._edges.get(child)
        return None if edge is None else edge.parent

    def chain(self, frame: str) -> list[str]:
        """Return the frame and its ancestors, up to the root."""
        chain = [frame]
        while (edge := self._edges.get(chain[-1])) is not None:
            chain.append(edge.parent)
        return chain

    def common(self, target: str, source: str) -> str:
        """Return the nearest common ancestor. Raises TransformUnavailable."""
        target_chain, source_chain = self.chain(target), self.chain(source)
        found = next((frame for frame in source_chain if frame in target_chain), None)
        if found is None:
            raise self._disconnected(target, source, target_chain[-1], source_chain[-1])
        return found

    def check_fresh(self, target: str, source: str, now: float, max_age: float) -> None:
        """Raise TransformUnavailable if a frame between the two is older than max_age seconds at `now`.

        A frame directly below the target (odom in map) is exempt if others follow: localisation corrects it
        at its own rate. A stamp that is ahead by more than max_age comes from another clock; then the time of reception
        counts.
        """
        edges = {child: self._edges[child] for child in self.chain(source) if child in self._edges}
        moving = {child: edge for child, edge in edges.items() if not edge.static}
        below = {child: edge for child, edge in moving.items() if edge.parent != target}
        ages = {
            child: now - edge.newest if edge.newest <= now + max_age else self._clock() - edge.heard
            for child, edge in (below or moving).items()
        }
        child, age = max(ages.items(), key=lambda item: item[1], default=("", 0.0))
        if age > max_age:
            raise TransformUnavailable(
                Cause.FUTURE,
                f"{edges[child].parent} -> {child} was last received {age:.1f} s ago: is its publisher still running?",
            )

    def problems(self) -> str:
        """Return the rejected pairs in words with their counts; "" if there are none."""
        said = [f"{pair} would close a loop ({count} times)" for pair, count in self.loops.most_common(3)]
        said += [
            f"{pair}: two parents of one frame ({count} times)" for pair, count in self.fights.most_common(3)
        ]
        return "; ".join(said)

    def _disconnected(
        self, target: str, source: str, target_root: str, source_root: str
    ) -> TransformUnavailable:
        self.lacking += 1
        known = {*self._edges, *(edge.parent for edge in self._edges.values())}
        problems = self.problems()
        also = (f"; refused: {problems}" if problems else "") + (f"; {self.unheard}" if self.unheard else "")
        if not known:
            return TransformUnavailable(
                Cause.NO_FRAME,
                f"no transform received yet: nothing publishes {target} -> {source} on /tf or /tf_static{also}",
            )
        for frame in (target, source):
            if frame not in known:
                return TransformUnavailable(
                    Cause.NO_FRAME,
                    f"nothing publishes frame '{frame}'; known: {', '.join(sorted(known))}{also}",
                )
        return TransformUnavailable(
            Cause.NOT_CONNECTED,
            f"{target} and {source} are in two trees, rooted at '{target_root}' and '{source_root}': "
            f"nothing publishes the transform between those two{also}",
        )
