"""Makes the decision loop, its policy, and the readers of directives.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

import numpy as np

from lodestar.agent.errands.context import LoopContext, make_context
from lodestar.agent.loop.machine import OWN_PARTS, DecisionLoop, PartKinds
from lodestar.assembly.config import GoalSelectorConfig
from lodestar.assembly.prior_parts import category_priors
from lodestar.assembly.shared import SharedConfig
from lodestar.language.directive import Directive
from lodestar.language.directive_parsers import AskingDirectives
from lodestar.language.grammar import load_grammar, parse_directive
from lodestar.language.model_directives import best_directive, make_directive_parser
from lodestar.models.phrases import PhraseBook
from lodestar.query.targets import SceneTargets
from lodestar.selection.policies import policy_of
from lodestar.selection.policy import Policy
from lodestar.selection.reward import RewardModel, make_reward
from lodestar.worldmodel.advice import Adviser, make_adviser
from lodestar.worldmodel.skills import skills_with

_log = logging.getLogger(__name__)


def directive_parser() -> Callable[[str], Directive]:
    """Return the robot's parser of directives, its tables loaded: the grammar, which asks back about doubtful words.

    It raises DirectiveError, of which AmbiguousDirective asks back.
    """
    load_grammar()  # the first directive would wait for it on the loop's thread
    return partial(best_directive, AskingDirectives())


def grammar_parser() -> Callable[[str], Directive]:
    """Return the grammar alone, which takes doubtful readings too: what the robot's parser is compared with."""
    load_grammar()
    return parse_directive


def directive_model(
    config: GoalSelectorConfig, warn: Callable[[str], None] = _log.warning
) -> tuple[Callable[[str], Directive], Callable[[], None]] | None:
    """Return a parser that asks a language model first, and what cancels its request; None where none is configured.

    The parser may take as long as `directive.chat.patience`. It raises DirectiveError.
    """
    if not config.parser.asks_model:
        return None
    parser, cancel = make_directive_parser(config.parser, warn)
    return partial(best_directive, parser), cancel


def adviser(config: GoalSelectorConfig, warn: Callable[[str], None] = _log.warning) -> Adviser | None:
    """Return the language model that is asked about failures, to be closed; None where none is configured."""
    return make_adviser(config.advice, warn)


def policy(config: GoalSelectorConfig, rng: np.random.Generator | None = None) -> Policy:
    """Return the policy that chooses among the experts; it continues `selection.policy_state`.

    rng: None = the configured seed. Raises ValueError, OSError where that file is not for this policy.
    """
    rng = rng if rng is not None else np.random.default_rng(config.seed)
    return policy_of(config.selection, config.policy, config.experts, rng)


def reward_model(name: str) -> RewardModel:
    """Return the reward of a name, with its own numbers, for whoever reads a log. Raises ValueError where unknown."""
    return make_reward(name)


def scene_targets(shared: SharedConfig, phrases: PhraseBook) -> SceneTargets:
    """Return the resolver from a directive's step to the entities it means."""
    return SceneTargets(phrases, shared.query, shared.keep_out_distance)


def loop_context(
    config: GoalSelectorConfig,
    shared: SharedConfig,
    phrases: PhraseBook,
    chooser: Policy,
    prefix: str = "q",
    advises: Adviser | None = None,
) -> LoopContext:
    """Return what the parts of a loop share, in which nothing is known yet. prefix, advises: as of `decision_loop`."""
    return make_context(
        config.loop,
        chooser,
        phrases,
        config.experts,
        targets=scene_targets(shared, phrases),
        context=config.context,
        features=config.selection.features,
        rewards=make_reward(config.selection.reward, config.reward, config.sequence_reward),
        prefix=prefix,
        adviser=advises,
        skills=skills_with(config.skills_file),
        priors=category_priors(config.loop.priors_file),
    )


def decision_loop(
    config: GoalSelectorConfig,
    shared: SharedConfig,
    phrases: PhraseBook,
    chooser: Policy,
    prefix: str = "q",
    advises: Adviser | None = None,
    kinds: PartKinds = OWN_PARTS,
) -> DecisionLoop:
    """Return the loop that follows directives. prefix: of the ids of its questions to the operator. advises: what
    `adviser` returned. kinds: of parts that a comparison replaces. Raises BadSkills for a file of skills that is none.
    """
    return DecisionLoop(loop_context(config, shared, phrases, chooser, prefix, advises), kinds)
