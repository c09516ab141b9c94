"""Makes the frontier expert.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

from lodestar.assembly.config import FrontierExpertConfig
from lodestar.experts.frontier import FrontierExpert
from lodestar.models.phrases import PhraseBook


def frontier_expert(config: FrontierExpertConfig, phrases: PhraseBook | None = None) -> FrontierExpert:
    """Return the frontier expert. phrases: None = it does not estimate where a target is likely."""
    return FrontierExpert(config.expert, phrases if config.expectation else None)
