"""Tests that expired links, sessions and leases are refused, while authorised clients keep access."""

from __future__ import annotations

import json
import os
import string
import threading
import time

import pytest
from page_client import PageClient, StateReader, ask
from waiting import PATIENCE
from websockets.exceptions import ConnectionClosed

from lodestar_console.access.keys import LinkDesk, LinkRefused, new_key
from lodestar_console.access.lease import LeaseBook
from lodestar_console.web.sockets import MOST_SOCKETS

SECRET, NOW = b"s" * 32, 1000.0


def test_no_other_spelling_of_a_used_key_works(tmp_path):
    key, links = new_key(SECRET, "command", NOW), LinkDesk(tmp_path, SECRET)
    assert links.redeem(key, NOW) == "command"
    dot = key.index(".")
    for letter in string.ascii_letters + string.digits + "-_":
        with pytest.raises(LinkRefused):
            links.redeem(key[: dot - 1] + letter + key[dot:], NOW)


def test_a_key_that_was_used_at_one_console_is_used_at_all_of_the_folder(tmp_path):
    first, second = (LinkDesk(tmp_path, SECRET) for _ in range(2))
    for one, other in ((first, second), (second, first)):
        key = new_key(SECRET, "look", NOW)
        assert one.redeem(key, NOW) == "look"
        with pytest.raises(LinkRefused, match="used already"):
            other.redeem(key, NOW)


def test_a_page_that_was_left_elsewhere_commands_no_longer(script):
    page = PageClient(script.console.link())
    with page.open("state") as socket:
        state = StateReader(socket)
        assert state.request("memory_search", text="chair")["ok"]
        assert page.get("/leave", "POST", {"origin": page.origin}).status == 200
        with pytest.raises(ConnectionClosed):
            state.request("directive", text="find the chair")


def test_who_guesses_keys_keeps_nobody_else_out(script):
    host = script.console.address.removeprefix("http://")
    for number in range(40):
        last = ask(host, f"/enter?key=wrong-key-{number}.{'A' * 43}").status
    assert last == 429
    assert PageClient(script.console.link()).get("/journal").status == 200


def test_many_tabs_leave_room_for_stop(script):
    page = PageClient(script.console.link())
    tabs = [page.open("view") for _ in range(MOST_SOCKETS)]
    try:
        with page.open("stop") as stop:
            stop.send('{"stop": true}')
            assert '"sent"' in stop.recv(timeout=PATIENCE)
    finally:
        for tab in tabs:
            tab.close()


def test_the_web_servers_thread_never_waits_for_a_disk(script, monkeypatch):
    waited = []
    for name in ("fsync", "fdatasync", "sync"):
        real = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *given, real=real: (waited.append(threading.current_thread().name), real(*given))
        )
    page = PageClient(script.console.link())
    script.console.door.wall = lambda wall=script.console.door.wall: wall() + 400.0  # time of use is stored
    try:
        assert page.get("/", headers={"sec-fetch-mode": "navigate"}).status == 200
        assert page.get("/leave", "POST", {"origin": page.origin}).status == 200
    finally:
        script.console.door.wall = time.time
    assert waited, "the key is noted before it counts"
    assert "console-web" not in waited


def test_an_open_page_ends_with_its_session_and_what_a_person_does_renews_it(script):
    """Automatic messages (pings, wants, checks of the server) do not renew a session; actions of a person do."""
    page, clock = PageClient(script.console.link()), [time.time()]
    script.console.door.wall = lambda: clock[0]
    try:
        with page.open("state") as state, page.open("view") as view, page.open("stop") as stop:
            reader = StateReader(state)
            for _ in range(11):
                clock[0] += 3600.0
                stop.send('{"stop": false}')
                view.send('{"want": {"camera": true}}')
                assert page.get("/").status == 200
                reader.number += 1
                state.send(json.dumps({"type": "ping", "id": reader.number}))
                reader.until(lambda r: r.number in r.replies)
            assert reader.request("at", time=1.0)["ok"]
            clock[0] += 3600.0 * 10
            assert page.get("/journal").status == 200, "the request has renewed it"
            clock[0] += 3600.0 * 3
            for one in (state, view):
                with pytest.raises(ConnectionClosed):
                    while True:
                        one.recv(timeout=PATIENCE)
                assert one.close_code == 4401
    finally:
        script.console.door.wall = time.time


def test_a_number_beyond_all_numbers_is_an_image_that_is_gone(script):
    page = PageClient(script.console.link())
    assert page.get(f"/keyframes/{'9' * 5000}.jpg").status == 404


def test_an_agent_whose_offer_is_withdrawn_commands_no_longer():
    ended = []
    leases = LeaseBook(ended.append)
    leases.offer(frozenset({"helper", "other"}))
    held = leases.take("a1", "helper", NOW, agent=True)
    leases.offer(frozenset({"helper"}))
    assert leases.current(NOW) == held and not ended
    leases.offer(frozenset())
    assert leases.current(NOW) is None and ended == [held]
    assert not leases.renew("a1", NOW)
    operator = leases.take("b2", "operator 1", NOW)
    leases.offer(frozenset())
    assert leases.current(NOW) == operator, "an operator needs no offer"
