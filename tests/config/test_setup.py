"""Set-up and environment: what is missing is named, what is done is not done again, nothing leaks."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The set-up script, working on a small checkout of its own."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    spec = importlib.util.spec_from_file_location("setup_workspace", ROOT / "scripts" / "setup_workspace.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("ROOT", "VENV", "STAMPS", "VENV_PYTHON", "LOCAL"):
        old = getattr(module, name)
        monkeypatch.setattr(module, name, tmp_path / old.relative_to(ROOT))
    for name in ("requirements", "config", "launch"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "colcon.meta", tmp_path)
    for name in ("lodestar_interfaces", "underlay", "lodestar_ros"):
        shutil.copytree(
            ROOT / "src" / name, tmp_path / "src" / name, ignore=shutil.ignore_patterns("*.egg-info")
        )
    return module


def test_a_user_without_root_is_told_what_to_install(
    workspace: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace.shutil, "which", lambda name: None if name == "g++" else f"/usr/bin/{name}")
    monkeypatch.setattr(
        workspace.ctypes.util, "find_library", lambda name: None if name == "usb-1.0" else name
    )
    monkeypatch.setattr(workspace.os, "geteuid", lambda: 1000)
    with pytest.raises(workspace.SetupError) as error:
        workspace.check_apt(sys.executable)
    message = str(error.value)
    assert "missing: g++" in message
    assert "libusb-1.0-0" in message
    assert "sudo apt-get update && sudo apt-get install -y --no-install-recommends g++" in message
    assert len(message.splitlines()) == 1


def test_root_installs_what_is_missing_and_nothing_else(
    workspace: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(workspace.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(workspace.ctypes.util, "find_library", lambda name: None if name == "GL" else name)
    monkeypatch.setattr(workspace.os, "geteuid", lambda: 0)
    monkeypatch.setattr(workspace, "run_logged", lambda command, *_: ran.append(command))
    workspace.check_apt(sys.executable)
    assert [command[1] for command in ran] == ["update", "install"]
    assert [part for part in ran[1][2:] if not part.startswith("-")] == ["libgl1"]
    monkeypatch.setattr(workspace.ctypes.util, "find_library", lambda name: name)
    workspace.check_apt(sys.executable)
    assert len(ran) == 2


def test_a_system_ros_is_found_where_it_is_supported(
    workspace: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "is_file", lambda path: str(path) == "/opt/ros/jazzy/setup.bash")
    monkeypatch.setenv("ROS_DISTRO", "jazzy")
    assert workspace.system_ros() == Path("/opt/ros/jazzy")
    monkeypatch.delenv("ROS_DISTRO")
    assert workspace.system_ros() == Path("/opt/ros/jazzy")
    monkeypatch.setenv("ROS_DISTRO", "foxy")
    monkeypatch.setattr(workspace.platform, "machine", lambda: "x86_64")
    assert workspace.system_ros() is None
    monkeypatch.setattr(workspace.platform, "machine", lambda: "aarch64")
    with pytest.raises(workspace.SetupError, match="install ROS 2"):
        workspace.system_ros()


def test_interfaces_that_the_system_has_are_left_out(workspace: ModuleType, tmp_path: Path) -> None:
    prefix = tmp_path / "opt"
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "nav2_msgs").touch()
    (index / "lodestar_ros").touch()  # an older Lodestar: ours is built all the same
    everything = set(workspace.packages_to_build(None))
    assert {"tf2_msgs", "nav2_msgs", "octomap_msgs", "lodestar_interfaces", "lodestar_ros"} <= everything
    assert everything - set(workspace.packages_to_build(prefix)) == {"nav2_msgs"}


@pytest.mark.parametrize(
    ("path", "rebuilds"),
    [
        ("src/lodestar_interfaces/msg/Entity.msg", True),
        ("src/lodestar_ros/setup.py", True),
        ("src/lodestar_ros/lodestar_ros/qos.py", False),
        ("launch/sim.launch.py", False),
        ("config/nav2.yaml", False),
        ("colcon.meta", True),
    ],
)
def test_a_change_builds_again_only_what_links_do_not_carry(
    workspace: ModuleType, tmp_path: Path, path: str, rebuilds: bool
) -> None:
    def key() -> str:
        return str(workspace.build_key(workspace.packages_to_build(None)))

    before = key()
    assert key() == before
    with (tmp_path / path).open("a") as file:
        file.write("\n# changed\n")
    assert (key() != before) == rebuilds


def test_a_new_profile_or_launch_file_is_installed(workspace: ModuleType, tmp_path: Path) -> None:
    before = workspace.build_key(workspace.packages_to_build(None))
    (tmp_path / "config" / "mine.yaml").write_text("{}\n")
    assert workspace.build_key(workspace.packages_to_build(None)) != before


def test_the_wheels_build_paths_become_this_environments(workspace: ModuleType, tmp_path: Path) -> None:
    import numpy

    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    workspace.VENV_PYTHON.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    workspace.VENV_PYTHON.chmod(0o755)
    path = tmp_path / ".venv" / "share" / "some_msgs" / "cmake" / "export.cmake"
    path.parent.mkdir(parents=True)
    site = "/opt/python/cp312-cp312/lib/python3.12/site-packages/numpy/_core/include"
    path.write_text(f'INCLUDES "/opt/python/cp312-cp312/include/python3.12;{site};/usr/include"\n')
    workspace.patch_wheel_paths()
    text = path.read_text()
    assert "/opt/python" not in text
    assert numpy.get_include() in text
    assert "/usr/include" in text


def test_kernels_are_compiled_once_and_again_when_one_changes(
    workspace: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    monkeypatch.setattr(workspace, "run_logged", lambda command, name, advice: ran.append(name))
    folder = tmp_path / "src" / "lodestar" / "lodestar" / "grid"
    folder.mkdir(parents=True)
    (folder / "loops.py").write_text("@njit(cache=True)")
    (folder / "plain.py").write_text("a = 1")
    for _ in range(2):
        workspace.compile_kernels()
    assert ran == ["compile_kernels"]
    (folder / "plain.py").write_text("a = 2")
    workspace.compile_kernels()
    assert len(ran) == 1, "nothing is compiled there"
    (folder / "loops.py").write_text("@njit(cache=True)  # another")
    workspace.compile_kernels()
    assert len(ran) == 2


def test_kernels_that_do_not_compile_are_told_and_tried_again(
    workspace: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace.ROOT / "env.sh").write_text("echo no model here; exit 3")
    workspace.compile_kernels()
    told = capsys.readouterr().out
    assert "no model here" in told and "compiled when first used" in told
    assert workspace.read_stamp("kernels") == ""


def test_the_script_that_compiles_them_makes_decisions() -> None:
    """The search that compiles is long enough to ask every expert and to drive."""
    spec = importlib.util.spec_from_file_location("compile_kernels", ROOT / "scripts" / "compile_kernels.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run = module.main()
    assert run.decisions and run.outcome.path_length > 0.0


def test_a_failing_step_shows_its_end_and_what_to_do(workspace: ModuleType) -> None:
    with pytest.raises(workspace.SetupError, match="no space left") as error:
        workspace.run_logged(["sh", "-c", "echo no space left; exit 4"], "pip", "free some disk")
    assert "pip failed (4)" in str(error.value)
    assert "what to do: free some disk" in str(error.value)


# --- env.sh --------------------------------------------------------------------------------------------

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
        (  # this shell was in another checkout before
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
        # the shell was in this environment before the page had it export the range
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "ROS_LOCALHOST_ONLY": "1"}, "0"),
    ],
)
def test_humble_does_what_the_discovery_range_says(
    tmp_path: Path, shell: str, given: dict[str, str], only: str
) -> None:
    told = said_after_env(tmp_path, shell, {"ROS_DISTRO": "humble", **given}, 'echo "$ROS_LOCALHOST_ONLY"')
    assert told == only


def said_after_env(folder: Path, shell: str, given: dict[str, str], then: str) -> str:
    """Return what a command prints after env.sh, which is silent, in an empty checkout that is set up."""
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


def test_the_environment_is_never_made_anew_by_itself(
    workspace: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell that has sourced env.sh finds the environment's own Python first."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(workspace.VENV)], check=True)
    inside = workspace.VENV / "bin" / "python3"
    monkeypatch.setenv("PYTHON", str(inside))
    found = workspace.find_python(system=False)
    assert not Path(found).is_relative_to(workspace.VENV)
    monkeypatch.setenv("PYTHON", found)
    assert workspace.find_python(system=False) == found  # the same stamp from either shell


def test_builds_of_this_computer_take_the_place_of_those_that_are_pinned(workspace: ModuleType) -> None:
    """A Jetson needs NVIDIA's torch, of another index and version."""
    folder = workspace.ROOT / "requirements"
    files = [folder / "run.txt", folder / "system_ros.txt"]
    copies = workspace.VENV / "requirements"
    assert workspace.without_replaced(files, workspace.LOCAL, copies) == files
    workspace.LOCAL.write_text("--extra-index-url https://example.org/jp6\n# ours\ntorch==2.8.0\n")
    run, system, local = workspace.without_replaced([*files, workspace.LOCAL], workspace.LOCAL, copies)
    assert local == workspace.LOCAL and "numpy<2" in system.read_text()
    name_of = importlib.import_module("local_requirements").name_of
    named = {name_of(line) for line in run.read_text().splitlines()}
    assert "torch" not in named and {"scipy", "sentence-transformers", "opencv-python-headless"} <= named


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("torch==2.13.0", "torch"),
        ("Ros_Std.Msgs>=5,<6", "ros-std-msgs"),
        ("ros-rclpy[fastrtps]>=9", "ros-rclpy"),
    ]
    + [(line, "") for line in ("# torch", "--extra-index-url https://x", "")],
)
def test_the_package_of_a_requirement(workspace: ModuleType, line: str, name: str) -> None:
    assert importlib.import_module("local_requirements").name_of(line) == name
