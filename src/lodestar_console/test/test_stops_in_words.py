"""Tests of texts that say to stop: as directives and questions, refused, and beside many other requests."""

import asyncio
import json
import threading
import time

import pytest
from page_client import PageClient, StateReader
from waiting import PATIENCE

from lodestar_console import protocol
from lodestar_console.intake.directives import meaning_of
from lodestar_console.web.sockets import MOST_OPEN
from lodestar_ros.directive_goals import stop_report

GOES_ON = 'The robot goes on with "find the red chair". Shall it stop? Then say "stop".'


@pytest.fixture
def operator(script):
    """Reader of a page whose directive runs, and which has the lease."""
    script.stack.begin_anew(pace=0.01)  # it does not arrive within a test
    page = PageClient(script.console.link())
    with page.open("state") as socket:
        state = StateReader(socket)
        assert state.request("directive", text="find the red chair")["ok"]
        state.until(lambda s: s.parts["directive"]["running"])
        yield state


@pytest.mark.parametrize("role", ["look", "command"])
@pytest.mark.parametrize(
    "text", ["stop?", "what are you doing stop", "why won't you stop", "is that a kid? stop"]
)
def test_a_question_that_says_stop_stops(script, operator, role, text):
    with PageClient(script.console.link(role)).open("state") as socket:
        told = StateReader(socket).request("ask", text=text)
    assert told["ok"] and told["text"] == "Stopped." and told["value"] is None
    assert not script.board.get("directive").running


def test_what_follows_a_stop_in_a_question_is_asked(script, operator):
    told = operator.request("ask", text="stop, where is the printer?")
    assert told["text"].startswith("Stopped. ") and told["value"]["text"].startswith("Stopped. ")
    assert told["value"]["places"] and not script.board.get("directive").running


@pytest.mark.parametrize("text", ["where is the printer?", "why did you stop?", "is there a bus stop?"])
def test_other_questions_stop_nothing(script, operator, text):
    assert operator.request("ask", text=text)["value"]["text"]
    assert script.board.get("directive").running


@pytest.mark.parametrize(("role", "text"), [("look", "find the sofa"), ("command", "find the sofa")])
def test_a_refused_directive_says_what_goes_on(script, operator, role, text):
    with PageClient(script.console.link(role)).open("state") as socket:
        other = StateReader(socket)
        refused = other.request("directive", text=text)
        too_long = other.request("directive", text="x" * 2001, dry_run=True)
    assert not refused["ok"] and refused["text"].endswith(f" {GOES_ON}")
    assert not too_long["ok"] and too_long["text"].endswith(f" {GOES_ON}")


def test_a_refused_directive_says_nothing_of_it_when_nothing_runs(script):
    with PageClient(script.console.link("look")).open("state") as socket:
        refused = StateReader(socket).request("directive", text="find the sofa")
    assert not refused["ok"] and "goes on" not in refused["text"]


def test_a_stop_passes_however_many_requests_are_awaited_or_made(script, operator, monkeypatch):
    """Neither the limit of concurrent requests nor the rate of other requests refuses a stop."""
    go_on = threading.Event()
    monkeypatch.setattr(script.stack, "perform", _slow(script.stack.perform, go_on))
    for number in range(MOST_OPEN):
        operator.socket.send(json.dumps({"type": "ask", "id": 1000 + number, "text": "where is the sofa?"}))
    refused = operator.request("directive", text="find the sofa")
    assert refused["code"] == "busy" and refused["text"].endswith(GOES_ON)
    for number in range(60):
        operator.socket.send(json.dumps({"type": "ping", "id": 2000 + number}))
    began = time.monotonic()
    assert operator.request("ask", text="stop?")["text"] == "Stopped."
    assert time.monotonic() - began < PATIENCE and not script.board.get("directive").running
    go_on.set()


def _slow(perform, go_on):
    """Return `perform` with questions that are answered after `go_on`."""

    async def slow(request, who, picture=None):
        while isinstance(request, protocol.AskMemory) and not go_on.is_set():
            await asyncio.sleep(0.02)
        return await perform(request, who, picture)

    return slow


@pytest.mark.parametrize("rest", ["", "find the desk", 'go to the "blue" room.', "go; then wait"])
def test_what_follows_a_stop_is_a_field_of_its_meaning(rest):
    meaning = meaning_of(stop_report(rest))
    assert (meaning.stops, meaning.rest, meaning.steps) == (True, rest, [])
    assert not meaning_of("Find the desk; go back.").stops
