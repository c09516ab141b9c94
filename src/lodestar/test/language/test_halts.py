"""Tests of stops in words: phrasings invented from the tables of the vocabulary, and texts that name no stop."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.language.directive import StopRequested
from lodestar.language.halts import Stop, heard_stop, without_stop
from lodestar.language.vocabulary import load_vocabulary

VOCABULARY = load_vocabulary()
STOPS = [
    *VOCABULARY.phrases("STOP_WORD"),
    *VOCABULARY.phrases("STOP_PHRASE"),
    *VOCABULARY.phrases("STOP_BARE"),
    *VOCABULARY.phrases("HALT_ABROAD"),
]
ASIDES = [
    phrase
    for table in ("STOP_ASIDE", "POLITE", "POLITE_ABROAD")
    for phrase in VOCABULARY.phrases(table)
    if phrase != "next"  # "next stop" is a thing
]
AT_ONCE = [*VOCABULARY.phrases("STOP_AT_ONCE"), "robot", "please"]
NOISE = ["", ",", "!", ".", " ...", "?"]
ORDERS = ["turn left 90 degrees", "find the red chair", "take a picture", "go to the kitchen"]


def shouted(word: str) -> st.SearchStrategy[str]:
    """Return a strategy of ways to say a word: loud, held, stuttered, or cut off and said again."""
    begins = st.sampled_from([word[:1], word[:2], word[:3]]).filter(str.isalpha)
    return st.one_of(
        st.sampled_from([word, word.upper(), word.title(), f"{word} {word}", f"{word}!! {word}!!"]),
        begins.map(lambda begin: f"{begin} {word}"),
        begins.map(lambda begin: f"{begin}-{word}"),
        st.integers(3, 6).map(lambda n: word[:-1] + n * word[-1]),
    )


@st.composite
def said(draw, stop: st.SearchStrategy[str]):
    """Draw a stop between words that do not matter."""
    before = draw(st.lists(st.sampled_from(ASIDES), max_size=2))
    after = draw(st.lists(st.sampled_from(AT_ONCE), max_size=2))
    marks = [draw(st.sampled_from(NOISE)) for _ in range(len(before) + 1)]
    words = [f"{word}{mark}" for word, mark in zip([*before, draw(stop)], marks, strict=True)]
    return " ".join([*words, *after])


@given(said(st.sampled_from(STOPS)))
def test_every_word_of_stopping_stops_between_words_that_do_not_matter(text):
    assert heard_stop(text) is not None


@pytest.mark.parametrize(
    "filler", ["{}", "{}!", "bitte {}", "{} por favor", "ahora {}", "{} subito", "s'il vous plaît {} ici"]
)
def test_each_word_of_stopping_of_another_language_stops(filler):
    abroad = [word for word in VOCABULARY.phrases("STOP_WORD") if not word.isascii()]
    german = [
        word for word in VOCABULARY.phrases("STOP_WORD") if word.startswith(("bleib", "anhalt", "halt an"))
    ]
    words = [*VOCABULARY.phrases("HALT_ABROAD"), *abroad, *german]
    assert len(words) > 30 and [text for word in words if not heard_stop(text := filler.format(word))] == []


@pytest.mark.parametrize(
    "text",
    [
        "do not move",
        "don't move a muscle",
        "robot stand still",
        "stay where you are",
        "nobody move",
        "Don't move now!",
    ],
)
def test_an_order_to_stand_stops(text):
    assert heard_stop(text) == Stop()


@given(said(st.sampled_from(["stop", "halt", "freeze", "abort", "cease"]).flatmap(shouted)))
def test_a_stop_that_is_shouted_held_or_stuttered_stops(text):
    assert heard_stop(text) is not None


@given(
    st.sampled_from(ASIDES),
    st.sampled_from(["stop", "stop stop", "halt", "stop it", "stop moving", "hold on", "no no"]),
    st.sampled_from([" ", ", ", ". ", "! ", " and ", " then ", ", then please "]),
    st.sampled_from(ORDERS),
)
def test_what_follows_a_stop_is_read_afterwards(aside, stop, joint, order):
    assert heard_stop(f"{aside} {stop}{joint}{order}") == Stop(order)
    assert without_stop(f"{stop}{joint}{order}") == order


@given(
    st.sampled_from(ORDERS),
    st.sampled_from([", ", ". ", " ", " no ", " wait "]),
    st.sampled_from(["stop", "halt"]),
)
def test_a_bare_stop_after_other_words_drops_them(order, joint, stop):
    with pytest.raises(StopRequested):
        without_stop(f"{order}{joint}{stop}")


@given(
    st.sampled_from(["stop", "halt", "please stop", "robot stop"]),
    st.sampled_from(
        ["at", "in front of", "next to", "two feet from", "when you see", "as soon as you reach", "near"]
    ),
    st.sampled_from(["the door", "a wall", "the red chair"]),
)
def test_a_stop_that_waits_for_a_place_or_an_event_is_none(stop, where, thing):
    assert heard_stop(f"{stop} {where} {thing}") is None


@given(
    st.sampled_from(["until", "when", "if", "once", "unless"]),
    st.sampled_from(["i say", "i tell you to", "told to", "you hear me say"]),
    st.sampled_from(["", "go forward ", "turn around ", "keep moving "]),
)
def test_a_promise_to_say_stop_is_none(when, says, order):
    assert heard_stop(f"{order}{when} {says} stop") is None


@given(
    st.sampled_from(ORDERS), st.sampled_from([" and ", " then ", " and then ", ", then ", ", and finally "])
)
def test_a_stop_that_ends_a_task_is_none(order, joint):
    assert heard_stop(f"{order}{joint}stop") is None


@given(
    st.sampled_from(ORDERS),
    st.sampled_from(["wait a minute", "wait a second", "wait a moment"]),
    st.sampled_from([" and ", ", and ", ", then "]),
    st.sampled_from(ORDERS),
)
def test_a_wait_in_a_list_of_orders_is_none(order, wait, joint, next_order):
    assert heard_stop(f"{order}, {wait}{joint}{next_order}") is None
    assert heard_stop(f"{order}, no wait{joint}{next_order}") is not None
    assert heard_stop(f"{order}, {wait} now{joint}{next_order}") is not None


@given(
    st.sampled_from(["my foot is under you", "there is a child", "you are too fast", *ORDERS]),
    st.sampled_from(["wait a minute", "wait a second", "wait a moment"]),
    st.sampled_from([" and", ", and", ", but"]),
    st.sampled_from(["", " do not move", " do not go there", " i am scared", " let me go first"]),
)
def test_a_wait_in_another_list_stops(said, wait, joint, then):
    assert heard_stop(f"{said}, {wait}{joint}{then}") is not None


@given(st.sampled_from(["everyone", "everybody", "he", "she", "they"]), st.sampled_from(["stop", "halt"]))
def test_a_stop_that_is_passed_on_stops_unless_it_is_still_to_come(who, stop):
    says = "say" if who == "they" else "says"
    assert heard_stop(f"{who} {says} {stop}") == Stop()
    assert heard_stop(f"go on until {who} {says} {stop}") is None


@given(
    st.sampled_from(["find the {}", "go to the {} and come back", "what is behind the {}?", "is there a {}"]),
    st.sampled_from(VOCABULARY.phrases("STOP_THING")),
)
def test_a_thing_that_is_called_so_is_a_thing(order, thing):
    assert heard_stop(order.format(thing)) is None


@given(
    st.sampled_from(["don't", "do not ever", "never", "please don't"]),
    st.sampled_from(["stop", "halt", "freeze"]),
)
def test_a_stop_that_is_denied_is_none(denied, stop):
    assert heard_stop(f"{denied} {stop}") is None
    assert heard_stop(f"{denied} {stop}. {stop}!") == Stop(), "in doubt the robot stands"


@pytest.mark.parametrize(
    ("text", "stop"),
    [
        ("stop sign", None),
        ("non-stop", None),
        ("nonstop to the hall", None),
        ("x" * 495 + " stop", Stop()),
        ("go on " * 80 + "stop", Stop()),
        ("go on " * 80 + "and stop", None),
        ("stop " + "go on " * 20_000, Stop()),
        ("go on " * 20_000 + "stop", Stop()),
        ("stop \u202e\x00 now", Stop()),
        ("st\u00f6p", None),
        ("S.T.O.P.", Stop()),
        ("sto", Stop()),
        ("stpo", Stop()),
        ("", None),
        ("?!", None),
        ("stop at", Stop()),
        ("stop before you fall", Stop()),
        ("stop before the door", None),
        ("wait 10 seconds", Stop("wait 10 seconds")),
        ("go to the kitchen, wait 10 seconds and come back", None),
        ("don't move, find the mug", Stop("don't move, find the mug")),
        ('stop, find the sign "No entry"', Stop('find the sign "No entry"')),
        ("hold on I want to close the window", Stop()),
        ("stop I need to find my keys first", Stop()),
        ("stop I need you to find my keys", Stop("find my keys")),
        ("wait let me find my keys", Stop()),
        ("wait where are you going", Stop()),
        ("wait where the cat is", None),
        ("stop back there", Stop()),
        ("time to stop", Stop()),
        ("they want you to stop", Stop()),
        ("that's enough of that", Stop()),
        ("I've seen enough", None),
        ("you have seen enough", Stop()),
        ("have you seen enough", None),
        ("go no further", Stop()),
        ("go no further than the door", None),
        ("shut yourself down", Stop()),
        ("shut down the computer", None),
        ("find the one that will do", None),
        ("stay close enough to see me", None),
        ("did the screen freeze", None),
        ("is it possible to stop the lift", None),
    ],
)
def test_odd_texts_have_a_stated_result(text, stop):
    assert heard_stop(text) == stop


@given(st.text(max_size=300))
def test_no_text_breaks_it(text):
    assert heard_stop(text) is None or isinstance(heard_stop(text), Stop)
