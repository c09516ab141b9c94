"""Tests of set-up on machines that lack something: it prints one sentence with the remedy before any download."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import setup_workspace  # noqa: E402
from workspace_setup import index, machine  # noqa: E402
from workspace_setup.checkout import Checkout, SetupError  # noqa: E402

PATIENCE = 250.0  # s, generous timeout for a busy machine; requests are counted instead of timed
SETTINGS = ("PIP_", "UV_", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY",
            "ALL_PROXY", "NO_PROXY", "ROS_DISTRO", "SSL_CERT_FILE", "VIRTUAL_ENV", "PYTHONPATH")  # fmt: skip


@contextmanager
def serving(answer: int, body: bytes = b"") -> Iterator[tuple[str, list[str]]]:
    """Run a local server that answers every request with `answer`; yield its address and the received request lines."""
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.requestline)
            self.send_response(answer)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_CONNECT = do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkout without installed packages, shared by the tests; none of them completes its environment."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "scripts", folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "requirements", folder / "requirements")
    (folder / "requirements" / "local.txt").unlink(missing_ok=True)
    (folder / "home").mkdir()
    return folder


def set_up(folder: Path, **variables: str) -> tuple[int, str]:
    """Run set-up in a checkout without packages; return exit status and output."""
    assert not (folder / ".venv" / "bin" / "uv").exists(), "nothing was installed before"
    home = folder / "home"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    environment |= {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "PIP_CONFIG_FILE": os.devnull,
        **variables,
    }
    done = subprocess.run(
        [sys.executable, str(folder / "scripts" / "setup_workspace.py"), "--no-build"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def the_sentence(said: str) -> str:
    """Return the error message of an output, checking that it is one line and the last."""
    last = said.splitlines()[-1]
    assert last.startswith("[setup] error: "), said
    assert "Traceback" not in said and said.count("error:") == 1, said
    return last


@pytest.mark.parametrize("status", [403, 407, 502])
def test_a_proxy_that_refuses_is_named_with_its_variable(folder: Path, status: int) -> None:
    with serving(status) as (address, requests):
        password = address.replace("http://", "http://me:secret@")
        returned, said = set_up(folder, HTTPS_PROXY=password)
    sentence = the_sentence(said)
    assert returned == 1 and "the proxy of HTTPS_PROXY" in sentence and address in sentence
    assert str(status) in sentence and "secret" not in said
    assert 1 <= len(requests) <= 3, "asked once, not for minutes"


def test_an_environment_that_works_is_kept_where_its_successor_cannot_be_fetched(folder: Path) -> None:
    with serving(403) as (address, _):
        if not (folder / ".venv").exists():
            set_up(folder, HTTPS_PROXY=address)
        of_another_python, kept = folder / ".venv" / "stamps" / "base", folder / ".venv" / "kept"
        before = of_another_python.read_text()
        of_another_python.write_text("another")
        kept.touch()
        returned, said = set_up(folder, HTTPS_PROXY=address)
        of_another_python.write_text(before)
    assert returned == 1 and "the proxy of HTTPS_PROXY" in the_sentence(said)
    assert kept.exists()


def test_an_index_that_refuses_is_not_taken_for_a_proxy(folder: Path) -> None:
    with serving(403) as (address, _):
        returned, said = set_up(folder, PIP_INDEX_URL=f"{address}/simple", PIP_TRUSTED_HOST="127.0.0.1")
    assert returned == 1 and "the package index answers 403" in the_sentence(said)


@pytest.mark.parametrize("variable", ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"])
def test_without_a_network_the_sentence_comes_at_once(folder: Path, variable: str) -> None:
    with socket.socket() as taken:  # bound but not listening: connections are refused
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/simple"
        returned, said = set_up(folder, **{variable: address})
    assert returned == 1 and "the package index is not reached: check the network" in the_sentence(said)


def test_a_mirror_of_pips_configuration_is_asked(folder: Path) -> None:
    """pip's index setting is used if uv has none; here the index answers but is empty."""
    with serving(200, b"<html></html>") as (address, requests):
        configuration = folder / "home" / "pip.conf"
        configuration.write_text(f"[global]\nindex-url = {address}/mirror/simple\ntrusted-host = 127.0.0.1\n")
        returned, said = set_up(folder, PIP_CONFIG_FILE=str(configuration))
    assert returned == 1 and "Could not find a version" in said
    assert requests and all("/mirror/simple/" in line for line in requests)


def test_pips_mirror_is_uvs_too_but_not_against_the_users_word() -> None:
    settings = {"index-url": "https://mirror.example/simple", "extra-index-url": "https://a.example\nhttps://b.example",
                "find-links": "/wheels", "cert": "/my.pem", "proxy": "http://p.example:3"}  # fmt: skip
    told = index.uv_environment(settings, {"PATH": "/bin"})
    assert told["UV_DEFAULT_INDEX"] == "https://mirror.example/simple"
    assert told["UV_INDEX"] == "https://a.example https://b.example"
    assert (told["UV_FIND_LINKS"], told["SSL_CERT_FILE"], told["PATH"]) == ("/wheels", "/my.pem", "/bin")
    own = index.uv_environment(settings, {"UV_INDEX_URL": "https://mine.example"})
    assert own["UV_INDEX_URL"] == "https://mine.example" and "UV_DEFAULT_INDEX" not in own
    assert (
        index.pip_environment({"UV_DEFAULT_INDEX": "https://u.example"})["PIP_INDEX_URL"]
        == "https://u.example"
    )
    mine = {"UV_DEFAULT_INDEX": "https://u.example", "PIP_INDEX_URL": "https://p.example"}
    assert index.pip_environment(mine)["PIP_INDEX_URL"] == "https://p.example"


def test_pips_configuration_is_read_with_the_environments_word_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pip.conf"
    path.write_text("[global]\nindex-url = https://one.example\ntimeout = 5\n[install]\nfind-links = /here\n")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(path))
    monkeypatch.setenv("PIP_INDEX_URL", "https://two.example")
    found = index.pip_settings([sys.executable, "-m", "pip"])
    assert (found["index-url"], found["find-links"]) == ("https://two.example", "/here")


@given(
    st.sampled_from(index.PROXIES),
    st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), min_size=1),
    st.sampled_from(["http://", "https://", "socks5://"]),
    st.sampled_from(["proxy.example:8080", "proxy.example", "[::1]:3128", "proxy.example:port"]),
)
def test_a_proxys_password_is_never_told(variable: str, password: str, scheme: str, host: str) -> None:
    told = index.proxy_in_use({variable: f"{scheme}someone:{password}@{host}/"})
    assert told == f"{variable} ({scheme}{host})"


def test_a_proxy_without_a_scheme_is_told_as_pip_takes_it() -> None:
    assert (
        index.proxy_in_use({"https_proxy": "proxy.example:3128"}) == "https_proxy (http://proxy.example:3128)"
    )


def test_a_user_without_a_name_is_told_that_the_folder_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 5)
    monkeypatch.setattr(os, "geteuid", lambda: 2**31 - 5)
    said = str(machine.unwritable(tmp_path, PermissionError("Permission denied")))
    assert said.startswith(f"user {2**31 - 5} cannot write in {tmp_path}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("OSError: [Errno 28] No space left on device", "the disk is full"),
        ("ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] self-signed", "PIP_CERT"),
        ("error: Failed to fetch: `https://x/simple/numpy/`\n  Caused by: dns error", "not reached"),
        ("HTTP status client error (401 Unauthorized); error: Failed to fetch", "answers 401 Unauthorized"),
        ("Err:1 http://deb.example bookworm InRelease\n  403  Forbidden", "answers 403"),
        ("Caused by: tunnel error: unsuccessful", "the proxy of"),
        ("ERROR: No matching distribution found for uv", ""),
        ("CMake Error at CMakeLists.txt:403 (find_package)", ""),
        ('404 Client Error: Not Found for url\n  File "/x/resolver.py", line 401, in resolve', ""),
    ],
)
def test_a_programs_words_become_one_sentence(text: str, told: str) -> None:
    said = index.network_trouble(text)
    assert told in said if told else said == ""
    assert "\n" not in said


# --- the machine ---------------------------------------------------------------------------------------


def disk_of(free: float) -> SimpleNamespace:
    return SimpleNamespace(f_bavail=int(free * machine.GIB / 4096), f_frsize=4096)


def test_three_gigabytes_are_enough_and_what_is_not_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine.os, "statvfs", lambda folder: disk_of(3.0))
    machine.check_disk(tmp_path, frozenset())
    with pytest.raises(SetupError, match=r"3\.0 GB of disk are free in .* 4\.1 GB are needed .*CUDA"):
        machine.check_disk(tmp_path, frozenset({"torch"}))
    monkeypatch.setattr(machine.os, "statvfs", lambda folder: disk_of(1.2))
    with pytest.raises(SetupError, match=r"1\.2 GB of disk are free in .* and 2\.6 GB are needed: free some"):
        machine.check_disk(tmp_path, frozenset())


def test_a_full_disk_is_told_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine.os, "statvfs", lambda folder: disk_of(0.5))
    monkeypatch.setattr(Checkout, "run", lambda *_, **__: pytest.fail("something was run"))
    assert setup_workspace.main([], Checkout(tmp_path)) == 1
    assert "0.5 GB of disk are free" in capsys.readouterr().err
    assert not (tmp_path / ".venv").exists()


def test_a_folder_that_cannot_be_written_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert setup_workspace.main([], Checkout(Path("/proc"))) == 1  # not writable, even for root
    said = capsys.readouterr().err
    assert "cannot write in /proc" in said and "chown" in said and len(said.splitlines()) == 1


def test_an_environment_of_another_user_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After `sudo make setup`, `make setup` must report the folder that it cannot write."""
    (tmp_path / ".venv").mkdir()
    monkeypatch.setattr(machine.os, "access", lambda path, mode: path != tmp_path / ".venv")
    with pytest.raises(SetupError, match=r"cannot write in .*\.venv"):
        machine.lock(Checkout(tmp_path))


def test_another_python_alone_is_told_with_the_versions_that_serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("python3", "python3.13"):
        (tmp_path / name).write_text("#!/bin/sh\necho 3 13 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path) + ":/bin-that-is-not-there")
    monkeypatch.setenv("PYTHON", "python3")
    monkeypatch.setattr(machine.sys, "executable", str(tmp_path / "python3.13"))
    real = subprocess.run
    monkeypatch.setattr(machine.subprocess, "run", lambda command, **kw: real(["/bin/sh", *command], **kw))
    with pytest.raises(
        SetupError, match=r"3\.10, 3\.11 or 3\.12 is needed and there is only 3\.13: install one"
    ):
        machine.find_python(Checkout(tmp_path), system=False)


def test_npm_is_for_the_network_that_is_asked_for_alone() -> None:
    """Only `make detector` and `make console` need npm, and install their own copy if it is missing."""
    files = [ROOT / "env.sh", *(ROOT / "scripts").rglob("*.py")]
    assert {path.name for path in files if "npm" in path.read_text()} == {
        "fetch_detector.py",
        "build_console.py",
    }
    told = [line for line in (ROOT / "Makefile").read_text().splitlines() if "npm" in line]
    assert all(line.startswith("console: ## ") for line in told), "only its help says so"


def test_an_old_cmake_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cmake = tmp_path / "cmake"
    cmake.write_text("#!/bin/sh\necho cmake version $VERSION\n")
    cmake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("VERSION", "3.16.3")
    with pytest.raises(SetupError, match=r"CMake 3\.20 or newer is needed and 3\.16 is installed"):
        machine.check_cmake()
    monkeypatch.setenv("VERSION", "3.28.1")
    machine.check_cmake()
