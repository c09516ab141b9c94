"""Speed up the code generators of ROS messages by caching syntax trees and template tokens.

`colcon build` starts five generators for each package of interfaces. Each parses every file again with an
Earley parser, and expands its templates character by character. With this folder on PYTHONPATH the first
generator writes the syntax trees to the folder in LODESTAR_INTERFACE_TREES and the others read them; within a
generator each template is scanned once.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import sys
from functools import cache
from pathlib import Path


def keep_trees(folder: Path) -> None:
    """Make rosidl's parser cache its syntax trees in a folder, by the text and the parser's version."""
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


def keep_tokens() -> None:
    """Make EmPy 3 cache the tokens of a template and the compiled code of its expressions."""
    import em

    scan = em.Scanner.one
    known: dict[tuple[str, str], tuple[em.Token | None, int]] = {}

    def one(self: em.Scanner) -> em.Token | None:
        if self.lock or self.pointer:  # within a token: it is kept with that
            return scan(self)
        rest = self.buffer
        token, length = known.get((self.prefix, rest), (None, 0))
        if token is None:
            token = scan(self)
            known[self.prefix, rest] = token, len(rest) - len(self.buffer)
        else:
            self.buffer = rest[length:]
        return token

    compiled = cache(compile)
    em.Scanner.one = one
    em.eval = lambda text, *scopes: eval(compiled(text.strip(" \t"), "<template>", "eval"), *scopes)
    em._exec = lambda text, *scopes: exec(compiled(text, "<template>", "exec"), *scopes)


if any("rosidl_" in Path(word).name for word in sys.orig_argv[1:2]):
    keep_trees(Path(os.environ["LODESTAR_INTERFACE_TREES"]))
    keep_tokens()
    gc.disable()  # short processes that only ever add to their trees
