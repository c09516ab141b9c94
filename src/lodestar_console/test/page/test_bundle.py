"""Tests that the committed bundle of the page is up to date with its sources."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2]
PAGE, STATIC = PACKAGE / "page", PACKAGE / "lodestar_console" / "static"
BUILT_FROM = ("package.json", "package-lock.json", "build.mjs", "tsconfig.json")
NODE = shutil.which("node")
INSTALLED = (PAGE / "node_modules" / "esbuild").is_dir()

needs_node = pytest.mark.skipif(
    not (NODE and INSTALLED), reason="needs node and the packages of the page: `make console` brings them"
)


def sources() -> list[Path]:
    return sorted(
        (
            path
            for path in (*(PAGE / "src").rglob("*"), *(PAGE / name for name in BUILT_FROM))
            if path.is_file()
        ),
        key=lambda path: path.relative_to(PAGE).as_posix(),
    )


def digest(paths: list[Path]) -> str:
    """Return the digest of files as written by build.mjs."""
    found = hashlib.sha256()
    for path in paths:
        found.update(f"{path.relative_to(PAGE).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()


def test_the_bundle_names_its_sources() -> None:
    assert (STATIC / "VERSION").read_text().strip() == digest(sources()), (
        "run `make console` and commit static/"
    )


@needs_node
def test_the_sources_give_the_bundle(tmp_path: Path) -> None:
    assert NODE
    subprocess.run([NODE, "build.mjs", str(tmp_path)], cwd=PAGE, check=True)
    for path in STATIC.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), (
            f"{path.name}: run `make console` and commit it"
        )


@needs_node
def test_the_types_hold() -> None:
    assert NODE
    subprocess.run([NODE, "node_modules/typescript/bin/tsc", "--noEmit"], cwd=PAGE, check=True)


@needs_node
def test_the_logic_of_the_page() -> None:
    assert NODE
    done = subprocess.run([NODE, "test.mjs"], cwd=PAGE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_has_no_inline_script_or_style_and_names_no_host() -> None:
    html = (STATIC / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)", html) == []
    assert "style=" not in html and "<style" not in html and " on" not in re.sub(r">[^<]*<", "><", html)
    for name in ("index.html", "console.css"):
        assert "//" not in (STATIC / name).read_text().replace("<!doctype", "")
    called = re.findall(
        r"""(?:fetch|WebSocket|importScripts|EventSource)\(\s*["'`](?!/)""",
        (STATIC / "console.js").read_text(),
    )
    assert called == []


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (PAGE / "package-lock.json").read_text()


def test_no_source_puts_text_into_markup() -> None:
    banned = (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "dangerouslySetInnerHTML",
        "document.write",
        "eval(",
        "new Function",
    )
    for path in (PAGE / "src").rglob("*.ts*"):
        text = path.read_text()
        assert [word for word in banned if word in text] == [], path
