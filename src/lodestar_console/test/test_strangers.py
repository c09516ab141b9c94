"""Tests that floods of unauthenticated connections do not block STOP, open pages or one-time links."""

import contextlib
import datetime
import http.client
import json
import socket
import ssl
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_client import PageClient, ask
from scripted_robot.console import ScriptedConsole
from waiting import PATIENCE, Moment

from lodestar_console.access import visitors
from lodestar_console.access.visitors import MOST_KNOWN, MOST_OF_ONE, MOST_STRANGERS, STRANGER_LASTS, Visitors
from lodestar_console.web.console import ConsoleConfig

MANY = 400
ALIVE = "GET /alive HTTP/1.1\r\nHost: {host}\r\n\r\n"
SOCKET = (
    "GET /ws/stop HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
STRANGERS = {
    "silent": "",
    "half a head": "GET / HTTP/1.1\r\nHost: ",
    "pipelined": ALIVE * 30,
    "pipelined and half": ALIVE * 3 + "GET /alive",
    "sockets": SOCKET,
    "half a body": "POST /pictures HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100000\r\n\r\nab",
    "a page that is not read": "GET /static/console.js HTTP/1.1\r\nHost: {host}\r\n\r\n" * 20,
    "a forged link": "GET /enter?key=Y29tbWFuZA." + "A" * 43 + " HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a forged cookie": "GET /journal HTTP/1.1\r\nHost: {host}\r\nCookie: lodestar_session=x\r\n\r\n",
    "garbage": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 3,
}


class Crowd:
    """Flood of `many` connections, each reopened when closed, until the block ends."""

    def __init__(self, port, words, many=MANY):
        self.port, self.words, self.many = port, words, many
        self.came, self.ended = 0, threading.Event()
        self.full = threading.Event()
        self.thread = threading.Thread(target=self._crowd, daemon=True)
        self.open = []

    def __enter__(self):
        self.thread.start()
        assert self.full.wait(PATIENCE)
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join(10.0)
        for one in self.open:
            one.close()

    def _crowd(self):
        while not self.ended.is_set():
            while len(self.open) < self.many:
                with contextlib.suppress(OSError):
                    one = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
                    self.open.append(one)
                    self.came += 1
                    one.sendall(self.words.encode("latin-1"))
            self.full.set()
            for one in list(self.open):
                if _is_ended(one):
                    one.close()
                    self.open.remove(one)
            time.sleep(0.02)


def _is_ended(one):
    one.setblocking(False)
    try:
        return one.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.timed
@pytest.mark.parametrize("kind", STRANGERS)
def test_a_crowd_of_strangers_keeps_nobody_out(script, kind):
    host = script.console.address.removeprefix("http://")
    page = PageClient(script.console.link())
    with page.open("stop") as before, Crowd(script.console.port, STRANGERS[kind].format(host=host)) as crowd:
        began = Moment.now()
        for _ in range(3):
            assert page.get("/journal").status == 200
            with page.open("stop") as fresh, page.open("state") as state:
                assert json.loads(state.recv(timeout=PATIENCE))["type"] == "hello"
                for stop in (before, fresh):
                    stop.send('{"stop": true}')
                    while json.loads(stop.recv(timeout=PATIENCE))["stop"] != "sent":
                        pass
            assert PageClient(script.console.link("look")).get("/journal").status == 200
        assert began.passed() < 10.0
        assert crowd.came >= MANY
        assert len(script.console.door.visitors.strangers) <= MOST_STRANGERS


@pytest.mark.timed
def test_strangers_go_by_themselves_whatever_they_send(script):
    host = script.console.address.removeprefix("http://")
    with socket.create_connection(("127.0.0.1", script.console.port)) as one:
        one.settimeout(PATIENCE)
        began = Moment.now()
        with contextlib.suppress(OSError):
            while began.passed() < STRANGER_LASTS + 3.0:
                one.sendall(ALIVE.format(host=host).encode())
                if not one.recv(4096):
                    break
                time.sleep(0.1)
        assert began.passed() < STRANGER_LASTS + 2.0


@pytest.mark.timed
def test_who_has_a_session_stays_longer_than_a_stranger(script, monkeypatch):
    monkeypatch.setattr(visitors, "STRANGER_LASTS", 0.3)
    page = PageClient(script.console.link())
    connection = http.client.HTTPConnection(page.host)
    for _ in range(4):
        connection.request("GET", "/journal", headers={"cookie": page.cookie})
        assert connection.getresponse().read() is not None
        kept = connection.sock
        time.sleep(0.6)
    assert kept is not None and connection.sock is kept, "the connection was kept"
    connection.close()


@pytest.mark.timed
def test_one_session_does_not_take_the_places_of_others(script):
    greedy, other = PageClient(script.console.link()), PageClient(script.console.link())
    host = greedy.host
    words = f"GET /journal HTTP/1.1\r\nHost: {host}\r\nCookie: {greedy.cookie}\r\n\r\n"
    with Crowd(script.console.port, words, MOST_OF_ONE * 3):
        assert other.get("/journal").status == 200
        known = script.console.door.visitors.known
        assert max(len(one) for one in known.values()) <= MOST_OF_ONE
        with greedy.open("stop") as stop:
            stop.send('{"stop": true}')
            assert json.loads(stop.recv(timeout=PATIENCE))["stop"] == "sent"


# --- TLS -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    folder = tmp_path_factory.mktemp("secure")
    script = ScriptedConsole(
        ConsoleConfig(port=0, folder=str(folder / "own"), certificate=str(_certificate(folder / "own.pem")))
    )
    yield script
    script.close()


def _certificate(path):
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now - datetime.timedelta(days=1))
    builder = builder.not_valid_after(now + datetime.timedelta(days=1))
    form = serialization.PrivateFormat.PKCS8
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
        + builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    )
    return path


def _get_by_tls(console, path):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", console.port, timeout=PATIENCE, context=context)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.getheader("set-cookie", ""), answer.read()
    finally:
        connection.close()


def test_tls_serves(secure):
    link = secure.console.link()
    assert link.startswith("https://")
    status, cookie, _ = _get_by_tls(secure.console, "/enter?" + link.partition("?")[2])
    assert status == 303 and "secure" in cookie.lower()


@pytest.mark.timed
@pytest.mark.parametrize("words", ["", "\x16\x03\x01\x02\x00\x01\x00", "GET / HTTP/1.1\r\n\r\n"])
def test_handshakes_that_never_finish_keep_nobody_out(secure, words):
    with Crowd(secure.console.port, words):
        began = Moment.now()
        for _ in range(3):
            link = secure.console.link()
            assert _get_by_tls(secure.console, "/enter?" + link.partition("?")[2])[0] == 303
        assert began.passed() < 5.0
        assert len(secure.console.door.visitors.strangers) <= MOST_STRANGERS


@pytest.mark.timed
def test_a_handshake_that_never_finishes_is_ended(secure):
    with socket.create_connection(("127.0.0.1", secure.console.port)) as one:
        one.settimeout(PATIENCE)
        with contextlib.suppress(ConnectionResetError):
            assert one.recv(10) == b""
    end = time.monotonic() + PATIENCE
    while secure.console.door.visitors.strangers and time.monotonic() < end:
        time.sleep(0.05)
    assert not secure.console.door.visitors.strangers


# --- Visitors ------------------------------------------------------------------------------------------


class Wire:
    def __init__(self):
        self.is_open = True

    def abort(self):
        self.is_open = False


STEP = st.tuples(st.sampled_from(["come", "know", "go", "wait"]), st.integers(0, 7), st.integers(1, 150))


@settings(max_examples=60, deadline=None)
@given(st.lists(STEP, max_size=40))
def test_whatever_strangers_do_the_known_are_ended_by_their_own_alone(steps):
    """Counts stay bounded, known connections are closed only beyond their limits, and open ones stay registered."""
    book, wires, now, few = Visitors(), [], 0.0, {}
    for what, who, many in steps:
        if what == "come":
            for _ in range(many):
                wires.append(Wire())
                book.come(wires[-1], now)
        elif what == "know" and book.strangers:
            for wire in list(book.strangers)[-many:]:
                book.know(wire, f"s{who}")
        elif what == "go" and wires:
            for wire in wires[-many:]:
                book.go(wire)
                wire.is_open = False
        else:
            now += many / 10
            book.sweep(now)
            assert all(now - came <= STRANGER_LASTS for came in book.strangers.values())
        assert len(book.strangers) <= MOST_STRANGERS
        counts = {name: len(mine) for name, mine in book.known.items()}
        assert all(0 < count <= MOST_OF_ONE for count in counts.values())
        assert sum(counts.values()) <= MOST_KNOWN
        held = {wire for wire in wires if book.is_here(wire)}
        assert held == {wire for wire in wires if wire.is_open}
        if what in ("come", "wait"):
            assert counts == few, "strangers and time end nobody who is known"
        few = counts
    assert all(set(book.strangers).isdisjoint(mine) for mine in book.known.values())


def test_the_page_for_strangers_is_told_while_they_crowd(script):
    host = script.console.address.removeprefix("http://")
    with Crowd(script.console.port, ""):
        assert ask(host, "/").status == 401
