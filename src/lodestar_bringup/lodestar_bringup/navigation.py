"""Adapt config/nav2.yaml and slam_toolbox.yaml, written for Jazzy and Kilted, to Humble and to a namespace."""

from __future__ import annotations

import re

# Humble's plugin libraries register these classes with a slash.
_SLASHED_IN_HUMBLE = ("nav2_smac_planner", "nav2_behaviors", "nav2_bt_navigator")
_TOPIC = re.compile(r"^(\s*(?:\w*topic|map_name): )/", re.MULTILINE)


def navigation_profile(text: str, distribution: str, namespace: str) -> str:
    """Return a Nav2 parameter file with the distribution's plugin names and with topics in the namespace.

    Distributions differ in how costmap layers resolve relative topics, so the file names absolute ones and the
    namespace is prepended here.
    """
    if distribution == "humble":
        for package in _SLASHED_IN_HUMBLE:
            text = text.replace(f"{package}::", f"{package}/")
    return _in_namespace(text, namespace)


def slam_profile(text: str, namespace: str) -> str:
    """Return a SLAM Toolbox parameter file with its absolute scan and map topics in a namespace."""
    return _in_namespace(text, namespace)


def _in_namespace(text: str, namespace: str) -> str:
    name = namespace.strip("/")
    return _TOPIC.sub(rf"\g<1>/{name}/", text) if name else text
