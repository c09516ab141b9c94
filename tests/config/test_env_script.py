"""Tests of env.sh: it sets up a shell once, without output, and keeps settings of the user."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]

SHELLS = [shell for shell in ("bash", "dash", "zsh") if shutil.which(shell)]
QUESTION = """. ./env.sh && . ./env.sh
python -c 'import sys; print(sys.prefix)'
echo "$FASTDDS_DEFAULT_PROFILES_FILE" "$NUMBA_CACHE_DIR" "$ROS_LOG_DIR"
echo "$PATH" | tr ':' '\\n' | grep -c "^$PWD/.venv/bin$"
"""


@pytest.mark.skipif(not (ROOT / "install" / "setup.sh").exists(), reason="the workspace is not built")
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("option", ["-c", "-uc"])
def test_a_shell_enters_the_environment_in_silence_and_only_once(shell: str, option: str) -> None:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}
    done = subprocess.run(
        [shell, option, QUESTION], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    prefix, written, times = done.stdout.splitlines()
    assert prefix == str(ROOT / ".venv")
    assert all(path.startswith(str(ROOT)) for path in written.split())
    assert times == "1"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("given", "stands"),
    [
        ({}, "{root}/config/fastdds.xml"),
        ({"FASTDDS_DEFAULT_PROFILES_FILE": ""}, "{root}/config/fastdds.xml"),
        ({"FASTDDS_DEFAULT_PROFILES_FILE": "/etc/my own.xml"}, "/etc/my own.xml"),
        (  # as in a shell that used another checkout before
            {"LODESTAR_ROOT": "/other", "FASTDDS_DEFAULT_PROFILES_FILE": "/other/config/fastdds.xml"},
            "{root}/config/fastdds.xml",
        ),
    ],
)
def test_a_middleware_profile_of_the_users_own_stays(
    tmp_path: Path, shell: str, given: dict[str, str], stands: str
) -> None:
    told = said_after_env(tmp_path, shell, given, '. ./env.sh && echo "$FASTDDS_DEFAULT_PROFILES_FILE"')
    assert told == stands.format(root=tmp_path)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("given", "only"),
    [
        ({}, "1"),
        ({"ROS_LOCALHOST_ONLY": "0"}, "0"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, "0"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT"}, "0"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, "1"),
        # as in a shell that used this environment before it exported the range
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "ROS_LOCALHOST_ONLY": "1"}, "0"),
    ],
)
def test_humble_does_what_the_discovery_range_says(
    tmp_path: Path, shell: str, given: dict[str, str], only: str
) -> None:
    told = said_after_env(tmp_path, shell, {"ROS_DISTRO": "humble", **given}, 'echo "$ROS_LOCALHOST_ONLY"')
    assert told == only


def said_after_env(folder: Path, shell: str, given: dict[str, str], then: str) -> str:
    """Source env.sh in an empty but set-up checkout, run the command `then`, and return its output."""
    shutil.copy(ROOT / "env.sh", folder)
    for path in (".venv/bin/python", ".venv/bin/activate", "install/setup.sh"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("")
    (folder / ".venv/bin/python").chmod(0o755)
    done = subprocess.run(
        [shell, "-uc", f". ./env.sh && {then}"],
        cwd=folder,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **given},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_a_checkout_that_is_not_set_up_says_so(tmp_path: Path) -> None:
    shutil.copy(ROOT / "env.sh", tmp_path)
    done = subprocess.run(
        ["bash", "-c", ". ./env.sh; echo status $?"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "make setup" in done.stderr
    assert done.stdout.strip() == "status 1"
