"""The `query` action: finds the entities of a scene that a text describes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lodestar.assembly.config import SceneDictionaryConfig
from lodestar.language.directive import EmptyDirective, NotUnderstood
from lodestar.language.parsers import make_parser
from lodestar.models.chat import OpenAiChat
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.query.ambiguity import tell_apart
from lodestar.query.rerank import rerank
from lodestar.query.verdict import Candidate, PoolCache, decide, score_pool
from lodestar.scene.records import Entity
from lodestar.scene.regions import RegionMap
from lodestar_interfaces import msg
from lodestar_interfaces.action import QueryScene
from lodestar_ros.codec import BadMessage, codec
from lodestar_ros.conversions_language import graph_from_msg, graph_to_msg
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import ActionWorker, Job, Refused

DEFAULT_TOP = 10
Result = QueryScene.Result

candidate_to_msg, _ = codec(
    Candidate,
    msg.QueryCandidate,
    to={
        "bindings": lambda candidate, _: [
            msg.AnchorBinding(variable=int(variable), entity_id=int(entity), score=1.0)
            for variable, entity in candidate.bindings.items()
        ]
    },
)


class QueryServer:
    """Serves ``~/query`` on a worker. entities() and rooms() return the current scene."""

    def __init__(
        self,
        node: LodestarNode,
        entities: Callable[[], Mapping[int, Entity]],
        rooms: Callable[[], RegionMap],
        phrases: PhraseBook,
        config: SceneDictionaryConfig,
    ) -> None:
        self._entities, self._rooms, self._phrases = entities, rooms, phrases
        self._config = node.shared.query
        self._pools = PoolCache()
        self._warn = node.get_logger().warning
        self._seeing, self._chat = config.rerank, OpenAiChat(config.parser.chat)
        self._parser = make_parser(config.parser, self._warn, self._chat)[0]
        node.on_close(self._chat.cancel)
        errors: dict[type[Exception], int] = {
            EmptyDirective: Result.EMPTY_QUERY,
            NotUnderstood: Result.NOT_UNDERSTOOD,
            BadMessage: Result.NOT_UNDERSTOOD,
        }
        ActionWorker(node, QueryScene, "~/query", self._query, errors)

    def _query(self, job: Job) -> Any:
        """Return the best entities for a query. Runs on the worker; raises Refused."""
        request = job.request
        entities = self._entities()
        self._chat.begin_task()
        try:
            if request.text.strip() or not request.graphs:
                graphs = self._parser.parse(request.text)
            else:
                graphs = tuple(graph_from_msg(graph) for graph in request.graphs)
            rooms = self._rooms()
            pool = self._pools.of(entities, self._phrases, self._config, rooms.regions, rooms)
            top = request.top_k or DEFAULT_TOP
            candidates = score_pool(graphs, pool, explained=max(top, self._config.explained))
            graph = graphs[candidates[0].reading if candidates else 0]
            absent = pool.absent(graph)
            apart = False
            if self._seeing.rerank or request.rerank:
                candidates, apart = rerank(
                    request.text, graph, candidates, entities, self._chat, self._seeing, self._warn
                )
        except MissingPhrases as error:
            why = f"the text embedder does not answer: {error}"
            raise Refused(Result.EMBEDDER_UNAVAILABLE, why) from error
        if job.cancel_requested:
            raise Refused(Result.CANCELLED, "cancelled")
        if not entities:
            raise Refused(Result.NO_ENTITIES, "the scene is still empty")
        result = Result(graph=graph_to_msg(graph))
        result.candidates = [candidate_to_msg(candidate) for candidate in candidates[:top]]
        verdict = decide(candidates, self._config)
        if absent:
            result.error_code = Result.ANCHOR_ABSENT
            result.error_msg = f"the scene has no {', '.join(absent)}; candidates are ranked without it"
        elif verdict.best is None:
            result.error_code = Result.NO_MATCH
            result.error_msg = "no entity fits; the candidates are the nearest matches"
        elif verdict.ambiguous and not apart:
            result.error_code = Result.AMBIGUOUS
            first, second = verdict.accepted[:2]
            result.error_msg = f"too close to call: {tell_apart(first, second, entities)}"
        return result
