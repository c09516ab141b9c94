"""Tests of the output of `send_directive`: results, and questions with their readings and the way to answer."""

from __future__ import annotations

import errno
import sys
from types import SimpleNamespace

import pytest

from lodestar_interfaces.action import FollowDirective
from lodestar_ros.send_directive import EXIT_CANCELLED, EXIT_FAILED, _Sender, _told, main


def test_a_question_is_printed_with_both_readings_and_how_to_answer(capsys):
    result = FollowDirective.Result()
    result.error_code, result.error_msg = FollowDirective.Result.AMBIGUOUS, "it is doubtful"
    result.question, result.question_id = "Which do you mean?", "q-3"
    result.choices = ["find the vase", "count all the vases"]
    assert _told(result) == EXIT_FAILED
    printed = capsys.readouterr().out
    assert "Which do you mean?" in printed
    for number, words in enumerate(result.choices, start=1):
        assert f"{words}: python -m lodestar_ros.send_directive --answer q-3 {number}" in printed


def test_a_closed_terminal_does_not_keep_the_directive_from_being_cancelled(monkeypatch):
    done = []

    def closed(text):
        done.append("print")
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(sys, "stderr", SimpleNamespace(write=closed, flush=lambda: None))
    run = SimpleNamespace(accepted=True, cancel=lambda: done.append("cancel"))
    assert _Sender._cancel(None, run) == EXIT_CANCELLED
    assert done == ["cancel", "print"]


@pytest.mark.parametrize("choice", ["two", "-1", "\u00b2", ""])
def test_a_choice_that_is_no_number_is_refused_in_one_sentence(capsys, choice):
    with pytest.raises(SystemExit) as refused:
        main(["--answer", "q-3", choice])
    assert refused.value.code == 2 and "the number of a choice" in capsys.readouterr().err
