"""Tests that the container files refer to existing files and install everything the launch files need."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import declared
import pytest
import yaml

DOCKER = declared.ROOT / "docker"
COMPOSE = yaml.safe_load((DOCKER / "compose.yaml").read_text())
RECIPE = (DOCKER / "Dockerfile").read_text()


def test_services_start_what_is_there() -> None:
    targets = set(re.findall(r"^FROM \S+ AS (\w+)$", RECIPE, re.MULTILINE))
    for name, service in COMPOSE["services"].items():
        if "build" not in service:
            assert service["profiles"], f"{name} is not ours: it starts only when asked for"
            assert re.search(r":v[\d.]+}$", service["image"]), f"{name} needs a version"
            continue
        assert service["build"]["target"] in targets, name
        for word in str(service.get("command", "")).split():
            if word.endswith(".launch.py"):
                assert (declared.ROOT / "launch" / word).is_file()
            if word.startswith("lodestar_eval") or word == "lodestar_bringup":
                assert (declared.ROOT / "src" / word.split(".")[0]).is_dir()


def test_the_robot_is_started_with_slam_and_nav2() -> None:
    """Without `ros2 launch` the starter runs neither; both are part of the base image's ROS 2."""
    robot = COMPOSE["services"]["robot"]
    assert robot["command"].startswith("ros2 launch lodestar_bringup go2.launch.py")
    assert "ros:jazzy" in robot["build"]["args"]["BASE"]
    for package in ("navigation2", "slam-toolbox", "ros2launch", "rmw-cyclonedds-cpp"):
        assert f'"ros-${{distribution}}-{package}"' in RECIPE


def test_the_detector_keeps_the_numpy_that_ros_was_compiled_with() -> None:
    """Recipe and page pin numpy below 2: with numpy 2 the compiled messages do not load."""
    page = (declared.ROOT / "docs" / "how-to" / "go2.md").read_text()
    for text in (RECIPE, page):
        lines = [line for line in text.splitlines() if "pip install" in line and "DETECTOR" in line]
        lines += [line for line in text.splitlines() if "pip install" in line and "ultralytics" in line]
        assert lines and all("-c requirements/system_ros.txt" in line for line in lines), lines
    assert "numpy<2" in (declared.ROOT / "requirements" / "system_ros.txt").read_text()


def test_what_runs_in_a_container_can_write_its_reports() -> None:
    """A mounted host folder belongs to the host's user, or to root if the container engine created it."""
    (user,) = re.findall(r"^USER (\d+)$", RECIPE, re.MULTILINE)
    assert f"useradd --create-home --uid {user} lodestar" in RECIPE and "chown -R lodestar" in RECIPE
    for service in COMPOSE["services"].values():
        for volume in service.get("volumes", []):
            if isinstance(volume, dict):
                assert volume["read_only"]
            else:
                assert volume.split(":")[0] in COMPOSE["volumes"]


def test_a_robot_has_its_holds_and_its_memory_after_a_restart_and_time_to_write_them() -> None:
    """A hold that went with the container would let the robot drive after the restart."""
    launch = (declared.ROOT / "src/lodestar_bringup/lodestar_bringup/launch_entities.py").read_text()
    patience = float(re.findall(r"^STOP_PATIENCE = ([\d.]+)", launch, re.MULTILINE)[0])
    assert "STOPSIGNAL SIGINT" in RECIPE and "/home/lodestar/.local/state" in RECIPE
    for name in ("demo", "robot", "jetson"):
        service = COMPOSE["services"][name]
        assert "state:/home/lodestar/.local/state" in service["volumes"], name
        assert service["stop_signal"] == "SIGINT", name
        assert float(service["stop_grace_period"].rstrip("s")) > patience + 5.0, name


def test_the_robots_weights_lie_where_its_profile_looks() -> None:
    profile = yaml.safe_load((declared.ROOT / "config" / "go2.yaml").read_text())
    model = profile["/**/perception"]["ros__parameters"]["model"]
    (weights,) = (volume for volume in COMPOSE["services"]["robot"]["volumes"] if isinstance(volume, dict))
    workdir = re.findall(r"^WORKDIR (\S+)$", RECIPE, re.MULTILINE)[-1]
    assert weights["target"] == f"{workdir}/{model}"


@pytest.mark.parametrize(
    ("torch", "index", "written"),
    [
        ("", "", None),
        ("torch==2.8.0", "", None),
        (
            "torch==2.8.0",
            "https://example.org/jp6",
            "--extra-index-url https://example.org/jp6\ntorch==2.8.0\n",
        ),
    ],
)
def test_another_torch_needs_its_index(torch: str, index: str, written: str | None, tmp_path: Path) -> None:
    found = re.search(r'^RUN (if \[ -n "\$\{TORCH\}" \].*?^    fi)$', RECIPE, re.MULTILINE | re.DOTALL)
    assert found is not None
    (tmp_path / "requirements").mkdir()
    environment = {"PATH": os.environ["PATH"], "TORCH": torch, "TORCH_INDEX": index}
    run = subprocess.run(
        ["sh", "-c", found[1]], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    refused = bool(torch) and not index
    assert (run.returncode != 0) == refused and ("give the package index" in run.stderr) == refused
    local = tmp_path / "requirements" / "local.txt"
    assert (local.read_text() if local.exists() else None) == written


def test_a_jetson_has_its_gpu_its_ros_and_nvidias_torch() -> None:
    jetson = COMPOSE["services"]["jetson"]
    (device,) = jetson["deploy"]["resources"]["reservations"]["devices"]
    assert (
        device["driver"] == "nvidia" and device["capabilities"] == ["gpu"] and jetson["runtime"] == "nvidia"
    )
    arguments = jetson["build"]["args"]
    for name in ("BASE", "ROS", "TORCH", "TORCH_INDEX", "DETECTOR"):
        assert re.search(rf"^ARG {name}\b", RECIPE, re.MULTILINE), name
        assert arguments[name].startswith("${"), f"{name} is configuration"
    assert "l4t" in arguments["BASE"] and "humble" in arguments["ROS"]
    assert "torch" not in arguments["DETECTOR"].replace("torchvision", ""), "the pinned one would be replaced"
    written = RECIPE.index("requirements/local.txt")
    assert written < RECIPE.index("setup_workspace.py --no-build"), "before anything is installed"
    assert "requirements/local.txt" in (declared.ROOT / ".dockerignore").read_text(), (
        "a host's is not the image's"
    )
    robot = COMPOSE["services"]["robot"]
    assert {k: jetson[k] for k in ("command", "network_mode", "volumes")} == {
        k: robot[k] for k in ("command", "network_mode", "volumes")
    }


@pytest.mark.parametrize("name", ["robot", "jetson"])
def test_a_robots_container_takes_the_middleware_of_the_shell(name: str) -> None:
    """A variable name without value passes the shell's value on, or leaves the variable unset."""
    environment = COMPOSE["services"][name]["environment"]
    for variable in ("RMW_IMPLEMENTATION", "CYCLONEDDS_URI"):
        assert environment[variable] is None
        assert variable in (declared.ROOT / "docs" / "how-to" / "docker.md").read_text()
    assert environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SUBNET"
    assert ". ./env.sh" in (DOCKER / "entrypoint.sh").read_text(), "which sets what Humble knows instead"
