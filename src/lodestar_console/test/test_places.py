"""Tests of hosts, ports and addresses: normalised as in browsers, or refused with a message."""

import asyncio
import ipaddress
import os
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_client import ask
from scripted_robot import __main__ as scripted
from scripted_robot.console import ScriptedConsole
from waiting import PATIENCE

from lodestar_console import link
from lodestar_console.access.keys import ADDRESS
from lodestar_console.access.origins import Origins
from lodestar_console.access.places import Place, ServeError, bind, in_address
from lodestar_console.web import pictures
from lodestar_console.web.console import ConsoleConfig
from lodestar_console.web.pictures import PictureShelf


@given(st.ip_addresses())
def test_any_number_is_written_as_browsers_do(number):
    written = in_address(str(number))
    assert written == (f"[{number}]" if number.version == 6 else str(number))
    assert in_address(written) == written and ipaddress.ip_address(written.strip("[]")) == number
    assert not Origins(8080, (written,)).host_problem({"host": f"{written}:8080"})


@pytest.mark.parametrize(
    "name",
    ["", "robot.lan:8080", "http://robot.lan", "a b", "robot/", "[robot]", "::1%lo\r\nx", "-a", "a" * 300],
)
def test_what_is_no_host_is_refused(name):
    with pytest.raises(ServeError, match="is no host"):
        in_address(name)


@pytest.mark.parametrize("port", [-1, 65536, 70000])
def test_what_is_no_port_is_refused(port):
    with pytest.raises(ServeError, match="to 65535"):
        bind(Place(port=port))


def test_the_last_ports_are_tried_and_none_beyond(monkeypatch):
    taken = []
    for port in range(65530, 65536):
        one = socket.socket()
        try:
            one.bind(("127.0.0.1", port))
            one.listen()
        except OSError:
            one.close()
        else:
            taken.append(one)
    with pytest.raises(ServeError, match="no port from 65530 on"):
        bind(Place(port=65530))
    for one in taken:
        one.close()


def own_hosts() -> Iterator[str]:
    """Yield names of this machine; a container may lack IPv6."""
    yield from ("127.0.0.1", "127.3.2.1", "localhost", "LOCALHOST")
    with suppress(OSError), socket.socket(socket.AF_INET6) as one:
        one.bind(("::1", 0))
        yield from ("::1", "[::1]")


@pytest.mark.parametrize("host", own_hosts())
def test_the_link_of_any_own_address_leads_in(tmp_path, host):
    script = ScriptedConsole(ConsoleConfig(host=host, port=0, folder=str(tmp_path / "own")))
    try:
        address, _, path = script.console.link().removeprefix("http://").partition("/")
        assert address == f"{in_address(host)}:{script.console.port}"
        assert ask(address, f"/{path}").status == 303
    finally:
        script.close()


def test_a_link_comes_once_a_console_that_is_being_started_is_there(tmp_path, monkeypatch, capsys):
    """The address of a console that was killed before is not taken for it."""
    folder = tmp_path / "own"
    ScriptedConsole(ConsoleConfig(port=0, folder=str(folder))).close()
    (folder / ADDRESS).write_text("http://127.0.0.1:1")
    os.utime(folder / ADDRESS, (1e9, 1e9))
    command = ["--since", str(time.time()), "--folder", str(folder)]
    monkeypatch.setattr(link, "_PATIENCE", 0.2)
    assert link.main(command) == 2 and "no console runs here" in capsys.readouterr().err
    monkeypatch.setattr(link, "_PATIENCE", PATIENCE)
    with ThreadPoolExecutor(1) as asking:
        asked = asking.submit(link.main, command)
        script = ScriptedConsole(ConsoleConfig(port=0, folder=str(folder)))
        try:
            assert asked.result(PATIENCE) == 0
            address, _, path = capsys.readouterr().out.split()[2].removeprefix("http://").partition("/")
            assert ask(address, f"/{path}").status == 303
        finally:
            script.close()


@pytest.mark.parametrize(
    "address", ["localhost:8080", "http://::1:8080", "http://[::1]:70000", "ftp://a", "http://a/b", "x"]
)
def test_the_command_takes_no_address_that_is_none(tmp_path, capsys, address):
    with pytest.raises(SystemExit) as ended:
        link.main(["--address", address, "--folder", str(tmp_path / "own")])
    assert ended.value.code == 2 and "is no address of a console" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["http://[::1]:8080", "https://robot.lan", "http://127.0.0.1:8080/"])
def test_the_command_takes_every_other(tmp_path, capsys, address):
    assert link.main(["--address", address, "--folder", str(tmp_path / "own")]) == 0
    assert capsys.readouterr().out.startswith(address.rstrip("/") + "/enter?key=")


def test_a_port_that_is_none_ends_the_script_with_a_sentence(tmp_path, capsys):
    assert scripted.main(["--port", "99999", "--folder", str(tmp_path / "own")]) == 2
    assert "65535" in capsys.readouterr().err


def test_a_console_that_died_comes_back_at_its_port_and_one_that_ended_leaves_no_address(tmp_path):
    folder = tmp_path / "own"
    first = ScriptedConsole(ConsoleConfig(port=0, folder=str(folder)))
    base = first.console.port
    first.close()
    assert not (folder / ADDRESS).exists()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", base))
        other.listen()
        second = ScriptedConsole(ConsoleConfig(port=base, folder=str(folder)))
        port, address = second.console.port, second.console.address
        second.close()
        assert port > base
    (folder / ADDRESS).write_text(address)  # as left by a killed console; the first port is free again
    third = ScriptedConsole(ConsoleConfig(port=base, folder=str(folder)))
    assert third.console.port == port
    third.close()


def test_a_picture_is_gone_from_memory_when_its_time_is_over(monkeypatch):
    monkeypatch.setattr(pictures, "LASTS", 0.05)

    async def run():
        shelf = PictureShelf()
        keys = [shelf.put(b"\xff\xd8\xff" + bytes(1000), "a") for _ in range(pictures.MOST + 3)]
        assert shelf.take(keys[0]) is None and shelf.take(keys[-1]).by == "a"
        await asyncio.sleep(0.1)
        return shelf

    assert not asyncio.run(run())._pictures
