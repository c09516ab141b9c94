"""Keep the syntax trees of interface files between the generators of messages.

`colcon build` starts six generators for each package of interfaces, and each parses every file anew with an Earley
parser: a quarter of the build. With this folder on PYTHONPATH the first one writes the trees to the folder
LODESTAR_INTERFACE_TREES, and the others read them. A tree is found by the text and the parser that it came from.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from pathlib import Path


def keep_trees(folder: Path) -> None:
    """Make rosidl's parser look into the folder first."""
    import lark
    from rosidl_parser import parser

    parse = parser.get_ast_from_idl_string
    version = f"{lark.__version__} {sys.version} {parser.grammar}".encode()

    def parse_once(text: str) -> lark.Tree:
        path = folder / hashlib.sha256(version + text.encode()).hexdigest()
        if path.is_file():
            return pickle.loads(path.read_bytes())
        tree = parse(text)
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")  # two generators may come to the same file
        part.write_bytes(pickle.dumps(tree))
        part.replace(path)
        return tree

    parser.get_ast_from_idl_string = parse_once


if any("rosidl_" in Path(word).name for word in sys.orig_argv[1:2]):
    keep_trees(Path(os.environ["LODESTAR_INTERFACE_TREES"]))
