"""Makes the semantic-map expert.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

from lodestar.assembly.config import SemanticMapExpertConfig
from lodestar.experts.last_seen_goals import PlaceMemory
from lodestar.experts.semantic_map import SemanticMapExpert
from lodestar.language.reasoner import Reasoner
from lodestar.models.phrases import PhraseBook


def semantic_map_expert(
    config: SemanticMapExpertConfig,
    phrases: PhraseBook,
    mind: Reasoner,
    memory: PlaceMemory | None = None,
) -> SemanticMapExpert:
    """Return the expert that proposes viewpoints of known entities, and of where the memory last saw things."""
    return SemanticMapExpert(config.expert, phrases, mind, memory)
