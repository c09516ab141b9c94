"""Makes the scene dictionary and what serves it.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from lodestar.assembly.config import SceneDictionaryConfig
from lodestar.assembly.directive_fields import DirectiveFields
from lodestar.assembly.prior_parts import category_priors
from lodestar.assembly.shared import SharedConfig
from lodestar.grid.zone_growth import ZoneGrowth
from lodestar.language.parsers import QueryParser, make_parser
from lodestar.models.chat import OpenAiChat
from lodestar.models.phrases import PhraseBook
from lodestar.perception.captioner import make_describer
from lodestar.query.verdict import PoolCache
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.enrichment import Captioner, Enricher, EnrichmentTask, TemplateCaptioner
from lodestar.scene.moved_things import MovedThings
from lodestar.scene.vision_captioner import VisionCaptioner
from lodestar.storage.journal_file import JournalFile
from lodestar.worldmodel.scene_journal import KIND, OLDER, VERSION, Request

JOURNAL = "scene_dictionary.journal"  # name of the file in its folder

# The defaults, for those who measure a part by itself.
_KNOWING = SceneDictionaryConfig()


def scene_dictionary(config: SceneDictionaryConfig = _KNOWING) -> SceneDictionary:
    """Return an empty scene dictionary, which keeps the entities. Raises BadPriors for a bad `priors_file`."""
    return SceneDictionary(config.scene, priors=category_priors(config.scene.priors_file))


def moved_things(config: SceneDictionaryConfig, scene: SceneDictionary) -> MovedThings | None:
    """Return what archives the things of a loaded map that were seen elsewhere; None where it is switched off."""
    return MovedThings(scene) if config.archive_moved else None


def journal_file(folder: Path, run: str) -> JournalFile[Request]:
    """Return the journal of the scene's amendments in the folder of a run; one of another run is put aside.

    Raises OSError, UnsafeFolder.
    """
    return JournalFile(folder / JOURNAL, f"{KIND} of run {run}", VERSION, Request, OLDER)


def enricher(
    scene: SceneDictionary,
    phrases: PhraseBook,
    crops: Callable[[EnrichmentTask], Sequence[np.ndarray]],
    captioner: Captioner | None = None,
) -> Enricher:
    """Return the enricher that captions entities and embeds the captions. captioner: None = templates."""
    return Enricher(scene, captioner or TemplateCaptioner(), phrases, crops)


def vision_captioner(
    config: SceneDictionaryConfig,
    scene: SceneDictionary,
    crops: Callable[[EnrichmentTask], Sequence[np.ndarray]],
) -> tuple[VisionCaptioner, OpenAiChat]:
    """Return a captioner that asks a vision model, and its chat, which can cancel pending requests."""
    describer, chat = make_describer(config.captions.vision)
    return VisionCaptioner(describer, scene.return_enrichments, crops), chat


def directive_fields(phrases: PhraseBook, shared: SharedConfig) -> DirectiveFields:
    """Return the computation of a directive's similarity layers, and of keep-out zones with the fence."""
    return DirectiveFields(phrases, shared.query, shared.keep_out_distance, shared.fence)


def zone_growth(shared: SharedConfig) -> ZoneGrowth:
    """Return what keeps new zones open under the robot until it has left them."""
    return ZoneGrowth(shared.body)


def query_chat(config: SceneDictionaryConfig) -> OpenAiChat:
    """Return the language model that may read queries and rank what fits them. Nothing is connected to yet."""
    return OpenAiChat(config.parser.chat)


def query_pools() -> PoolCache:
    """Return what prepares the entities for scoring, and keeps them prepared until they change."""
    return PoolCache()


def query_parser(config: SceneDictionaryConfig, chat: OpenAiChat, warn: Callable[[str], None]) -> QueryParser:
    """Return the parser of queries in plain language."""
    return make_parser(config.parser, warn, chat)[0]
