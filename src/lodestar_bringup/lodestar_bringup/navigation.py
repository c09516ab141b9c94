"""Fit config/nav2.yaml and slam_toolbox.yaml, written for Jazzy and Kilted, to Humble and to a namespace."""

from __future__ import annotations

import re

# Humble's plugin libraries register these classes with a slash.
_SLASHED_IN_HUMBLE = ("nav2_smac_planner", "nav2_behaviors", "nav2_bt_navigator")
_TOPIC = re.compile(r"^(\s*(?:\w*topic|map_name): )/", re.MULTILINE)


def navigation_profile(text: str, distribution: str, namespace: str) -> str:
    """Return the text of a Nav2 parameter file with plugin names and absolute topics that fit.

    Costmap layers resolve relative topics differently from one distribution to the next, so the file names
    absolute ones and a namespace is put in front of them here.
    """
    if distribution == "humble":
        for package in _SLASHED_IN_HUMBLE:
            text = text.replace(f"{package}::", f"{package}/")
    return _in_namespace(text, namespace)


def slam_profile(text: str, namespace: str) -> str:
    """Return the text of a SLAM Toolbox parameter file whose absolute scan and map topics are in a namespace."""
    return _in_namespace(text, namespace)


def _in_namespace(text: str, namespace: str) -> str:
    name = namespace.strip("/")
    return _TOPIC.sub(rf"\g<1>/{name}/", text) if name else text
