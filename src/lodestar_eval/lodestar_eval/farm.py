"""The eight queries of FARM's robot trial (table 10) on a perceived map of a world built for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lodestar.query.config import QueryConfig
from lodestar_eval.metrics import mean
from lodestar_eval.perceived_maps import ask, perceive
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.settings import EpisodeSettings
from lodestar_sim.worlds import world_from_spec

WORLD = "laboratory"


@dataclass(frozen=True)
class FarmQuery:
    """A sentence of table 10, its relation, and the objects of the world that it describes."""

    text: str
    relation: str
    targets: tuple[int, ...]


#: Each query has similar objects as distractors: four doors; nine boxes, one of plastic and one on the white table;
#: four chairs, three of them gray; two purple office chairs, and a black one that is nearer to a package.
QUERIES = (
    FarmQuery("door to the right of the sofa", "RightOf", (1,)),
    FarmQuery("cardboard package in front of the trash can", "InFrontOf", (26,)),
    FarmQuery("cardboard package under a table", "Below", (20, 22)),
    FarmQuery("cardboard package under a white table", "Below", (20,)),
    FarmQuery("cardboard package next to a humanoid robot", "NextTo", (32,)),
    FarmQuery("chair between a white table and a robot", "Between", (40, 41)),
    FarmQuery("gray fabric chair between a white table and a robot", "Between", (40,)),
    FarmQuery("purple office chair closest to a package", "Closest", (51,)),
)


def run_farm(tours: int, progress: Callable[[str], None]) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Return metrics over tours of seeds 1-`tours`, and a table row per query and tour. `farm.right`: number
    of right answers in the worst tour.
    """
    book, world, settings = phrase_book(), world_from_spec(WORLD), EpisodeSettings()
    rows: list[dict[str, Any]] = []
    right: list[int] = []
    for seed in range(1, tours + 1):
        perceived = perceive(world, seed, book, settings)
        found = [ask(f"{WORLD} {seed}", q.text, q.relation, q.targets, perceived, book) for q in QUERIES]
        rows.extend(found)
        right.append(sum(row["rank"] == 1 for row in found))
        progress(f"tour {seed}: {len(perceived.entities)} entities, {right[-1]} of {len(QUERIES)} right")
    accept = QueryConfig().accept
    return {
        "farm.right": float(min(right)),
        "farm.right_mean": mean([float(count) for count in right]),
        "farm.accepted": mean([float(row["score"] >= accept) for row in rows if row["rank"] == 1]),
        "farm.embedding_right": sum(row["embedding_rank"] == 1 for row in rows) / tours,
        "farm.never_in_map": mean([float(not row["in_map"]) for row in rows]),
        "farm.tours": float(tours),
    }, rows
