"""The key of a model endpoint: read from the environment, and kept out of whatever is said or written."""

from __future__ import annotations

import os
import re

KEY_VARIABLE = "OPENAI_API_KEY"
NO_KEY = "none"  # what an endpoint without keys is sent; no secret

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(/))")
_SHORT = 8  # characters, below which a key may be a part of an innocent word


class NoKey(ValueError):
    """There is no key where one is needed; the message does not repeat what was configured."""


def check_variable(name: str) -> None:
    """Raises ValueError where this cannot be a variable's name, as where the key itself was put there.

    The message does not repeat the name, which would show the key.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            "key_variable is no name of an environment variable (letters, digits and _, no digit first); put the key "
            f"into the environment, such as {KEY_VARIABLE}, and its variable's name here"
        )


def read_key(variable: str, needed: bool) -> str:
    """The key in the environment, NO_KEY where there is none and none is needed. Raises NoKey.

    Only the usual name is said: another may be a key that was mistaken for a name.
    """
    key = os.environ.get(variable, "")
    if not key and needed:
        name = KEY_VARIABLE if variable == KEY_VARIABLE else "the variable that key_variable names"
        raise NoKey(f"{name} is not set")
    return key or NO_KEY


def holds_key(text: str, key: str) -> bool:
    """Whether a text holds the key, in letters of either case, also where JSON writes characters as escapes.

    A short key, such as the word that some local servers are started with, counts as a word of its own only.
    """
    if not key or key == NO_KEY:
        return False
    key = key.casefold()
    for form in (text, _ESCAPE.sub(_unescaped, text)):
        form = form.casefold()
        if key in form and (len(key) >= _SHORT or re.search(rf"(?<!\w){re.escape(key)}(?!\w)", form)):
            return True
    return False


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match.group(1), 16)) if match.group(1) else match.group(2)
