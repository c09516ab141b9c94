"""Tests of the lines on the screen: sentences and progress, and the story of invented searches."""

from __future__ import annotations

import io
import re
import shutil
from os import terminal_size

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar_eval.demo.narrator import Narrator, Progress
from lodestar_eval.demo.progress import ProgressLine


class Clock:
    now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def line_of(columns: int | None, monkeypatch: pytest.MonkeyPatch) -> tuple[ProgressLine, io.StringIO]:
    """Return a line on a terminal of so many columns, or in a pipe, and what is written to it."""
    stream = io.StringIO()
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: terminal_size((columns or 80, 24)))
    return ProgressLine(stream, Clock(), in_place=columns is not None), stream


def test_progress_is_rewritten_in_place_on_a_terminal_alone(monkeypatch):
    line, stream = line_of(None, monkeypatch)
    line.show("first")
    assert stream.getvalue() == ""
    line, stream = line_of(40, monkeypatch)
    line.show("first")
    line.show("x" * 1000)
    assert "\n" not in stream.getvalue() and stream.getvalue().count("\r") == 2
    assert len(stream.getvalue()) < 100, "a line longer than the terminal would scroll"
    line.note("done")
    assert stream.getvalue().endswith("\r\x1b[2Kdone\n")


def test_a_sentence_is_wrapped_and_a_link_is_not(monkeypatch):
    line, stream = line_of(40, monkeypatch)
    link = "http://127.0.0.1:8080/enter?key=" + "k" * 90
    line.note("The page of this robot is at the following address: " + link)
    rows = stream.getvalue().splitlines()
    assert link in [row.strip() for row in rows] and all(len(row) < 40 for row in rows if link not in row)


NAMES = (
    "brown stool",
    "sofa",
    "toilet",
    "red chair",
    "television on a very long and low wooden board",
    "plant\n",
)
TEXTS = st.one_of(
    st.builds("Exploring towards {:.1f} m2 of {}, {:.1f} m away.".format, st.floats(0, 40),
              st.sampled_from(["unknown area", "hidden corner", "area to look at from nearer"]), st.floats(0, 30)),
    st.builds("This may be it: going to a {} (entity {}): it is {:.1f} m away.".format, st.sampled_from(NAMES),
              st.integers(1, 400), st.floats(0, 30)),
    st.sampled_from(["", "I have seen what I was going to look at; choosing anew.", "Stepped aside; choosing anew."]),
    st.text(max_size=300),
)  # fmt: skip
EVENTS = st.lists(
    st.tuples(
        st.floats(0.01, 30.0),
        st.sampled_from(["EXPLORING", "APPROACHING", "VERIFYING", "DECIDING", "DIAGNOSING", "WAITING", "CROSSING"]),
        TEXTS,
        st.sampled_from(["", "kitchen", "bathroom", "office with a name that is longer than most"]),
        st.lists(st.sampled_from(NAMES), max_size=3),
    ),
    max_size=150,
)  # fmt: skip


@given(EVENTS, st.sampled_from([None, 40, 80, 200]))
def test_a_search_is_told_in_few_lines_each_of_which_is_new_by_one_clock(events, columns):
    with pytest.MonkeyPatch.context() as monkeypatch:
        line, stream = line_of(columns, monkeypatch)
        narrator, elapsed, things = Narrator(line, "find the brown stool"), 0.0, []
        for step, phase, text, room, seen in events:
            elapsed += step
            things += seen
            progress = Progress(phase, "frontier", 1.0, 2.0, 3.0, text, 0, (1.0, 2.0))
            narrator.take(elapsed, progress, room, things)
    told = [part.split("\r\x1b[2K")[-1] for part in stream.getvalue().split("\n")[:-1]]
    assert len(told) <= (8 if columns == 40 else 16)
    width = columns or 101
    stamps = []
    for row in told:
        assert len(row) < width
        stamps.append(float(re.match(r" *([\d.]+) s  \S", row)[1]))
    assert stamps == sorted(stamps) and all(stamp <= elapsed + 0.05 for stamp in stamps)
    words = [re.sub(r"[\d.]+", "", row).strip() for row in told]
    assert len(set(words)) == len(words)


def test_a_long_search_still_tells_what_it_found_at_its_end(monkeypatch):
    line, stream = line_of(None, monkeypatch)
    narrator = Narrator(line, "find the brown stool")
    for second in range(2000):
        text = f"Exploring towards {second} m2 of unknown area, 3.0 m away."
        narrator.take(
            float(second),
            Progress("EXPLORING", text=text),
            f"room {'abcdefghij'[second % 10]}{second}",
            [f"thing {second}"],
        )
    narrator.take(
        2000.0,
        Progress("APPROACHING", text="This may be it: going to a brown stool (entity 7)."),
        "bathroom",
        [],
    )
    assert stream.getvalue().splitlines()[-1] == "2000.0 s  This may be it: going to a brown stool"


def test_the_room_the_reason_and_the_wanted_things_are_told_first(monkeypatch):
    line, stream = line_of(None, monkeypatch)
    narrator = Narrator(line, "find the brown stool")
    progress = Progress("EXPLORING", text="Exploring towards 8 m2 of unknown area, 3.0 m away.")
    narrator.take(0.1, progress, "kitchen", ["sofa", "desk", "plant", "bed", "brown stool"])
    narrator.take(9.0, progress, "kitchen", ["sofa", "desk", "plant", "bed", "brown stool"])
    assert stream.getvalue().splitlines() == [
        "   0.1 s  Goes to the kitchen: 8 m² beyond are unknown",
        "   9.0 s  Sees a brown stool, a sofa, a desk and 2 more",
    ]
