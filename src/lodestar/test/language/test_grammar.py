"""What people write, and what is made of it."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.language.directive import DirectiveError, StepKind, EmptyDirective, NotUnderstood
from lodestar.language.grammar import MAX_CHARACTERS, parse_directive, parse_query


def relations(graph):
    return [
        ("not " if p.negated else "") + f"{p.name}{p.arguments}{p.value}"
        for p in graph.predicates
        if p.name != "IsCategory"
    ]


def only(text):
    directive = parse_directive(text)
    assert len(directive.steps) == 1
    return directive.steps[0]


@pytest.mark.parametrize(
    ("text", "target", "predicates", "anchors"),
    [
        (
            "find the red chair next to the desk",
            "red chair",
            ["HasAttribute(0,)red", "NextTo(0, 1)"],
            ("desk",),
        ),
        ("Go to the fire extinguisher.", "fire extinguisher", [], ()),
        ("I need a mug", "mug", [], ()),
        ("where is the laptop?", "laptop", [], ()),
        ("where are my keys", "keys", [], ()),
        (
            "bring me to the blue backpack on the sofa",
            "blue backpack",
            ["HasAttribute(0,)blue", "On(0, 1)"],
            ("sofa",),
        ),
        ("look for a plant between the bed and the window", "plant", ["Between(0, 1, 2)"], ("bed", "window")),
        ("find the office chair near the coffee table", "office chair", ["Near(0, 1)"], ("coffee table",)),
        ("find the wet floor sign", "wet floor sign", [], ()),
        ("find the first aid kit", "first aid kit", [], ()),
        ("find the chest of drawers", "chest of drawers", [], ()),
        ("find the desk with a lamp on it", "desk", ["On(1, 0)"], ("lamp",)),
        ("find the box on the floor", "box", ["On(0, 1)"], ("floor",)),
        ("find the crate containing a hammer", "crate", ["Inside(1, 0)"], ("hammer",)),
        ("search the kitchen for a mug", "mug", ["InRegion(0,)kitchen"], ()),
        ("find the sofa in the living room", "sofa", ["InRegion(0,)living room"], ()),
        ("find the chair closest to the window", "chair", ["Closest(0, 1)"], ("window",)),
        ("find the nearest chair", "chair", ["Closest(0,)"], ()),
        ("find the farthest chair from the door", "chair", ["Farthest(0, 1)"], ("door",)),
        ("find the chair far from the door", "chair", ["not Near(0, 1)"], ("door",)),
        ("find the lamp to the left of the bed", "lamp", ["LeftOf(0, 1)"], ("bed",)),
        ("find the stack of boxes behind the forklift", "box", ["Behind(0, 1)"], ("forklift",)),
        (
            "find the glass on the glass table",
            "glass",
            ["HasAttribute(1,)glass", "On(0, 1)"],
            ("glass table",),
        ),
        ("find the orange", "orange", [], ()),
        ("find the orange chair", "orange chair", ["HasAttribute(0,)orange"], ()),
        ("find the chair that is not red", "chair", ["not HasAttribute(0,)red"], ()),
        (
            "find the big, red, wooden chair that is not next to the window",
            "large red wooden chair",
            ["HasAttribute(0,)large", "HasAttribute(0,)red", "HasAttribute(0,)wooden", "not NextTo(0, 1)"],
            ("window",),
        ),
        ("red chair next to the desk", "red chair", ["HasAttribute(0,)red", "NextTo(0, 1)"], ("desk",)),
        ("find the asdf", "asdf", [], ()),
        ("find the café table", "café table", [], ()),
        ("find the “green” plant", "green plant", ["HasAttribute(0,)green"], ()),
        ("find the chair, next to the desk", "chair", ["NextTo(0, 1)"], ("desk",)),
        (
            "find the chair next to the desk and under the window",
            "chair",
            ["NextTo(0, 1)", "Below(0, 2)"],
            ("desk", "window"),
        ),
        ("go to the kitchen", "kitchen", ["InRegion(0,)kitchen"], ()),
        ("find the chair because I want to sit", "chair", [], ()),
        ("find the mug in the kitchen on the table", "mug", ["InRegion(0,)kitchen", "On(0, 1)"], ("table",)),
        (
            "find the mug in the kitchen next to the sink",
            "mug",
            ["InRegion(0,)kitchen", "NextTo(0, 1)"],
            ("sink",),
        ),
        (
            "find the chair in the kitchen that is red",
            "red chair",
            ["InRegion(0,)kitchen", "HasAttribute(0,)red"],
            (),
        ),
        ("find the chair in the room next to the window", "chair", ["NextTo(0, 1)"], ("window",)),
        ("find the chair in the small kitchen", "chair", ["InRegion(0,)kitchen"], ()),
    ],
)
def test_find(text, target, predicates, anchors):
    directive = parse_directive(text)
    assert directive.steps[0].kind == StepKind.FIND
    step = only(text)
    assert step.target == target
    assert sorted(relations(step.graphs[0])) == sorted(predicates)
    assert step.neighbors == anchors
    assert sum(graph.weight for graph in step.graphs) == pytest.approx(1.0)


def test_steps_in_order_and_constraints_for_all_of_them():
    directive = parse_directive(
        "find the red chair next to the printer, then the fire extinguisher; keep away from the wet floor"
    )
    assert [s.target for s in directive.steps] == ["red chair", "fire extinguisher"]
    assert [c.item.phrase for c in directive.constraints] == ["wet floor"]


@pytest.mark.parametrize(
    ("text", "constraints", "distance"),
    [
        (
            "find the bed; avoid the dog, the cat and the wet floor, then the sofa",
            ("dog", "cat", "wet floor"),
            1.0,
        ),
        ("keep 2.5 m away from the wet floor and find the printer", ("wet floor",), 2.5),
        ("stay 50 cm away from the dog and go to the bed", ("dog",), 0.5),
        ("explore the building without going near the dog", ("dog",), 1.0),
        ("find the chair but don't go near the stairs", ("stairs",), 1.0),
        ("find the mug; avoid the red chair next to the desk", ("the red chair next to the desk",), 1.0),
        ("find the mug; keep away from the table in the kitchen", ("the table in the kitchen",), 1.0),
    ],
)
def test_keep_away(text, constraints, distance):
    directive = parse_directive(text)
    assert directive.steps[0].constraints == constraints
    assert directive.keep_away_distance == pytest.approx(distance)


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("find me a mug, a plant and a book", ["mug", "plant", "book"]),
        ("find the chair next to the desk and the lamp, and then the bed", ["chair", "bed"]),
        ("go to the sofa and then go to the bed", ["sofa", "bed"]),
        ("first go to the sofa. Next, find the bed", ["sofa", "bed"]),
        ("explore the building and find the red chair", ["red chair"]),
    ],
)
def test_several_steps(text, targets):
    assert [s.target for s in parse_directive(text).steps] == targets


def test_anchors_of_one_relation_are_joined_by_and():
    graph = only("find the chair next to the desk and the lamp").graphs[0]
    assert relations(graph) == ["NextTo(0, 1)", "NextTo(0, 2)"]


def test_two_chained_relations_have_two_readings():
    nested, flat = only("find the mug on the table next to the window").graphs
    assert sorted(relations(nested)) == ["NextTo(1, 2)", "On(0, 1)"]
    assert sorted(relations(flat)) == ["NextTo(0, 2)", "On(0, 1)"]
    assert nested.weight > flat.weight


def test_alternatives_weigh_the_same():
    graphs = only("find a chair or a sofa").graphs
    assert [g.target.category for g in graphs] == ["chair", "sofa"]
    assert graphs[0].weight == graphs[1].weight


@pytest.mark.parametrize(
    "text",
    ["explore the building", "search the area", "Explore!", "look around", "please patrol the warehouse"],
)
def test_explore(text):
    assert parse_directive(text).steps[0].kind == StepKind.EXPLORE
    assert only(text).target == ""


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("list all chairs", "chair"),
        ("what is in this building", ""),
        ("what is in this building?", ""),
        ("keep track of boxes", "box"),
        ("how many chairs are there?", "chair"),
        ("what do you see", ""),
        ("list everything in the kitchen", "object"),
        ("find all the chairs", "chair"),
        ("what is on the desk?", "object"),
        ("list everything", ""),
        ("describe the room", ""),
        ("how many bathrooms are there?", "bathroom"),
    ],
)
def test_inventory(text, target):
    assert parse_directive(text).steps[0].kind == StepKind.LIST
    assert only(text).target == target


@pytest.mark.parametrize(
    "text",
    ["come back", "return to start", "go home", "Return.", "go back to where you started", "go to the start"],
)
def test_return(text):
    assert parse_directive(text).steps[0].kind == StepKind.RETURN


def test_going_back_to_a_thing_is_a_search():
    assert only("go back to the red chair").target == "red chair"


def test_what_follows_a_room_is_said_of_what_is_counted_there():
    listed = only("list all chairs in the kitchen that are red").graphs[0]
    assert relations(listed) == ["HasAttribute(0,)red", "InRegion(0,)kitchen"]


@pytest.mark.parametrize(
    "text",
    ["find the mug in the kitchen next to the bathroom", "list all chairs in the kitchen and the bathroom"],
)
def test_nothing_is_in_two_rooms_at_once(text):
    with pytest.raises(NotUnderstood, match="nothing is in kitchen and bathroom at once"):
        parse_directive(text)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("how many chairs are there in the kitchen?", "count the chairs in the kitchen"),
        ("how many chairs are in the kitchen?", "count the chairs in the kitchen"),
        ("which objects are in the kitchen", "list everything in the kitchen"),
        ("what do you see in the kitchen?", "list everything in the kitchen"),
        ("what do you see on the table?", "list everything on the table"),
    ],
)
def test_a_question_is_an_inventory_of_a_place(text, same):
    assert parse_directive(text).steps[0].kind is StepKind.LIST
    assert only(text) == only(same)


def test_a_room_that_is_described_is_what_is_in_it():
    for text in ("describe the kitchen", "tell me about the kitchen"):
        assert parse_directive(text).steps[0].kind is StepKind.LIST
        assert relations(only(text).graphs[0]) == ["InRegion(0,)kitchen"]
        assert only(text).graphs[0].target.category == "object"
    _, hall = parse_directive("describe the kitchen and the hallway").steps
    assert relations(hall.graphs[0]) == ["InRegion(0,)hallway"]
    assert only("describe the red chair").target == "red chair"


@pytest.mark.parametrize(
    "text", ["find the mug, then home", "find the mug and back", "find a mug, back to the start"]
)
def test_the_way_back_needs_no_verb(text):
    directive = parse_directive(text)
    assert [directive.steps[i].kind.name for i in range(2)] == ["FIND", "RETURN"]
    assert [step.target for step in directive.steps] == ["mug", ""]


def test_what_a_thing_is_without_needs_no_article():
    assert relations(only("find a chair without armrests").graphs[0]) == ["not NextTo(0, 1)"]
    assert only("find a chair without touching the dog").constraints == ("dog",)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("find two chairs in the kitchen", 2),
        ("find a dozen eggs", 12),
        ("find half a dozen eggs", 6),
        ("find a few chairs", 3),
        ("find a couple of mugs", 2),
    ],
)
def test_count(text, count):
    assert only(text).count == count


@pytest.mark.parametrize(
    "text",
    [
        "  Could you PLEASE find   the red CHAIR!?  ",
        "hey robot, find the red chair",
        "I would like you to find the red chair for me, thanks",
        "find the red chair\n",
        "ｆｉｎｄ the red chair",
        "FIND THE RED CHAIR...",
    ],
)
def test_manners_case_and_punctuation_do_not_matter(text):
    assert only(text).graphs == only("find the red chair").graphs


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00\x07"])
def test_no_text(text):
    with pytest.raises(EmptyDirective):
        parse_directive(text)


@pytest.mark.parametrize(
    "text",
    [
        "asdf qwer", "!!!", "the", "please", "find", "hello", "find it", "go there", "avoid the wet floor",
        "tell me a joke",
        "what is the weather", "sing a song for the chair", "найди стул", "the red", "?", "1234", "keep away from",
    ],
)  # fmt: skip
def test_meaningless_text_is_refused_with_an_example(text):
    with pytest.raises(NotUnderstood, match='try for example "find the red chair'):
        parse_directive(text)


def test_long_text_is_refused_and_says_so():
    with pytest.raises(NotUnderstood, match=f"10000 characters, at most {MAX_CHARACTERS}"):
        parse_directive("find the chair " * 666 + "find the c")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("find the chair, then come back", ["FIND", "RETURN"]),
        ("explore the building and come back", ["EXPLORE", "RETURN"]),
        ("find the mug, list all chairs and return to the start", ["FIND", "LIST", "RETURN"]),
        ("find the mug, come back, then find the sink", ["FIND", "RETURN", "FIND"]),
        ("explore the building and find the mug", ["FIND"]),
        ("come back, come back", ["RETURN"]),
    ],
)
def test_steps_of_several_kinds(text, kinds):
    directive = parse_directive(text)
    assert [directive.steps[i].kind.name for i in range(len(directive.steps))] == kinds
    assert directive.steps[0].kind.name == kinds[0]


@pytest.mark.parametrize("link", [" next to the desk", " on x", " of x", " and under the bed"])
def test_too_many_relations_are_refused(link):
    with pytest.raises(NotUnderstood, match="more than 16"):
        parse_directive("find the chair next to x" + link * (900 // len(link)))


def test_the_message_shows_no_control_characters():
    with pytest.raises(NotUnderstood) as error:
        parse_directive("asdf\x1b[31m qwer\x07")
    assert all(c.isprintable() for c in str(error.value))


def test_query_needs_no_verb():
    assert parse_query("the red chair next to the desk") == parse_query("find the red chair next to the desk")
    with pytest.raises(NotUnderstood):
        parse_query("explore the building")


WORDS = st.sampled_from(
    """find the a red chair desk next to on and then or not , . keep away from in kitchen with all closest between of
    asdf go home list 2 m away that is it please explore return
    avoid blue one ones 2m by back without kitchen few""".split()  # noqa: SIM905
)


@given(st.lists(WORDS, max_size=25))
def test_any_words_either_parse_or_are_refused(words):
    try:
        directive = parse_directive(" ".join(words))
    except DirectiveError:
        return
    assert directive.steps
    for step in directive.steps:
        assert bool(step.graphs) == bool(step.target)


@given(st.text(alphabet=string.printable + "éß漢🙂\u202e\u0000", max_size=80))
def test_any_text_either_parses_or_is_refused(text):
    try:
        parse_directive(text)
    except DirectiveError as error:
        assert str(error)


def test_then_to_goes_on_and_either_names_alternatives():
    there_and_back = parse_directive("go to the desk, then to the chair and return")
    assert [step.target for step in there_and_back.steps] == ["desk", "chair", ""]
    assert there_and_back.steps[-1].kind is StepKind.RETURN
    assert parse_directive("find either a mug or a cup").steps[0].target == "mug or cup"


@pytest.mark.parametrize(
    "text",
    [
        "explore the surroundings",
        "explore the premises",
        "explore the house thoroughly",
        "explore this level",
        "explore the office building",
        "explore all unexplored parts of the building",
        "explore the hospital once more",
        "check out the building",
    ],
)
def test_the_whole_place_has_many_names(text):
    directive = parse_directive(text)
    assert directive.steps[0].kind is StepKind.EXPLORE and len(directive.steps) == 1


def test_rooms_are_known_names_in_lists():
    assert [s.target for s in parse_directive("visit the kitchen, bathroom and bedroom").steps] == [
        "kitchen", "bathroom", "bedroom",
    ]  # fmt: skip
    barred = parse_directive("stay out of the kitchen and bathroom and explore").steps[0].constraints
    assert barred == ("kitchen", "bathroom")


def test_a_thing_that_is_not_known_is_taken_with_its_article():
    with pytest.raises(NotUnderstood, match='if it is a thing, say "the passport"'):
        parse_directive("find my keys, wallet and passport")
    assert parse_directive("find my keys, wallet and the passport").steps[-1].target == "passport"
