"""Tests that unauthorised access and attempts to crash the console fail, and that the console keeps running."""

import json
import os
import socket
import stat

import pytest
from page_client import PageClient, StateReader, ask
from waiting import PATIENCE, Moment
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from lodestar.storage.private import UnsafeFolder
from lodestar_console import protocol
from lodestar_console.access.keys import LINK_LASTS, LinkDesk, LinkRefused, console_folder, new_key, secret_of
from lodestar_console.access.limits import Buckets, Rate
from lodestar_console.access.origins import is_loopback
from lodestar_console.access.permissions import needs_lease, refusal
from lodestar_console.access.places import ServeError
from lodestar_console.access.sessions import SESSION_LASTS, AgentBook, Session, SessionBook
from lodestar_console.access.visitors import STRANGER_LASTS
from lodestar_console.web.console import Console, ConsoleConfig

PATHS = (
    "/keyframes/1.jpg", "/keyframes/1.jpg?outline=1", "/logs/mapping", "/journal", "/",
)  # fmt: skip
TRAVERSALS = (
    "/static/../web/app.py", "/static/..%2fweb%2fapp.py", "/static/%2e%2e/%2e%2e/setup.py", "/static//etc/passwd",
    "/static/..%5c..%5csetup.py", "/static/console.js%00.css", "/static/.", "/logs/..%2f..%2fetc%2fpasswd",
    "/logs/../../etc/passwd", "/keyframes/../journal", "/keyframes/-1.jpg", "/keyframes/1e9.jpg", "/static/index.html",
)  # fmt: skip
FOREIGN_HOSTS = (
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "localhost:1",
    "169.254.169.254:{port}",
    "",
)
FOREIGN_ORIGINS = ("http://evil.example", "null", "https://127.0.0.1:{port}", "http://localhost:1", "file://")


@pytest.fixture(scope="module")
def page(script):
    return PageClient(script.console.link())


@pytest.fixture(autouse=True)
def goes_on(script):
    """Check after each test that the console still serves requests."""
    yield
    assert script.console.is_alive
    host = script.console.address.removeprefix("http://")
    assert ask(host, "/alive").status == 200


@pytest.fixture
def host(script):
    return script.console.address.removeprefix("http://")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("cookie", ["", "lodestar_session=x", "lodestar_session_{port}=" + "a" * 43])
def test_nothing_is_told_without_a_session(host, path, cookie):
    headers = {"cookie": cookie.format(port=host.split(":")[1])} if cookie else {}
    answer = ask(host, path, headers=headers)
    assert answer.status in (401, 404) and "chair" not in answer.text


@pytest.mark.parametrize("name", ["state", "view", "stop"])
@pytest.mark.parametrize("origin", (*FOREIGN_ORIGINS, None))
def test_no_socket_for_another_page_even_with_the_cookie(page, host, name, origin):
    wrong = origin.format(port=host.split(":")[1]) if origin else None
    with pytest.raises((InvalidStatus, ConnectionClosed)), page.open(name, origin=wrong) as socket:
        socket.recv(timeout=PATIENCE)


@pytest.mark.parametrize("name", ["state", "view", "stop"])
def test_no_socket_without_a_session(host, name):
    with (
        pytest.raises((InvalidStatus, ConnectionClosed)),
        connect(f"ws://{host}/ws/{name}", origin=f"http://{host}") as socket,
    ):
        socket.recv(timeout=PATIENCE)


@pytest.mark.parametrize("name", FOREIGN_HOSTS)
def test_a_rebound_name_reaches_nothing(page, host, name):
    headers = {"host": name.format(port=host.split(":")[1])}
    answer = page.get("/journal", headers=headers)
    assert answer.status == 421 and "lease" not in answer.text
    with pytest.raises((InvalidStatus, ConnectionClosed)), page.open("state", headers=headers) as socket:
        socket.recv(timeout=PATIENCE)


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_no_upload_and_no_reading_for_another_page(page, host, origin):
    wrong = {"origin": origin.format(port=host.split(":")[1])}
    assert page.get("/pictures", "POST", wrong, b"\xff\xd8\xff").status == 403
    assert page.get("/leave", "POST", wrong).status == 403
    assert page.get("/journal", headers=wrong).status == 403
    assert page.get("/journal", headers={"sec-fetch-site": "cross-site"}).status == 403


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_out(page, path):
    answer = page.get(path)
    assert answer.status in (400, 401, 404), answer.text
    assert "root:" not in answer.text and "import" not in answer.text


def test_a_link_works_once(script, host):
    link = script.console.link()
    path = "/" + link.split("/", 3)[3]
    assert ask(host, path).status == 303
    again = ask(host, path)
    assert again.status == 401 and "used already" in again.text and "set-cookie" not in again.headers


@pytest.mark.parametrize(
    "key", ["", "a.b", "x" * 5000, "Y29tbWFuZA." + "A" * 43, "%00", "<script>alert(1)</script>"]
)
def test_a_forged_link_is_refused_and_not_echoed(host, key):
    from urllib.parse import quote

    answer = ask(host, f"/enter?key={quote(key)}")
    assert (
        answer.status in (400, 401, 429)
        and "<script>alert" not in answer.text
        and "set-cookie" not in answer.headers
    )


def test_a_session_that_was_left_is_worth_nothing_when_it_is_replayed(script):
    page = PageClient(script.console.link())
    assert page.get("/journal").status == 200
    assert page.get("/leave", "POST", {"origin": page.origin}).status == 200
    assert page.get("/journal").status == 401
    with pytest.raises((InvalidStatus, ConnectionClosed)), page.open("state") as socket:
        socket.recv(timeout=PATIENCE)


def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites(page):
    header = page.cookie_header.lower()
    assert "httponly" in header and "samesite=strict" in header and "path=/" in header


@pytest.mark.parametrize("path", ["/", "/alive", "/enter?key=x", "/journal", "/nothing"])
def test_every_answer_has_the_headers_that_browsers_obey(page, path):
    answer = page.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert (
        answer.headers["x-content-type-options"] == "nosniff" and answer.headers["x-frame-options"] == "DENY"
    )
    assert answer.headers["cache-control"] == "no-store"


def test_a_frame_that_is_too_large_closes_the_socket_alone(page):
    with page.open("state") as socket:
        with pytest.raises(ConnectionClosed) as closed:
            socket.send("x" * (protocol.MAX_MESSAGE + 1))
            while True:
                socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == 1009


def test_half_a_request_is_not_waited_for(host):
    address, port = host.split(":")
    began = Moment.now()
    slow = [socket.create_connection((address, int(port))) for _ in range(30)]
    for one in slow:
        one.sendall(b"GET / HTTP/1.1\r\nHost: ")
    assert ask(host, "/alive").status == 200  # other clients are served meanwhile
    for one in slow:
        one.settimeout(PATIENCE)
        try:
            while one.recv(100):
                pass
        except ConnectionResetError:
            pass
    assert began.passed() < STRANGER_LASTS + 4
    for one in slow:
        one.close()


def test_a_slow_second_request_is_not_waited_for_either(host):
    address, port = host.split(":")
    began = Moment.now()
    with socket.create_connection((address, int(port))) as one:
        one.sendall(f"GET /alive HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        one.settimeout(PATIENCE)
        assert b"200" in one.recv(4096)
        one.sendall(b"GET /alive HTTP/1.1\r\nHo")
        rest = b"x"
        try:
            while rest:
                rest = one.recv(100)
        except ConnectionResetError:
            pass
    assert began.passed() < STRANGER_LASTS + 4


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "${7*7}", "\u202etxt"]
)
def test_a_script_in_a_text_stays_a_text(page, text):
    with page.open("state") as socket:
        state = StateReader(socket)
        state.request("name_room", room=1, name=text)
        state.until(lambda s: any(room["name"] == text for room in s.parts["rooms"]))
        reply = state.request("directive", text=f"find the {text}", dry_run=True)
        assert not reply["ok"]
    answer = page.get("/journal")
    assert answer.headers["content-type"].startswith("text/plain")


def test_requests_in_a_flood_are_refused_and_stop_still_works(script, page):
    with page.open("state") as socket, page.open("stop") as stop:
        state = StateReader(socket)
        for number in range(1000, 1200):
            socket.send(json.dumps({"type": "memory_search", "id": number, "text": "chair"}))
        stop.send('{"stop": true}')
        assert json.loads(stop.recv(timeout=PATIENCE))["stop"] == "sent"
        state.until(lambda s: 1199 in s.replies)
        codes = {reply["code"] for reply in state.replies.values()}
        assert codes <= {"", "rate", "busy"} and "rate" in codes


def test_malformed_messages_end_with_the_socket(page):
    with page.open("state") as socket, pytest.raises(ConnectionClosed):
        for _ in range(40):
            socket.send('{"type": "velocity", "id": 1, "x": 3}')
        while True:
            socket.recv(timeout=PATIENCE)


# --- unit tests ----------------------------------------------------------------------------------------


def test_the_secret_and_what_is_stored_can_be_read_by_the_owner_alone(tmp_path):
    folder = console_folder(str(tmp_path / "own"))
    secret_of(folder)
    book = SessionBook(folder, 1)
    cookie, _ = book.begin("command", 0.0)
    AgentBook(folder).add("helper", ["look"], 0.0)
    LinkDesk(folder, secret_of(folder)).redeem(new_key(secret_of(folder), "look", 5.0), 6.0)
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        assert cookie not in path.read_text()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_secret_that_others_can_read_is_not_used(tmp_path):
    folder = console_folder(str(tmp_path / "own"))
    secret_of(folder)
    os.chmod(folder / "token", 0o644)
    with pytest.raises(UnsafeFolder, match="chmod 600"):
        secret_of(folder)


def test_a_link_ends_after_a_minute_is_of_one_secret_and_is_used_once_also_over_a_restart(tmp_path):
    folder = console_folder(str(tmp_path / "own"))
    secret = secret_of(folder)
    desk = LinkDesk(folder, secret)
    with pytest.raises(LinkRefused, match="older than a minute"):
        desk.redeem(new_key(secret, "look", 0.0), LINK_LASTS + 1.0)
    with pytest.raises(LinkRefused, match="older than a minute"):  # created with a clock hours ahead
        desk.redeem(new_key(secret, "look", 7200.0), 0.0)
    with pytest.raises(LinkRefused, match="not one of this console"):
        desk.redeem(new_key(b"another secret of the same length", "look", 0.0), 1.0)
    key = new_key(secret, "stop", 0.0)
    assert desk.redeem(key, 1.0) == "stop"
    with pytest.raises(LinkRefused, match="used already"):
        LinkDesk(folder, secret).redeem(key, 2.0)


def test_a_session_outlives_a_restart_and_ends_without_use(tmp_path):
    folder = console_folder(str(tmp_path / "own"))
    cookie, session = SessionBook(folder, 1).begin("command", 100.0)
    book = SessionBook(folder, 1)
    assert book.find(cookie, 200.0) == session
    assert SessionBook(folder, 2).find(cookie, 200.0) is None
    for hour in range(12):
        assert book.find(cookie, 100.0 + 3600.0 * hour) == session, "who only looks does not renew it"
    book.renew(cookie, 50_000.0 - SESSION_LASTS / 2.0)
    assert SessionBook(folder, 1).find(cookie, 50_000.0) is not None, (
        "what a person does renews it, on the disk too"
    )
    assert book.find(cookie, 50_000.0 + SESSION_LASTS) is None
    assert book.find(cookie, 200.0) is None
    book.renew(cookie, 200.0)
    assert book.find(cookie, 200.0) is None, "an ended one comes not back"


def test_an_agent_that_was_removed_is_nobody(tmp_path):
    folder = console_folder(str(tmp_path / "own"))
    book, other = AgentBook(folder), AgentBook(folder)
    token = book.add("helper", ["look", "drive"], 0.0)
    assert other.find(token).name == "helper" and other.find(token + "x") is None
    newer = book.add("helper", ["look"], 0.0)
    assert other.find(token) is None and other.find(newer).scopes == ("look",)
    assert book.remove("helper") and other.find(newer) is None
    with pytest.raises(ValueError, match="scopes"):
        book.add("helper", ["root"], 0.0)


def test_whoever_asks_too_often_waits_and_memory_is_bounded():
    buckets = Buckets(Rate(1.0, 2.0), most=10)
    assert [buckets.allow("a", 0.0) for _ in range(3)] == [True, True, False]
    assert buckets.allow("a", 1.0)
    for number in range(100):
        buckets.allow(str(number), 1.0)
    assert len(buckets._left) == 10


def test_every_request_of_a_page_needs_what_it_should():
    from typing import get_args

    looker = Session(id="1", name="x", role="look", since=0, used=0)
    driver = Session(id="2", name="y", role="command", since=0, used=0)
    for kind in get_args(protocol.PageMessage):
        fields = {"text": "", "name": "entities", "question": "", "choice": 1, "action": "take", "agent": "a",
                  "room": 1, "x": 0.0, "y": 0.0, "start": (0.0, 0.0), "end": (1.0, 1.0), "entry": 1, "memory": "1",
                  "kind": "entity", "of": "1", "time": 0.0, "outline": [], "id": 1}  # fmt: skip
        request = kind(**{name: fields[name] for name in kind.__struct_fields__ if name in fields})
        assert not refusal(request, driver)
        harmless = kind in (protocol.Ping, protocol.Resync, protocol.AskMemory, protocol.SearchMemory, protocol.Details,
                            protocol.At)  # fmt: skip
        assert bool(refusal(request, looker)) != harmless
        assert needs_lease(request) == (
            kind
            in (
                protocol.SendDirective,
                protocol.AnswerRobot,
                protocol.PointOut,
                protocol.LayZone,
                protocol.CloseWay,
                protocol.Undo,
                protocol.Correct,
                protocol.NameRoom,
                protocol.Resume,
                protocol.PinMemory,
                protocol.CorrectMemory,
                protocol.ForgetMemory,
            )
        )


@pytest.mark.parametrize(
    ("address", "is_own"),
    [
        *((own, True) for own in ("127.0.0.1", "localhost", "::1", "127.9.9.9")),
        *((other, False) for other in ("0.0.0.0", "::", "10.0.0.5", "evil")),
    ],
)
def test_beyond_loopback_only_with_a_certificate(tmp_path, script, address, is_own):
    assert is_loopback(address) == is_own
    if not is_own:
        with pytest.raises(ServeError, match="certificate"):
            Console(
                script.board, script.stack, ConsoleConfig(host=address, port=0, folder=str(tmp_path / "own"))
            )


def test_a_certificate_that_cannot_be_read_is_told(tmp_path, script):
    config = ConsoleConfig(port=0, folder=str(tmp_path / "own"), certificate=str(tmp_path / "none.pem"))
    with pytest.raises(ServeError, match="certificate cannot be used"):
        Console(script.board, script.stack, config)


def test_the_next_port_is_taken_where_one_is_in_use(tmp_path, script):
    config = ConsoleConfig(port=script.console.port, folder=str(tmp_path / "own"))
    second = Console(script.board, script.stack, config)
    try:
        assert second.port > script.console.port
    finally:
        second.close()
