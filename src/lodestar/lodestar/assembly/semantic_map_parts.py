"""Makes the semantic-map expert.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

from lodestar.assembly import prior_parts
from lodestar.assembly.config import SemanticMapExpertConfig
from lodestar.experts.semantic_map import SemanticMapExpert
from lodestar.language.reasoner import Reasoner
from lodestar.models.phrases import PhraseBook


def semantic_map_expert(
    config: SemanticMapExpertConfig, phrases: PhraseBook, mind: Reasoner
) -> SemanticMapExpert:
    """Return the expert that proposes viewpoints of known entities. Raises BadPriors for a file of other content."""
    priors = prior_parts.category_priors(config.expert.last_seen.priors_file)
    return SemanticMapExpert(config.expert, phrases, mind, priors)
