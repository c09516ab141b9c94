"""Registry of the experts: the only place that defines an expert's name, prior, colour and topics.

Assembly, selection, the list of processes, the set-up check (doctor), markers and the benchmarks read it
(docs/how-to/extend.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lodestar.experts.config import EgoVlmExpertConfig, FrontierExpertConfig, SemanticMapExpertConfig
from lodestar.experts.specs import ExpertSpec, ExpertTools, Role

if TYPE_CHECKING:
    from lodestar.experts.egocentric import EgocentricExpert
    from lodestar.experts.frontier import FrontierExpert
    from lodestar.experts.semantic_map import SemanticMapExpert


def _frontier(config: FrontierExpertConfig, tools: ExpertTools) -> FrontierExpert:
    from lodestar.experts.frontier import FrontierExpert

    return FrontierExpert(config.expert, tools.phrases if config.expectation else None)


def _semantic_map(config: SemanticMapExpertConfig, tools: ExpertTools) -> SemanticMapExpert:
    """Return the semantic-map expert. Raises BadPriors for an invalid priors file."""
    from lodestar.experts.semantic_map import SemanticMapExpert

    priors = tools.priors(config.expert.last_seen.priors_file)
    return SemanticMapExpert(config.expert, tools.book(), tools.mind(), priors)


def _ego_vlm(config: EgoVlmExpertConfig, tools: ExpertTools) -> EgocentricExpert:
    from lodestar.experts.egocentric import EgocentricExpert

    return EgocentricExpert(config.expert, tools.book(), tools.mind())


# Priors are in units of the reward (RoboAtlas Table I), whose largest term is success. A frontier is rewarded by the
# area that it would reveal, less as more is known. The map and view experts are rewarded by their probability of being
# right, which is their confidence. Backtracking and long drives cost. App. A has no confidence; "max_similarity"
# replaces it.

FRONTIER = ExpertSpec(
    "frontier",
    FrontierExpertConfig,
    _frontier,
    color=(0.243, 0.486, 0.694),
    roles=frozenset({Role.EXPLORER}),
    prior={"bias": 0.4, "coverage": -0.2, "confidence": 0.6, "backtracking": -0.3, "distance": -1.0},
    turns=2,
    publishes=("frontiers",),
    recorded=("frontiers",),
    executable="frontier_expert",
)

SEMANTIC_MAP = ExpertSpec(
    "semantic_map",
    SemanticMapExpertConfig,
    _semantic_map,
    color=(0.490, 0.310, 0.702),
    roles=frozenset({Role.MAP_EXPERT}),
    prior={"bias": -0.1, "confidence": 2.0, "max_similarity": 1.2, "backtracking": -0.2, "distance": -1.0},
    executable="semantic_map_expert",
)

EGO_VLM = ExpertSpec(
    "ego_vlm",
    EgoVlmExpertConfig,
    _ego_vlm,
    color=(0.761, 0.341, 0.102),
    roles=frozenset({Role.VIEWER}),
    prior={"bias": -0.2, "confidence": 2.0, "backtracking": -0.2, "distance": -1.0},
    publishes=("scene_description",),
    shown={"annotate": True},
    executable="ego_vlm_expert",
)

# In the order of the policy's arms. Substitutes for an expert without a goal are tried in this order too: the geometric
# expert is first, because it almost always has a goal.
_specs: tuple[ExpertSpec, ...] = (FRONTIER, SEMANTIC_MAP, EGO_VLM)


def experts() -> tuple[ExpertSpec, ...]:
    """Return every expert, in the order of the policy's arms."""
    return _specs


def expert_names() -> tuple[str, ...]:
    """Return the names of all experts, in the order of the policy's arms."""
    return tuple(spec.name for spec in _specs)


def expert_spec(name: str) -> ExpertSpec:
    """Return the spec of an expert by its name or its node's name. Raises KeyError, which lists the known names."""
    for spec in _specs:
        if name in (spec.name, spec.node):
            return spec
    raise KeyError(f"there is no expert {name!r}; there are {', '.join(expert_names())}")


def holder(role: Role) -> str:
    """Return the name of the expert with this role; each role has one."""
    return next(spec.name for spec in _specs if role in spec.roles)


def register(spec: ExpertSpec) -> None:
    """Add an expert after the existing ones. Raises ValueError if its name, a role or a topic is taken."""
    global _specs
    for other in _specs:
        if spec.name == other.name:
            raise ValueError(f"there is an expert {spec.name!r} already: give yours another name")
        if shared := spec.roles & other.roles:
            raise ValueError(f"{other.name} is the {next(iter(shared)).value}: a role has one holder")
        if topics := set(spec.publishes) & set(other.publishes):
            raise ValueError(f"{other.name} publishes {', '.join(sorted(topics))}: name yours otherwise")
    _specs = (*_specs, spec)


@contextmanager
def registered(spec: ExpertSpec) -> Iterator[ExpertSpec]:
    """Register an expert within a block."""
    global _specs
    before = _specs
    register(spec)
    try:
        yield spec
    finally:
        _specs = before
