"""Fit config/nav2.yaml, written for Jazzy and Kilted, to other distributions and to a namespace."""

from __future__ import annotations

import re

# Humble's plugin libraries register these classes with a slash.
_SLASHED_IN_HUMBLE = ("nav2_smac_planner", "nav2_behaviors", "nav2_bt_navigator")
_TOPIC = re.compile(r"^(\s*\w*topic: )/", re.MULTILINE)


def navigation_profile(text: str, distribution: str, namespace: str) -> str:
    """Return the text of a Nav2 parameter file with plugin names and absolute topics that fit.

    Costmap layers resolve relative topics differently from one distribution to the next, so the file names
    absolute ones and a namespace is put in front of them here.
    """
    if distribution == "humble":
        for package in _SLASHED_IN_HUMBLE:
            text = text.replace(f"{package}::", f"{package}/")
    if namespace.strip("/"):
        text = _TOPIC.sub(rf"\g<1>/{namespace.strip('/')}/", text)
    return text
