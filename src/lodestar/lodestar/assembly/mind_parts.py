"""Makes what reads, decides and answers. See `parts`, which makes all else."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar.assembly.config import GoalSelectorConfig, MemoryConfig, SceneDictionaryConfig
from lodestar.assembly.parts import category_priors
from lodestar.assembly.shared import SharedConfig

if TYPE_CHECKING:
    from lodestar.agent.errands.context import LoopContext
    from lodestar.agent.loop.machine import DecisionLoop, PartKinds
    from lodestar.experts.specs import ExpertSpec
    from lodestar.grid.occupancy import OccupancyGrid2D
    from lodestar.language.config import ReasonerConfig
    from lodestar.language.directive import Directive
    from lodestar.language.likely_questions import LikelyQuestions
    from lodestar.language.parsers import QueryParser
    from lodestar.language.picture_goals import PictureReader
    from lodestar.language.reasoner import Reasoner
    from lodestar.language.reasoners import ReasonerHandle
    from lodestar.memory.answering.agent import ModelAnswerer
    from lodestar.memory.answering.agent_tools import Pictures
    from lodestar.memory.answering.answerer import Answerer
    from lodestar.memory.answering.config import AgentConfig, AnsweringConfig
    from lodestar.memory.answering.coverage import FloorLooks
    from lodestar.memory.answering.tools import Memories
    from lodestar.memory.evidence.selection import Selection
    from lodestar.memory.records import Memory
    from lodestar.memory.vision_captions import VisionCaptions
    from lodestar.models.chat import OpenAiChat
    from lodestar.models.phrases import PhraseBook
    from lodestar.perception.picture_config import PicturesConfig
    from lodestar.query.targets import SceneTargets
    from lodestar.query.verdict import PoolCache
    from lodestar.scene.mirror import SceneMirror
    from lodestar.selection.policy import Policy
    from lodestar.selection.reward import RewardModel
    from lodestar.worldmodel.advice import Adviser

_log = logging.getLogger(__name__)


# --- the decision loop and the experts -------------------------------------------------------------------------


def directive_parser() -> Callable[[str], Directive]:
    """Return the robot's parser of directives, its tables loaded: the grammar, which asks back about doubtful words.

    It raises DirectiveError, of which AmbiguousDirective asks back.
    """
    from lodestar.language.directive_parsers import AskingDirectives
    from lodestar.language.grammar import load_grammar
    from lodestar.language.model_directives import best_directive

    load_grammar()  # the first directive would wait for it on the loop's thread
    return partial(best_directive, AskingDirectives())


def grammar_parser() -> Callable[[str], Directive]:
    """Return the grammar alone, which takes doubtful readings too: what the robot's parser is compared with."""
    from lodestar.language.grammar import load_grammar, parse_directive

    load_grammar()
    return parse_directive


def directive_model(
    config: GoalSelectorConfig, warn: Callable[[str], None] = _log.warning
) -> tuple[Callable[[str], Directive], Callable[[], None]] | None:
    """Return a parser that asks a language model first, and what cancels its request; None where none is configured.

    The parser may take as long as `directive.chat.patience`. It raises DirectiveError.
    """
    from lodestar.language.model_directives import best_directive, make_directive_parser

    if not config.parser.asks_model:
        return None
    parser, cancel = make_directive_parser(config.parser, warn)
    return partial(best_directive, parser), cancel


def adviser(config: GoalSelectorConfig, warn: Callable[[str], None] = _log.warning) -> Adviser | None:
    """Return the language model that is asked about failures, to be closed; None where none is configured."""
    from lodestar.worldmodel.advice import make_adviser

    return make_adviser(config.advice, warn)


def policy(config: GoalSelectorConfig, rng: np.random.Generator | None = None) -> Policy:
    """Return the policy that chooses among the experts; it continues `selection.policy_state`.

    rng: None = the configured seed. Raises ValueError, OSError where that file is not for this policy.
    """
    from lodestar.selection.policies import policy_of

    rng = rng if rng is not None else np.random.default_rng(config.seed)
    return policy_of(config.selection, config.policy, config.experts, rng)


def reward_model(name: str) -> RewardModel:
    """Return the reward of a name, with its own numbers, for whoever reads a log. Raises ValueError where unknown."""
    from lodestar.selection.reward import make_reward

    return make_reward(name)


def scene_targets(shared: SharedConfig, phrases: PhraseBook) -> SceneTargets:
    """Return the resolver from a directive's step to the entities it means."""
    from lodestar.query.targets import SceneTargets

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
    from lodestar.agent.errands.context import make_context
    from lodestar.selection.reward import make_reward
    from lodestar.worldmodel.skills import skills_with

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
    kinds: PartKinds | None = None,
) -> DecisionLoop:
    """Return the loop that follows directives. prefix: of the ids of its questions to the operator. advises: what
    `adviser` returned. kinds: of parts that a comparison replaces. Raises BadSkills for a file of skills that is none.
    """
    from lodestar.agent.loop.machine import OWN_PARTS, DecisionLoop

    return DecisionLoop(loop_context(config, shared, phrases, chooser, prefix, advises), kinds or OWN_PARTS)


def expert(
    spec: ExpertSpec, config: Any = None, phrases: PhraseBook | None = None, mind: Reasoner | None = None
) -> Any:
    """Return the expert of a spec. config: None = its defaults. mind: what it asks, where its configuration has a
    `reasoner`. Raises what the factory raises, ValueError where the expert goes by another name than its spec.
    """
    from lodestar.experts.specs import ExpertTools

    made = spec.make(config or spec.config(), ExpertTools(phrases, mind, category_priors))
    if made.name != spec.name:
        raise ValueError(
            f"the expert of the spec {spec.name!r} calls itself {made.name!r}: one name for both"
        )
    return made


def reasoner(config: ReasonerConfig) -> ReasonerHandle:
    """Return the reasoner that ranks candidates and views for an expert; its owner closes it."""
    from lodestar.language.reasoners import make_reasoner

    return make_reasoner(config)


# --- memory, queries and pictures ------------------------------------------------------------------------------


def answerer(
    memories: Memories,
    phrases: PhraseBook,
    scene: SceneMirror,
    config: AnsweringConfig | None = None,
    *,
    grid: OccupancyGrid2D | None = None,
    looks: FloorLooks | None = None,
    use_scene: bool = True,
    select: Selection | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Answerer:
    """Return what answers over a store, a scene that does not change meanwhile, and the floor; see `Tools`."""
    from lodestar.memory.answering.answerer import Answerer
    from lodestar.memory.answering.tools import Tools

    tools = Tools(memories, phrases, scene, select, use_scene, grid, looks, cancelled)
    return Answerer(tools, config)


def likely_questions(phrases: PhraseBook, config: AnsweringConfig | None = None) -> LikelyQuestions:
    """Return what finds the plain question behind other words; it computes vectors when it is first asked."""
    from lodestar.language.likely_questions import LikelyQuestions
    from lodestar.memory.answering.config import AnsweringConfig

    return LikelyQuestions(lambda said: phrases.vectors(tuple(said)), (config or AnsweringConfig()).likely)


def answer_chat(config: AgentConfig) -> OpenAiChat | None:
    """Return the language model that may answer, None where none is configured. Nothing is connected to yet."""
    from lodestar.memory.answering.agent import make_answer_chat

    return make_answer_chat(config)


def model_answerer(
    offline: Answerer,
    chat: OpenAiChat,
    config: AgentConfig,
    *,
    pictures: Pictures | None = None,
    warn: Callable[[str], None] = _log.warning,
    begin: Callable[[], None] = lambda: None,
) -> ModelAnswerer:
    """Return what asks the language model where the offline answer is not sure.

    begin: called before the model is asked. See `ModelAnswerer` for the others.
    """
    from lodestar.memory.answering.agent import ModelAnswerer

    def start() -> None:
        chat.begin_task()
        begin()

    return ModelAnswerer(chat, offline, config, pictures=pictures, warn=warn, begin=start, cancel=chat.cancel)


def segment_captions(
    config: MemoryConfig, image_of: Callable[[Memory], bytes]
) -> tuple[VisionCaptions, OpenAiChat] | None:
    """Return a vision model that captions segments, and its chat; None where none is configured."""
    from lodestar.memory.vision_captions import make_vision_captions

    return make_vision_captions(config.captions, image_of)


def query_chat(config: SceneDictionaryConfig) -> OpenAiChat:
    """Return the language model that may read queries and rank what fits them. Nothing is connected to yet."""
    from lodestar.models.chat import OpenAiChat

    return OpenAiChat(config.parser.chat)


def query_pools() -> PoolCache:
    """Return what prepares the entities for scoring, and keeps them prepared until they change."""
    from lodestar.query.verdict import PoolCache

    return PoolCache()


def query_parser(config: SceneDictionaryConfig, chat: OpenAiChat, warn: Callable[[str], None]) -> QueryParser:
    """Return the parser of queries in plain language."""
    from lodestar.language.parsers import make_parser

    return make_parser(config.parser, warn, chat)[0]


def picture_reader(config: PicturesConfig) -> PictureReader:
    """Return the reader of picture files of a target. Nothing is loaded or connected to before the first picture."""
    from lodestar.assembly.parts import color_detector
    from lodestar.language.model_reasoner import ModelPictures
    from lodestar.language.picture_goals import DetectedPictures, unread
    from lodestar.models.chat import OpenAiChat

    if config.adapter == "model":
        return ModelPictures(OpenAiChat(config.chat), config.file)
    if config.adapter == "detector":
        return DetectedPictures(color_detector(config.detector, checked=False), config.file)
    return lambda image: unread(image, config.file)
