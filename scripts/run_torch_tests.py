"""Run the tests marked `torch` in `.venv-torch`: `.venv` with torch, sentence-transformers and Ultralytics added.

`.venv` has none of them, so `make test` skips the comparisons with them. Here no test may be skipped. Exit status 0 if
all passed. Arguments are pytest's.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

from run_tests import marked_files
from workspace_setup.checkout import Checkout, SetupError, digest
from workspace_setup.index import network_trouble, pip_settings, uv_environment
from workspace_setup.local_requirements import name_of, without_replaced

ROOT = Path(__file__).resolve().parents[1]
# tools of `.venv` whose versions are not pinned, because torch needs newer ones
TOOLS = {"pip", "setuptools", "wheel"}
MARKS = "torch and not cuda"  # test machines have no GPU; on a machine with one: pytest -m cuda


def make_environment(checkout: Checkout) -> Path:
    """Return the interpreter of `.venv-torch`; build it if requirements/ or `.venv` has changed. Raises SetupError."""
    folder = checkout.root / ".venv-torch"
    python, stamp = folder / "bin" / "python", folder / "stamp"
    files = [checkout.requirements / name for name in ("torch.txt", "ultralytics.txt")]
    files += [checkout.local] if checkout.local.is_file() else []
    key = digest([checkout.read_stamp("packages"), *(path.read_text() for path in files)])
    if stamp.is_file() and stamp.read_text() == key:
        return python
    command = [sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)]
    checkout.run(command, "venv", "install the python3-venv package")
    below = sysconfig.get_path("purelib")
    (Path(_purelib(python)) / "below.pth").write_text(below + "\n")
    held = folder / "held.txt"  # packages that both environments need have the same version
    uv = [str(checkout.venv / "bin" / "uv"), "pip"]
    frozen = subprocess.run(
        [*uv, "freeze", "--python", sys.executable], capture_output=True, text=True, check=True
    )
    pinned = [line for line in frozen.stdout.splitlines() if "==" in line and name_of(line) not in TOOLS]
    held.write_text("".join(f"{line}\n" for line in pinned))
    requirements = [
        part
        for path in without_replaced(files, checkout.local, folder / "requirements")
        for part in ("-r", str(path))
    ]
    install = [*uv, "install", "-q", "--python", str(python), "-c", str(held), *requirements]
    environment = uv_environment(pip_settings([sys.executable, "-m", "pip"]), os.environ)
    checkout.run(install, "uv", "check the network and the disk", environment, diagnose=network_trouble)
    stamp.write_text(key)
    return python


def _purelib(python: Path) -> str:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def run_tests(python: Path, arguments: Sequence[str]) -> str:
    """Run pytest; return why the run is not accepted, "" if every test ran and passed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        status = subprocess.call(
            [
                str(python),
                "-m",
                "pytest",
                "-q",
                "-p",
                "torchvision_operators",
                "-m",
                MARKS,
                f"--junitxml={report}",
                *(arguments or marked_files(("torch",))),
            ],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{os.environ.get('PYTHONPATH', '')}"},
        )
        if status != 0:
            return f"pytest ended with status {status}"
        skipped = skipped_tests(report)
    return f"{len(skipped)} were skipped, the first is {skipped[0]}" if skipped else ""


def skipped_tests(report: Path) -> list[str]:
    """Return the names of the skipped tests of a JUnit report."""
    cases = ElementTree.parse(report).getroot().iter("testcase")
    return [
        f"{case.get('classname')}::{case.get('name')}" for case in cases if case.find("skipped") is not None
    ]


def main(arguments: Sequence[str]) -> int:
    """Build the environment, run the tests and print the time of both; return the exit status."""
    began = time.monotonic()
    try:
        python = make_environment(Checkout(ROOT))
    except SetupError as error:
        print(
            f"== comparisons with torch: FAILED, they need an environment with torch: {error}",
            file=sys.stderr,
        )
        return 1
    made = time.monotonic()
    trouble = run_tests(python, arguments)
    told = f"{made - began:.0f} s for the environment, {time.monotonic() - made:.0f} s for the tests"
    print(f"== comparisons with torch: {f'FAILED, {trouble}' if trouble else 'passed'}; {told}", flush=True)
    return 1 if trouble else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
