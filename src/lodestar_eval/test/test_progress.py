"""Progress on a terminal and in a file."""

from __future__ import annotations

import io

from lodestar_eval.demo.progress import ProgressLine


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_file_gets_a_line_every_five_seconds():
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, clock)
    for tenth in range(120):
        clock.now = tenth / 10
        line.show(f"t {clock.now:.1f}")
    assert stream.getvalue().splitlines() == ["t 0.0", "t 5.0", "t 10.0"]


def test_a_terminal_gets_one_line_that_changes():
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, clock, in_place=True)
    line.show("first")
    clock.now = 1.0
    line.show("x" * 1000)
    assert "\n" not in stream.getvalue() and stream.getvalue().count("\r") == 2
    assert len(stream.getvalue()) < 1000, "a line longer than the terminal would scroll"
    line.note("done")
    assert stream.getvalue().endswith("\r\x1b[2Kdone\n")
