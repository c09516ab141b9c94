"""Tests of the output of requests to forget, export and import memories."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lodestar_interfaces.srv import ManageMemory
from lodestar_ros import ask
from lodestar_ros.ask import EXIT_NO, _Desk

FORGET = ManageMemory.Request(what=ManageMemory.Request.FORGET, text="the safe")


def told(capsys, *answers):
    """Return exit status and output of a request to forget, for given answers of the memory."""
    desk, left = _Desk.__new__(_Desk), list(answers)
    desk._client = SimpleNamespace(wait_for_service=lambda seconds: True)
    desk._call = lambda request, repeat=False: SimpleNamespace() if repeat else left.pop(0)
    status = desk.run(FORGET, confirmed=True)
    captured = capsys.readouterr()
    return status, captured.out + captured.err


@pytest.mark.parametrize(("count", "words"), [(1, "1 memory is"), (3, "3 memories are")])
def test_what_is_forgotten_but_not_erased_everywhere_is_told_as_that(capsys, count, words):
    Response = ManageMemory.Response
    why = "forgotten, but not erased everywhere yet; that is tried again: the keyframes node does not answer"
    failed = Response(error_code=Response.NOT_ERASED, error_msg=why, count=count)
    status, text = told(capsys, Response(count=count, texts=["x"] * count), failed)
    assert status == EXIT_NO and f"{words} in no answer any more" in text and why in text
    assert "Forgot" not in text


def test_what_is_erased_is_told_as_done(capsys):
    Response = ManageMemory.Response
    status, text = told(capsys, Response(count=2, texts=["x", "y"]), Response(count=2))
    assert status == 0 and "Forgot 2 memories" in text and "error" not in text


class Waited:
    """Fake memory that answers a file request at time `answers` and dies at time `ends`, by a fake clock."""

    def __init__(self, monkeypatch, answers, ends):
        self.now, self.ends, self.answers = 0.0, ends, answers
        self.future = SimpleNamespace(
            done=lambda: self.answers <= self.now < self.ends, result=lambda: "done"
        )
        monkeypatch.setattr(ask, "wait", self.wait)
        monkeypatch.setattr(ask.time, "monotonic", lambda: self.now)
        self.desk = _Desk.__new__(_Desk)
        self.desk._node = None
        self.desk._client = SimpleNamespace(
            service_is_ready=lambda: self.now < self.ends, call_async=lambda request: self.future
        )

    def wait(self, node, future, seconds):
        self.now += seconds


@pytest.mark.parametrize("what", [ManageMemory.Request.EXPORT, ManageMemory.Request.IMPORT])
def test_a_memory_that_dies_while_it_reads_or_writes_a_file_is_not_waited_for(monkeypatch, what):
    waited = Waited(monkeypatch, answers=9e9, ends=600.0)
    assert waited.desk._call(ManageMemory.Request(what=what)) is None
    assert 600.0 < waited.now < 610.0


def test_a_long_export_is_waited_for(monkeypatch):
    waited = Waited(monkeypatch, answers=1800.0, ends=9e9)
    assert waited.desk._call(ManageMemory.Request(what=ManageMemory.Request.EXPORT)) == "done"


def test_a_harmless_request_is_repeated_until_the_memory_answers_and_the_change_sent_once(monkeypatch):
    waited, sent = Waited(monkeypatch, answers=2.0, ends=9e9), []
    waited.desk._client.wait_for_service = lambda seconds: True
    lost = SimpleNamespace(done=lambda: False)
    waited.future.result = lambda: ManageMemory.Response(count=1)

    def call(request):
        sent.append(request)
        return waited.future if len(sent) > 2 else lost

    waited.desk._client.call_async = call
    assert waited.desk.run(ManageMemory.Request(what=ManageMemory.Request.PIN, ids=[1]), False) == 0
    *asked, change = sent
    assert change.what == ManageMemory.Request.PIN and len(asked) > 2 and waited.now < 5.0
    assert {one.what for one in asked} == {ManageMemory.Request.LIST}
    assert all(one.from_stamp.sec > one.to_stamp.sec > 0 for one in asked)
