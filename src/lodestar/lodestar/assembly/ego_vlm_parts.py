"""Makes the egocentric expert.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

from lodestar.assembly.config import EgoVlmExpertConfig
from lodestar.experts.egocentric import EgocentricExpert
from lodestar.language.reasoner import Reasoner
from lodestar.models.phrases import PhraseBook


def ego_vlm_expert(config: EgoVlmExpertConfig, phrases: PhraseBook, mind: Reasoner) -> EgocentricExpert:
    """Return the expert that proposes goals from the current view."""
    return EgocentricExpert(config.expert, phrases, mind)
