"""Reading of a model endpoint's key from the environment, and protection of the key in messages and files."""

from __future__ import annotations

import os
import re

KEY_VARIABLE = "OPENAI_API_KEY"
NO_KEY = "none"  # sent to endpoints without keys; not a secret

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(/))")
_SHORT = 8  # characters; a shorter key may be part of an ordinary word


class NoKey(ValueError):
    """Error: a required key is missing. The message does not repeat the configuration."""


def check_variable(name: str) -> None:
    """Raise ValueError if this cannot be a variable's name, for example because it is the key itself.

    The message does not repeat the name, which could reveal the key.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            "key_variable is not a valid environment variable name (letters, digits and _, no digit first); put the "
            f"key into the environment, such as {KEY_VARIABLE}, and its variable's name here"
        )


def read_key(variable: str, needed: bool) -> str:
    """Return the key from the environment, or NO_KEY if it is absent and not needed. Raises NoKey.

    The message names only the default variable: any other name may be a key entered by mistake.
    """
    key = os.environ.get(variable, "")
    if not key and needed:
        name = KEY_VARIABLE if variable == KEY_VARIABLE else "the variable that key_variable names"
        raise NoKey(f"{name} is not set")
    return key or NO_KEY


def holds_key(text: str, key: str) -> bool:
    """Return whether a text contains the key, in either case and also as JSON escapes.

    A short key, such as the placeholder of some local servers, is matched as a whole word only.
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
