"""Tests of adverse conditions: lost connection, two tabs, a large scene, a full disk, a session ended elsewhere."""

import contextlib
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from page_client import PageClient, StateReader
from scripted_robot.console import ScriptedConsole
from waiting import PATIENCE
from websockets.exceptions import ConnectionClosed

from lodestar_console.access import sessions
from lodestar_console.access.lease import LEFT_LASTS
from lodestar_console.web import sockets
from lodestar_console.web.console import ConsoleConfig


@pytest.fixture
def own(tmp_path):
    """Yield a console whose steady clock can be advanced."""
    script = ScriptedConsole(ConsoleConfig(port=0, folder=str(tmp_path / "own")))
    script.ahead = 0.0
    script.console.door.steady = lambda: time.monotonic() + script.ahead
    yield script
    script.close()


def until(holds, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def lease_of(script):
    held = script.console.door.lease.current(script.console.door.steady())
    return held.name if held else ""


def test_a_link_that_is_lost_for_half_a_minute_loses_the_lease_and_nothing_else(own):
    page = PageClient(own.console.link())
    with page.open("state") as socket:
        state = StateReader(socket)
        assert state.request("lease", action="take")["ok"] and lease_of(own)
        assert state.request("correct", text="it is gone", entity=2)["ok"]
        assert state.request("directive", text="find the red chair")["ok"]
    until(lambda: not own.console.hub._people)
    own.ahead += 30.0
    assert LEFT_LASTS < 30.0 and lease_of(own) == ""
    with page.open("state") as socket:
        state = StateReader(socket)
        state.until(lambda s: s.items.get("beliefs") and "directive" in s.parts and s.items.get("entities"))
        assert state.hello["lease"] is None and state.parts["directive"]["text"] == "find the red chair"
        assert state.items["entities"][2]["state"] == "archived"
        assert state.request("directive", text="find the sofa")["ok"], "they command again"


def test_two_tabs_of_one_session_are_one_operator_with_one_lease(own):
    page = PageClient(own.console.link())
    with page.open("state") as second:
        other = StateReader(second)
        with page.open("state") as first:
            state = StateReader(first)
            assert state.request("directive", text="find the red chair")["ok"]
            other.until(lambda s: s.parts.get("directive", {}).get("running"))
            assert other.request("cancel")["ok"], "either tab commands"
            other.until(lambda s: len(s.parts["operators"]["people"]) == 1)
        time.sleep(0.2)
        own.ahead += LEFT_LASTS + 1.0
        assert lease_of(own), "one tab is still there"
    until(lambda: not own.console.hub._people)
    own.ahead += LEFT_LASTS + 1.0
    assert lease_of(own) == ""


def test_a_world_of_thirty_thousand_things_comes_whole_and_stop_is_heard_meanwhile(tmp_path):
    script = ScriptedConsole(ConsoleConfig(port=0, folder=str(tmp_path / "own")), 4000, 30_000)
    try:
        page = PageClient(script.console.link())
        with page.open("state") as socket, page.open("stop") as stop:
            stop.send('{"stop": true}')
            assert json.loads(stop.recv(timeout=PATIENCE))["stop"] == "sent"
            state = StateReader(socket)
            state.until(lambda s: len(s.items.get("entities", ())) == 30_000)
            assert state.request("memory_search", text="chair")["ok"]
    finally:
        script.close()


@pytest.mark.parametrize("size", [20 << 20, (8 << 20) + 1])
def test_a_picture_of_20_mb_is_refused_with_a_sentence_and_the_page_goes_on(own, size):
    page = PageClient(own.console.link())
    with page.open("state") as socket:
        answer = page.get(
            "/pictures", "POST", {"origin": page.origin, "content-length": str(size)}, b"\xff\xd8\xff"
        )
        assert answer.status == 413 and "larger than 8 MiB" in answer.text
        assert StateReader(socket).request("directive", text="find the chair", dry_run=True)["ok"]
    assert page.get("/journal").status == 200


@pytest.mark.parametrize("name", ["state", "view"])
def test_a_page_that_only_listens_is_told_nothing_after_its_session_has_ended(own, monkeypatch, name):
    monkeypatch.setattr(sockets, "SESSION_PERIOD", 0.1)
    page = PageClient(own.console.link())
    with page.open(name) as socket:
        assert page.get("/leave", "POST", {"origin": page.origin}).status == 200
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == sockets.NO_SESSION


def test_a_full_disk_keeps_nobody_from_stop_and_says_why_a_link_is_not_taken(own, monkeypatch):
    page = PageClient(own.console.link())

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sessions, "write_file", full)
    now = time.time()
    own.console.door.wall = lambda: now + sessions._NOTE_PERIOD + 1.0  # late enough to store the time of use
    with page.open("stop") as stop:
        stop.send('{"stop": true}')
        assert json.loads(stop.recv(timeout=PATIENCE))["stop"] == "sent"
    own.console.door.wall = time.time
    assert PageClient(own.console.link()).get("/journal").status == 200, "a session does not need the disk"
    monkeypatch.setattr("lodestar_console.access.keys.write_file", full)
    answer = page.get("/enter?key=" + own.console.link().partition("key=")[2])
    assert answer.status == 503 and "disk" in answer.text and "set-cookie" not in answer.headers


def test_long_texts_push_nothing_out_of_the_journal(own):
    page = PageClient(own.console.link("look"))
    with page.open("state") as socket:
        state = StateReader(socket)
        assert not state.request("memory_forget", memories=["9" * 200] * 100, text="x" * 10_000)["ok"]
    until(lambda: "memory_forget" in own.console.journal.tail(10))
    assert len(own.console.journal.tail(10)) < 6000


def test_an_agent_whose_token_was_removed_commands_no_longer(own):
    door, hub = own.console.door, own.console.hub
    token = door.agents.add("helper", ["look", "drive"], 0.0)
    hub.offer("helper", True)
    door.lease.take(door.agents.find(token).id, "helper", door.steady(), agent=True)
    assert lease_of(own) == "helper"
    door.agents.remove("helper")
    until(lambda: lease_of(own) == "")


def test_nobody_says_of_themselves_from_where_they_come(own):
    page = PageClient(own.console.link())
    for number in range(60):
        last = page.get("/enter?key=wrong", headers={"x-forwarded-for": f"10.0.0.{number}"})
    assert last.status == 429


def test_a_console_that_is_killed_comes_back_for_its_open_pages(tmp_path):
    """A console restores port, sessions and used links, although pages still hold connections to the port."""
    folder = tmp_path / "own"

    def begin(port):
        process = subprocess.Popen(
            [sys.executable, "-m", "scripted_robot", "--port", str(port), "--folder", str(folder)],
            stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent,
        )  # fmt: skip
        return process, process.stdout.readline().strip()

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    first, link = begin(port)
    page = PageClient(link)
    with page.open("state") as state, page.open("stop"), contextlib.suppress(ConnectionClosed):
        state.recv(timeout=PATIENCE)
        first.kill()
        first.wait()
        while True:
            state.recv(timeout=PATIENCE)
    second, again = begin(port)
    try:
        assert again.startswith(link.partition("/enter")[0])
        assert page.get("/journal").status == 200, "the session goes on"
        assert page.get("/enter?key=" + link.partition("key=")[2]).status == 401, "and the link is used up"
    finally:
        second.kill()
        second.wait()
