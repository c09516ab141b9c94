"""Tests that every configuration field has a comment of its own with unit and source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"


def bare_fields(source: str) -> list[tuple[int, str]]:
    """Return (line, name) of the fields of `...Config` classes without a comment on or above their lines.

    Fields that hold another configuration or read a shared parameter are exempt.
    """
    lines, found = source.splitlines(), []
    for kind in ast.walk(ast.parse(source)):
        if not (isinstance(kind, ast.ClassDef) and kind.name.endswith("Config") and kind.decorator_list):
            continue
        for item in kind.body:
            if not isinstance(item, ast.AnnAssign) or "Config" in ast.unparse(item.annotation):
                continue
            said = [line for line in lines[item.lineno - 1 : item.end_lineno] if "#" in line]
            above = lines[item.lineno - 2].lstrip().startswith("#")
            if not said and not above and "metadata={'shared'" not in ast.unparse(item):
                found.append((item.lineno, f"{kind.name}.{ast.unparse(item.target)}"))
    return found


@pytest.mark.parametrize("package", sorted(path.name for path in SOURCES.glob("lodestar*")))
def test_every_field_of_a_configuration_is_commented(package: str) -> None:
    bare = [
        f"{path.relative_to(SOURCES)}:{line}: {name}"
        for path in sorted((SOURCES / package / package).rglob("*.py"))
        for line, name in bare_fields(path.read_text())
    ]
    assert not bare, "say unit and source:\n" + "\n".join(bare)


def test_a_bare_field_is_noticed() -> None:
    source = (
        "@dataclass\nclass OneConfig:\n    # metres; chosen\n    near: float = 0.1\n    far: float = 5.0\n"
        "    rate: float = 1.0  # Hz; chosen\n    other: OtherConfig = OtherConfig()\n"
        "    map_id: int = field(default=0, metadata={'shared': 'map_id'})\n"
    )
    assert bare_fields(source) == [(5, "OneConfig.far")]
