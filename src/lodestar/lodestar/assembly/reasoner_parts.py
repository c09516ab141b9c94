"""Makes the reasoner that weighs for an expert.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

from lodestar.language.config import ReasonerConfig
from lodestar.language.reasoners import ReasonerHandle, make_reasoner


def reasoner(config: ReasonerConfig) -> ReasonerHandle:
    """Return the reasoner that ranks candidates and views for an expert; its owner closes it."""
    return make_reasoner(config)
