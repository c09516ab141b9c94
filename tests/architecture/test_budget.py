"""Tests that the product stays within its budget of code lines, files per folder and fields of configuration.

Ceilings stand in budget.toml and only go down: one that is far above the count fails too. A change that cannot keep its
ceiling raises it in a commit of its own that says why.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # of pytest

ROOT = Path(__file__).parents[2]
BUDGET = tomllib.loads((Path(__file__).parent / "budget.toml").read_text())
LAYOUT = {  # tokens that are no code
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(text: str) -> int:
    """Return the number of lines that hold code: none that is blank, a comment or part of a docstring."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            docstrings |= set(range(first.lineno, first.end_lineno + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


@cache
def product() -> dict[Path, str]:
    """Return the text of each Python file of the product by its path from the root."""
    paths = [
        path for folder in ("src", "scripts", "isaac", "launch") for path in (ROOT / folder).rglob("*.py")
    ]
    named = {path.relative_to(ROOT): path for path in sorted(paths)}
    left_out = {"test", "build", "__pycache__"}
    return {name: path.read_text() for name, path in named.items() if not left_out & set(name.parts)}


def part_of(name: Path) -> list[str]:
    """Return the entries of the budget that a file counts for: its package, and its room in `lodestar`."""
    package = name.parts[1] if name.parts[0] == "src" else name.parts[0]
    room = [f"lodestar/{name.parts[3]}"] if package == "lodestar" and len(name.parts) > 4 else []
    return [package, *room, "product"]


@cache
def counts() -> dict[str, Counter[str]]:
    """Return table of the budget -> entry -> today's count."""
    found: dict[str, Counter[str]] = {"code_lines": Counter(), "files": Counter(), "config_fields": Counter()}
    for name, text in product().items():
        lines = code_lines(text)
        for part in part_of(name):
            found["code_lines"][part] += lines
        found["files"][str(name.parent)] += 1
        found["config_fields"]["product"] += config_fields(text) if name.parts[0] == "src" else 0
    return found


def config_fields(text: str) -> int:
    """Return the number of fields of the dataclasses named `...Config`."""
    return sum(
        isinstance(item, ast.AnnAssign)
        for kind in ast.walk(ast.parse(text))
        if isinstance(kind, ast.ClassDef) and kind.name.endswith("Config")
        if any("dataclass" in ast.unparse(decorator) for decorator in kind.decorator_list)
        for item in kind.body
    )


def slack(ceiling: int) -> int:
    """Return by how much a ceiling may stand above the count."""
    return max(100, 3 * ceiling // 100)


@pytest.mark.parametrize("part", sorted(BUDGET["code_lines"]))
def test_code_lines_keep_their_ceiling(part: str) -> None:
    ceiling, count = BUDGET["code_lines"][part], counts()["code_lines"][part]
    assert count <= ceiling, f"{part} has {count} code lines and {ceiling} are allowed: make it smaller"
    assert ceiling - count <= slack(ceiling), (
        f"{part} has {count} code lines: lower its ceiling in budget.toml"
    )


def test_every_package_and_room_has_a_ceiling() -> None:
    assert counts()["code_lines"].keys() == BUDGET["code_lines"].keys()


def test_folders_keep_their_number_of_files() -> None:
    most, larger = BUDGET["files"]["most"], BUDGET["files"]["larger"]
    found = {folder: count for folder, count in counts()["files"].items() if count > most}
    assert found == larger, (
        f"a folder of more than {most} files gets sub-packages; its entry follows its count"
    )


def test_fields_of_configuration_keep_their_ceiling() -> None:
    ceiling, count = BUDGET["config_fields"]["product"], counts()["config_fields"]["product"]
    assert count <= ceiling, f"{count} fields, {ceiling} allowed: what no profile or page sets is a constant"
    assert ceiling - count <= slack(ceiling), f"{count} fields: lower the ceiling in budget.toml"


def test_lines_are_counted_at_one_width() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert tools["ruff"]["line-length"] == BUDGET["line_length"], "another width changes every count"


def test_docstrings_comments_and_blank_lines_are_not_counted() -> None:
    text = (
        '"""Page.\n\nMore.\n"""\n\n# note\nA = """one\ntwo"""  # text is code\n\n\n'
        'def f():\n    """Say."""\n    return (\n        1\n    )\n'
    )
    assert code_lines(text) == 6


def test_fields_are_counted_in_configurations_alone() -> None:
    text = (
        "@dataclass\nclass AConfig:\n    a: int = 1\n    b: int = 2\n@dataclass\nclass B:\n    c: int = 3\n"
    )
    assert config_fields(text) == 2
