"""Tests of fields of any text over the floor plan, updated incrementally, and of a directive's zones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from query_builders import room, thing

from lodestar.grid.occupancy import FREE, OccupancyGrid2D
from lodestar.language.directive import Constraint, ConstraintKind, Directive, Item, Step, StepKind
from lodestar.language.grammar import parse_directive, parse_query
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.mapping.instances.pillars import PillarMap, build_pillars
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.query import fields as fields_module
from lodestar.query.config import QueryConfig
from lodestar.query.fields import SimilarityFields, layer_queries
from lodestar.query.keep_out import KeepOutZones, keep_out_mask
from lodestar.query.verdict import score_query
from lodestar.scene.records import EntityState, Region
from lodestar.scene.regions import RegionMap

CONFIG = QueryConfig()


def pillars_of(entities, resolution=0.1, revision=1) -> PillarMap:
    """Return the pillars of boxes filled with points."""
    points, ids = [], []
    for entity in entities.values():
        axes = [np.arange(low + 0.025, high, 0.05) for low, high in zip(entity.box_min, entity.box_max)]
        cloud = np.stack(np.meshgrid(*[a if len(a) else np.zeros(1) for a in axes]), -1).reshape(-1, 3)
        points.append(cloud)
        ids.append(np.full(len(cloud), entity.id, np.int32))
    return build_pillars(np.vstack(points), np.concatenate(ids), resolution, revision)


def queries_of(texts):
    return [parse_query(text) for text in texts]


def direct(texts, entities, pillars) -> np.ndarray:
    """Return the field by definition, from every entity and every cell."""
    best = np.zeros(int(pillars.ids.max()) + 1, np.float32)
    for text in texts:
        for candidate in score_query(parse_query(text), entities, PhraseBook(), CONFIG):
            if candidate.entity_id < len(best):
                best[candidate.entity_id] = max(best[candidate.entity_id], candidate.semantic_score)
    return best[pillars.ids].max(axis=0)


def test_a_field_is_the_best_score_of_each_pillars_instances():
    entities, fields = room(), SimilarityFields(PhraseBook(), CONFIG)
    pillars = pillars_of(entities)
    fields.follow(entities)
    for texts in (["red chair"], ["mug"], ["desk", "box"], ["the chair next to the desk"]):
        field = fields.field("target", queries_of(texts), pillars)
        assert field == pytest.approx(direct(texts, entities, pillars), abs=1e-6)
    over_desk = np.floor((np.array([1.05, 0.55]) - pillars.origin) / pillars.resolution).astype(int)
    mug = fields.field("target", queries_of(["mug"]), pillars)
    assert mug[over_desk[1], over_desk[0]] == pytest.approx(1.0), "the mug on the desk wins over the desk"


def test_a_text_is_scored_once_per_kind_and_again_only_for_new_kinds(monkeypatch):
    asked, semantic_scores = [], fields_module.semantic_scores
    monkeypatch.setattr(
        fields_module,
        "semantic_scores",
        lambda g, pool: asked.append(len(pool.entities)) or semantic_scores(g, pool),
    )
    base = room()
    entities = {i: replace(base[1 + i % 3], id=i) for i in range(1, 61)}
    fields = SimilarityFields(PhraseBook(), CONFIG)
    fields.follow(entities)
    fields.scores(parse_query("red chair"))
    assert asked == [3]
    entities[61] = replace(base[4], id=61)
    entities[7] = replace(entities[8], id=7)
    fields.follow(entities)
    scores = fields.scores(parse_query("red chair"))
    assert asked == [3, 1]
    assert scores[7] == scores[8] and scores[61] == pytest.approx(1.0)
    fields.scores(parse_query("red chair"))
    assert asked == [3, 1]


def test_words_anywhere_in_a_caption_count_where_they_are_asked_for():
    entities = room()
    captions = (
        "red office chair next to a padded wall",
        "red office chair that is padded",
        "red office chair",
    )
    for number, caption in enumerate(captions):
        entities[20 + number] = thing(20 + number, "chair", caption, (5, number, 0), (5.4, number + 0.4, 0.9))
    fields = SimilarityFields(PhraseBook(), CONFIG)
    fields.follow(entities)
    padded, plain = fields.scores(parse_query("padded chair")).copy(), fields.scores(parse_query("red chair"))
    assert padded[20] == padded[21] > padded[22] > 0.0
    assert plain[20] == plain[21] == plain[22]
    entities[22] = replace(entities[22], caption="red office chair, padded")
    fields.follow(entities)
    assert fields.scores(parse_query("padded chair"))[22] == padded[20]


def test_an_unchanged_plan_is_not_drawn_again(monkeypatch):
    entities, fields = room(), SimilarityFields(PhraseBook(), CONFIG)
    pillars = pillars_of(entities)
    fields.follow(entities)
    first = fields.field("target", queries_of(["chair"]), pillars)
    monkeypatch.setattr(fields_module, "_best", lambda *_: pytest.fail("drawn anew"))
    assert np.array_equal(fields.field("target", queries_of(["chair"]), pillars), first)
    entities[7] = replace(entities[7], state=EntityState.ARCHIVED)
    fields.follow(entities)
    later = fields.field("target", queries_of(["chair"]), pillars)
    assert np.array_equal(later, direct(["chair"], entities, pillars))
    assert later.sum() < first.sum()


def test_without_a_vector_the_texts_are_worked_out_again_later():
    entities = room() | {12: thing(12, "gizmo", "gizmo", (7, 0, 0), (7.5, 0.5, 0.5))}
    book = PhraseBook()
    fields = SimilarityFields(book, CONFIG)
    fields.follow(entities)
    with pytest.raises(MissingPhrases):
        fields.scores(parse_query("frobnicator"))
    names = ["frobnicator", *{e.label for e in entities.values()}]
    book.add(names, np.eye(32, dtype=np.float32)[: len(names)] + 0.01, "made up")
    assert fields.scores(parse_query("frobnicator"))[12] < 0.3
    entities[13] = thing(13, "doodad", "doodad", (8, 0, 0), (8.5, 0.5, 0.5))
    with pytest.raises(MissingPhrases):
        fields.follow(entities)
    book.add(["doodad"], book.vectors(["frobnicator"]), "made up")
    fields.follow(entities)
    assert fields.scores(parse_query("frobnicator"))[13] > 0.9


CHANGES = st.lists(
    st.tuples(st.sampled_from(["move", "kind", "archive", "remove", "add", "grow"]), st.integers(1, 15)),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(CHANGES)
def test_bit_by_bit_and_all_at_once_agree(changes):
    kinds = list(room().values())
    entities, fields = room(), SimilarityFields(PhraseBook(), CONFIG)
    revision = 1
    for change, identity in changes:
        if change in ("add", "kind"):
            entities[identity] = replace(kinds[(identity * 7 + revision) % len(kinds)], id=identity)
        elif identity in entities and change == "archive":
            entities[identity] = replace(entities[identity], state=EntityState.ARCHIVED)
        elif change == "remove" and len(entities) > 1:
            entities.pop(identity, None)
        elif identity in entities:
            shift = (5.0, 0, 0) if change == "grow" else (0.2, 0, 0)
            e = entities[identity]
            entities[identity] = replace(e, box_min=e.box_min + shift, box_max=e.box_max + shift)
        revision += 1
        pillars = pillars_of(entities, 0.2, revision)
        fields.follow(entities)
        assert np.allclose(
            fields.field("target", queries_of(["red chair"]), pillars),
            direct(["red chair"], entities, pillars),
        )


def test_layers_of_a_directive():
    directive = parse_directive("find the red chair next to the desk; keep away from the wet floor")
    layers = layer_queries(directive)
    said = {layer: [str(graph) for query in queries for graph in query] for layer, queries in layers.items()}
    assert said == {
        "target": ["x0 'red chair': HasAttribute(x0, red)"],
        "neighbor": ["x0 'desk'"],
        "constraint": ["x0 'wet floor'"],
    }


# --- keep-out zones ------------------------------------------------------------------------------------


def open_grid(size=12.0, resolution=0.1) -> OccupancyGrid2D:
    cells = np.full((round(size / resolution),) * 2, FREE, np.int8)
    return OccupancyGrid2D(cells, resolution, (-2.0, -2.0))


def zones_of(text):
    zones = KeepOutZones(PhraseBook(), CONFIG)
    zones.follow(parse_directive(text))
    return zones


@pytest.mark.parametrize("distance", [0.3, 1.0, 2.5])
def test_the_stated_distance_is_kept_and_not_much_more(distance):
    zones = zones_of(f"find the chair; keep {distance} m away from the wet floor")
    grid, entities = open_grid(), room()
    mask = zones.mask(grid, entities, pillars_of(entities))
    cells = np.argwhere(np.ones_like(mask))
    points = grid.points_of(cells)
    puddle = entities[9]
    gap = np.linalg.norm(
        np.maximum(np.maximum(puddle.box_min[:2] - points, points - puddle.box_max[:2]), 0), axis=1
    )
    barred = mask.reshape(-1)
    assert barred[gap <= distance].all()
    assert not barred[gap > distance + 3 * grid.resolution].any()


def test_only_what_is_meant_is_kept_away_from():
    grid, entities = open_grid(), room()
    pillars = pillars_of(entities)
    near_desk = zones_of("find the mug; keep 0.5 m away from the red chair next to the desk").mask(
        grid, entities, pillars
    )
    every_red = zones_of("find the mug; keep 0.5 m away from the red chair").mask(grid, entities, pillars)
    first, other = (grid.cells_of(entities[i].mean[None, :2])[0] for i in (1, 4))
    assert near_desk[tuple(first)] and not near_desk[tuple(other)]
    assert every_red[tuple(first)] and every_red[tuple(other)]


def test_no_constraint_no_mask_and_nothing_like_it_no_zone():
    grid, entities = open_grid(), room()
    zones = zones_of("find the chair")
    assert not zones.active and zones.mask(grid, entities, pillars_of(entities)) is None
    zones.follow(parse_directive("find the chair; keep away from the piano"))
    assert zones.active and not zones.mask(grid, entities, pillars_of(entities)).any()
    zones.follow(None)
    assert not zones.active


def test_a_zone_reaches_onto_the_grid_from_outside():
    pillars = build_pillars(np.array([[-2.5, 0.0, 0.0]]), np.array([1], np.int32), 0.1)
    mask = keep_out_mask(np.ones(pillars.ids.shape[1:]), pillars, 0.6, 1.0, open_grid())
    row, column = open_grid().cells_of(np.array([[-1.7, 0.0]]))[0]
    assert mask[row, column] and not mask[:, 20:].any()


@settings(max_examples=50, deadline=None)
@example(0.05, 0.2, 0.6, -0.725, 2.0)
@given(
    st.floats(0.05, 0.5),
    st.floats(0.05, 0.5),
    st.floats(0.0, 2.0),
    st.floats(-2.0, 6.0),
    st.floats(-2.0, 6.0),
)
def test_every_cell_that_is_near_enough_to_a_pillar_anywhere_is_in_the_zone(fine, coarse, distance, x, y):
    pillars = build_pillars(np.array([[x, y, 0.0]]), np.array([1], np.int32), coarse)
    size = int(4.0 / fine)
    grid = OccupancyGrid2D(np.zeros((size, size), np.int8), fine, (0.0, 0.0), 1.0)
    mask = keep_out_mask(np.ones(pillars.ids.shape[1:]), pillars, 0.6, distance, grid)
    centre = np.array(pillars.origin) + 0.5 * coarse
    rows, columns = np.indices(mask.shape)
    away = np.hypot((columns + 0.5) * fine - centre[0], (rows + 0.5) * fine - centre[1])
    assert mask[away <= distance + (coarse - fine) / np.sqrt(2.0)].all()


@pytest.mark.parametrize("distance", [200.0, 1e6, np.inf])
def test_a_distance_beyond_the_grid_costs_no_more_than_the_grid(distance):
    pillars, seen = build_pillars(np.array([[0.0, 0.0, 0.0]]), np.array([1], np.int32), 0.1), []
    pad = np.pad
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np, "pad", lambda *args: seen.append(pad(*args)) or seen[-1])
        mask = keep_out_mask(np.ones(pillars.ids.shape[1:]), pillars, 0.6, distance, open_grid())
    assert mask.shape == open_grid().cells.shape and mask.all()
    assert seen[0].size < 20 * mask.size


def two_rooms(grid, left="kitchen", right="bedroom"):
    """Set regions 1 and 2, left and right of x = 4 m, with these names."""
    cells = np.ones(grid.cells.shape, np.uint16)
    cells[:, 60:] = 2
    rooms = RegionMap(1.0)
    rooms.set_mask(cells, grid.origin, grid.resolution)
    regions = [Region(i, label, 0.8, 72.0, np.zeros(2)) for i, label in ((1, left), (2, right))]
    return {region.id: region for region in regions}, rooms


def test_a_room_is_barred_as_soon_as_it_is_known_and_things_stay_as_they_are():
    grid, entities = open_grid(), room()
    pillars = pillars_of(entities)
    zones = zones_of("find the mug; never enter the bedroom, keep away from the wet floor")
    assert zones.active
    unknown = zones.mask(grid, entities, pillars, *two_rooms(grid, right=""))
    barred = zones.mask(grid, entities, pillars, *two_rooms(grid))
    assert barred[:, 60:].all() and not unknown[:, 60:].all()
    assert (barred[:, :60] == unknown[:, :60]).all() and unknown[:, :60].any()
    assert (zones.mask(grid, entities, pillars) == unknown).all()  # no rooms are known


@pytest.mark.parametrize(
    "text",
    ["the restroom", "bathroom", "every bathroom", "the washroom", "the small bathroom", "the bathroom area"],
)
def test_a_room_may_be_called_otherwise(text):
    grid, entities = open_grid(), room()
    mask = zones_of(f"explore; keep out of {text}").mask(
        grid, entities, pillars_of(entities), *two_rooms(grid, "bathroom", "hallway")
    )
    assert mask[:, :60].all() and not mask[:, 60:].any()


def test_a_room_leaves_with_its_directive():
    zones = zones_of("explore; never enter the kitchen")
    zones.follow(parse_directive("explore"))
    assert not zones.active


def test_each_constraint_keeps_its_own_distance():
    grid, entities = open_grid(), room()
    pillars = pillars_of(entities)
    both = zones_of("explore; keep 0.5 m away from the wet floor, keep 2 m away from the box").mask(
        grid, entities, pillars
    )
    floor = zones_of("explore; keep 0.5 m away from the wet floor").mask(grid, entities, pillars)
    box = zones_of("explore; keep 2 m away from the box").mask(grid, entities, pillars)
    assert (both == (floor | box)).all() and floor.any() and box.sum() > floor.sum()


def test_a_distance_that_is_not_said_is_the_configured_one():
    grid, entities = open_grid(), room()
    zones = KeepOutZones(PhraseBook(), CONFIG, 2.0)
    zones.follow(parse_directive("explore; keep away from the wet floor"))
    said = zones_of("explore; keep 2 m away from the wet floor")
    pillars = pillars_of(entities)
    assert (zones.mask(grid, entities, pillars) == said.mask(grid, entities, pillars)).all()


def path_between(*ends):
    variables = tuple(QueryVariable(word, word.split()[-1]) for word in ("path", *ends))
    graph = QueryGraph(variables, (Predicate("Between", tuple(range(len(variables)))),))
    barred = (Constraint(ConstraintKind.KEEP_AWAY, Item(((graph,),))),)
    return Directive("t", (Step(StepKind.EXPLORE),), barred)


def two_tables(*more):
    tables = [
        thing(i, "table", "table", (x, 4.0, 0.0), (x + 1.0, 5.0, 0.7)) for i, x in ((30, 2.0), (31, 6.0))
    ]
    return {one.id: one for one in (*tables, *more)}


@pytest.mark.parametrize("ends", [("table",), ("table", "table")])
def test_a_path_is_barred_between_its_ends_and_nowhere_else(ends):
    grid, entities = open_grid(), two_tables()
    zones = KeepOutZones(PhraseBook(), CONFIG)
    zones.follow(path_between(*ends))
    assert zones.active
    mask = zones.mask(grid, entities, pillars_of(entities))
    at = lambda x, y: bool(mask[tuple(grid.cells_of(np.array([[x, y]]))[0])])  # noqa: E731
    assert at(4.5, 4.5) and at(3.2, 4.1) and not at(4.5, 3.5) and not at(4.5, 5.5) and not at(1.0, 4.5)


def test_of_many_ends_only_paths_across_a_room_are_barred_and_one_pair_always_is():
    far = thing(32, "table", "table", (2.0, 30.0, 0.0), (3.0, 31.0, 0.7))
    grid, zones = open_grid(40.0), KeepOutZones(PhraseBook(), CONFIG)
    zones.follow(path_between("table"))
    entities = two_tables(far)
    mask = zones.mask(grid, entities, pillars_of(entities))
    at = lambda x, y: bool(mask[tuple(grid.cells_of(np.array([[x, y]]))[0])])  # noqa: E731
    assert at(4.5, 4.5) and not at(2.5, 15.0)
    alone = {i: entities[i] for i in (30, 32)}
    mask = zones.mask(grid, alone, pillars_of(alone))
    assert at(2.5, 15.0), "a path that is forbidden is never dropped"
    assert not zones.mask(grid, {30: entities[30]}, pillars_of(alone)).any(), "its other end is not known yet"
