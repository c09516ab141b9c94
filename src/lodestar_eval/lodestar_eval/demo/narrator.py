"""Narration of a search on the screen: few lines, each with something new and its simulated time."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from lodestar.models.english import listed, the, with_article
from lodestar.scene.captions import clean_text
from lodestar_eval.demo.progress import ProgressLine, shortened

_MOST = 16  # lines of a search; three of eight are kept for what is not exploring
_NARROW = 72  # columns, below which the sentences around the story take twice the lines, and it gets half
_PAUSE, _GROWTH = 2.0, 0.35  # s between lines about exploring: at least, and as a share of the time so far
_NAMED = 3  # things named in one line
_WAY = re.compile(r",? [\d.]+ m away")
_TURN = re.compile(r"turning (left|right|around) to look there")
_ORDINARY = ("STARTING", "DECIDING", "VALIDATING", "EXPLORING")  # phases that are told with pauses
_ID = re.compile(r" \(entity \d+\)")
_EXPLORES = re.compile(r"(?:Exploring towards|Turning to look into) ([\d.]+) m2 of (.+)")
_NUMBER = re.compile(r"[\d.]+")


@dataclass(frozen=True)
class Progress:
    """The newest action feedback. coverage: known free area, m^2. step: index in the directive. goal: x, y or None."""

    phase: str = "STARTING"
    expert: str = ""
    distance_remaining: float = float("nan")
    distance_travelled: float = 0.0
    coverage: float = 0.0
    text: str = ""
    step: int = 0
    goal: tuple[float, float] | None = None


class Narrator:
    """Narrates a search on a `ProgressLine`. wanted: the directive; objects named in it are listed first."""

    def __init__(self, line: ProgressLine, wanted: str = "") -> None:
        self._line, self._wanted = line, set(wanted.casefold().split())
        self._left = _MOST if line.columns >= _NARROW else _MOST // 2
        self._kept = self._left * 3 // 8
        self._told: set[str] = set()
        self._known: set[str] = set()
        self._last = -float("inf")
        self._saw = True  # whether the last line about exploring was about things

    def take(self, elapsed: float, progress: Progress, room: str, things: Collection[str]) -> None:
        """Print the news, if there is any, and show the progress.

        elapsed: simulated seconds since the directive was sent. room: name of the room of the goal, "" =
        unknown. things: names of all things on the map.
        """
        text = _TURN.sub("looking around", _WAY.sub("", clean_text(progress.text))).rstrip(".")
        explores = _EXPLORES.fullmatch(text)
        if explores:
            text = _exploring(float(explores[1]), explores[2], room)
        said = shortened(f"{elapsed:6.1f} s  {_ID.sub('', text)}", self._line.columns)
        if text and progress.phase not in _ORDINARY:
            self._tell(said)
        elif self._left > self._kept and elapsed >= self._last + max(_PAUSE, _GROWTH * elapsed):
            self._saw = not self._saw and self._sights(elapsed, things)
            self._last = elapsed if self._saw or (text and self._tell(said)) else self._last
        where = f"to {the(room)}" if room else progress.phase.capitalize().replace("_", " ")
        ahead = progress.distance_remaining
        way = f", {ahead:.1f} m to go" if ahead == ahead else ""
        done = f"{progress.distance_travelled:.1f} m driven, {progress.coverage:.0f} m² known"
        self._line.show(f"{elapsed:6.1f} s  {where}{way}, {done}")

    def _sights(self, elapsed: float, things: Collection[str]) -> bool:
        """Print the objects new on the map since the last call; return whether a line was printed."""
        new = [name for name in dict.fromkeys(map(clean_text, things)) if name not in self._known]
        new.sort(key=lambda name: -len(self._wanted & set(name.casefold().split())))
        self._known.update(new)
        rest = [f"{len(new) - _NAMED} more"] if len(new) > _NAMED else []
        said = f"{elapsed:6.1f} s  Sees {listed([*map(with_article, new[:_NAMED]), *rest])}"
        return bool(new) and self._tell(shortened(said, self._line.columns))

    def _tell(self, said: str) -> bool:
        """Print a line, unless its words were printed before or all lines are used; return whether it was."""
        words = _NUMBER.sub("", said).strip()
        if words in self._told or not self._left:
            return False
        self._told.add(words)
        self._left -= 1
        self._line.note(said, indent=10)
        return True


def _exploring(area: float, what: str, room: str) -> str:
    """Return the sentence that describes a goal of the explorer. what: kind of the area."""
    goes = f"Goes to {the(room)}" if room else "Explores"
    return f"{goes}: {area:.0f} m² {_AREAS.get(what, what)}"


_AREAS = {
    "unknown area": "beyond are unknown",
    "area to look at from nearer": "were seen from afar only",
    "hidden corner": "are hidden in a corner",
}
