"""Scripted language model for tests of answers from the memory."""

from __future__ import annotations

import json


def call(tool, text="", **changes):
    empty = {"from_ago": None, "to_ago": None, "x": None, "y": None, "radius": None, "ids": []}
    return {"tool": tool, "text": text, **empty, **changes}


def claim(text, evidence, **changes):
    empty = {"thing": "chair", "place": None, "seconds_ago": None, "number": None}
    return {"text": text, "evidence": list(evidence), **empty, **changes}


def said(calls=(), claims=(), yes=None):
    return json.dumps({"calls": list(calls), "claims": list(claims), "yes": yes})


class Model:
    """Gives its answers in turn, and keeps the prompts."""

    def __init__(self, *lines):
        self.lines, self.users, self.images = list(lines), [], []

    def complete(self, system, user, schema, images=(), shorter=None):
        self.users.append(user)
        self.images.append(list(images))
        line = self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]
        if isinstance(line, Exception):
            raise line
        return line
