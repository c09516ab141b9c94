"""Association rules by name."""

from __future__ import annotations

from lodestar.mapping.association import Rule
from lodestar.mapping.config import AssociationConfig, SplitConfig
from lodestar.mapping.rule_farm import FarmRule
from lodestar.mapping.rule_lodestar import LodestarRule
from lodestar.mapping.rule_openvox import OpenVoxRule

RULES = ("lodestar", "openvox", "farm")


def make_rule(config: AssociationConfig, splitting: SplitConfig) -> Rule:
    """Return a new rule of the configured name. Raises ValueError for an unknown name."""
    if config.rule == "lodestar":
        return LodestarRule(config, splitting)
    if config.rule == "openvox":
        return OpenVoxRule(config.openvox)
    if config.rule == "farm":
        return FarmRule(config.farm)
    raise ValueError(f"there is no rule of association {config.rule!r}; there are {', '.join(RULES)}")
