"""The eight queries of FARM's robot trial (table 10) on a perceived map of a world built for them."""

from __future__ import annotations

from dataclasses import dataclass

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
