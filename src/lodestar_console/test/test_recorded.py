"""Tests of the page of a recorded run: decisions and failures come from the log, and requests are refused."""

import subprocess
import sys
from pathlib import Path

import pytest
from page_client import PageClient, StateReader
from waiting import PATIENCE

from lodestar.worldmodel.decision_log import read_records
from lodestar_console.intake.recorded import RecordedStack, recorded_board
from lodestar_console.web.console import Console, ConsoleConfig

LOG = Path(__file__).parents[2] / "lodestar" / "test" / "storage" / "stored" / "decisions.jsonl"


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    board = recorded_board(list(read_records(LOG)), "a run")
    folder = str(tmp_path_factory.mktemp("console") / "own")
    console = Console(board, RecordedStack(board), ConsoleConfig(port=0, folder=folder))
    yield console
    console.close()


def test_a_run_is_read_after_it_and_nothing_can_be_sent(console):
    page = PageClient(console.link())
    with page.open("state") as socket:
        state = StateReader(socket)
        state.until(lambda s: s.items.get("decisions") and s.items.get("events") and "robot" in s.parts)
        decision = next(one for one in state.items["decisions"].values() if one["directive"])
        assert decision["why"] and state.parts["directive"]["text"]
        told = state.request("at", time=decision["at"])
        assert told["value"]["decision"]["at"] <= decision["at"] and told["value"]["events"]
        assert (
            state.request("details", kind="decision", of=decision["id"])["value"]["lines"] == decision["why"]
        )
        refused = state.request("directive", text="find the red chair")
        assert not refused["ok"] and "over" in refused["text"]
        assert page.get("/keyframes/1.jpg").status == 404 and page.get("/logs/mapping").status == 404


def test_a_file_that_is_no_log_is_told(tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text("no log\n")
    command = [
        sys.executable,
        "-m",
        "lodestar_console.intake.recorded",
        str(bad),
        "--folder",
        str(tmp_path / "own"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and "bad.jsonl:1" in done.stderr
