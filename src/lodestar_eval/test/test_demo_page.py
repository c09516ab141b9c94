"""Tests of the demo's page: its link works before the console serves, and leads to the console afterwards."""

import http.client
import os
import socket
import threading
import time

import psutil
import pytest
from scripted_robot.console import ScriptedConsole
from waiting import PATIENCE, wait_for

from lodestar_console.access.keys import ADDRESS
from lodestar_console.web.console import ConsoleConfig
from lodestar_eval.demo import __main__ as demo
from lodestar_eval.demo.page import DemoPage, demo_page
from lodestar_eval.demo.progress import ProgressLine


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def page():
    page = DemoPage()
    yield page
    page.close()


def get(link):
    host, _, path = link.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=PATIENCE)
    connection.request("GET", "/" + path)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read().decode()


def test_the_link_waits_and_then_leads_in(page):
    page.wait_for("<the nodes>", ["mapping", "<sim>"])
    status, headers, body = get(page.link)
    assert status == 503 and headers["Refresh"] == "1" and "&lt;the nodes&gt;" in body
    assert "<li>mapping</li><li>&lt;sim&gt;</li>" in body
    script = ScriptedConsole(ConsoleConfig(**page.parameters))
    try:
        end = time.monotonic() + PATIENCE
        while page._thread.is_alive() and time.monotonic() < end:
            time.sleep(0.05)
        assert not page._thread.is_alive() and script.console.address == page.address
        status, headers, _ = get(page.link)  # the waiting page has not used up the one-time link
        assert status == 303 and "lodestar_session" in headers["set-cookie"]
    finally:
        script.close()


def test_what_a_page_of_the_console_asks_for_is_not_lost_while_both_listen(page, monkeypatch):
    """A connection accepted by the waiting page is redirected to the console for every requested path."""
    monkeypatch.setattr("lodestar_eval.demo.page._HEAD", PATIENCE)
    answers = []
    asked = [threading.Thread(target=lambda p=path: answers.append(get(f"http://127.0.0.1:{page.port}{p}")))
             for path in ("/static/console.js", "/static/console.css", "/ws/state")]  # fmt: skip
    for one in asked:
        one.start()
    mine = psutil.Process()
    connected = lambda: [c for c in mine.net_connections("tcp") if c.raddr and c.raddr.port == page.port]  # noqa: E731
    wait_for(lambda: len(connected()) >= 3, "the connections")
    time.sleep(0.3)
    assert not answers
    (page._folder / ADDRESS).write_text(page.address)  # the file that the console writes once it serves
    for one in asked:
        one.join(PATIENCE)
    assert [status for status, *_ in answers] == [307] * 3
    assert {headers["Location"] for _, headers, _ in answers} == {
        "/static/console.js", "/static/console.css", "/ws/state"}  # fmt: skip
    page._thread.join(PATIENCE)
    assert not page._thread.is_alive()


@pytest.mark.parametrize("path", ["//evil.example/", "///evil.example", "//127.0.0.1:1/static/console.js"])
def test_nobody_is_sent_to_another_host(page, path):
    (page._folder / ADDRESS).write_text(
        page.address
    )  # hand-over: the console serves while this page still listens
    page._console_serves = lambda: True
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        page._answer(ours)
        told = theirs.recv(4096)
    assert b"Location" not in told and told.startswith(b"HTTP/1.1 503")


def test_the_next_port_is_taken_where_one_is_in_use():
    first = DemoPage()
    second = DemoPage()  # a second page of this user, which could share the port by mistake
    try:
        assert second.port > first.port and get(second.link)[0] == 503
    finally:
        first.close()
        second.close()


def test_a_browser_that_sends_nothing_keeps_nobody_waiting_for_long(page):
    with socket.create_connection(("127.0.0.1", page.port)):
        assert get(page.link)[0] == 503


def test_a_folder_that_cannot_be_used_is_told_and_the_demo_goes_on(tmp_path):
    (tmp_path / "state" / "lodestar").mkdir(parents=True)
    os.symlink(tmp_path, tmp_path / "state" / "lodestar" / "console")
    page, problem = demo_page()
    assert page is None and "symbolic link" in problem


@pytest.mark.parametrize(("choice", "terminal", "opens"), [("auto", True, True), ("auto", False, False),
                                                           ("off", True, False), ("on", False, True)])  # fmt: skip
def test_a_link_is_printed_on_a_terminal_alone_unless_it_is_asked_for(
    monkeypatch, capsys, choice, terminal, opens
):
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    page = demo._open_page(choice, ProgressLine())
    first = capsys.readouterr().out.splitlines()[:1]
    assert (page is not None) == opens
    if page is not None:
        page.close()
        assert first[0].startswith(page.link)
    else:
        assert not first
