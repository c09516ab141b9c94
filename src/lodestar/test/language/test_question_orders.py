"""Tests of questions in indirect order, with the question word last, or about the sentence before."""

from __future__ import annotations

import pytest

from lodestar.language.question_orders import reordered, without_frame
from lodestar.language.question_reader import read_question
from lodestar.language.question_sentences import question_sentence

SAME = {
    "tell me when the mug was moved": "when was the mug moved?",
    "are you able to say when you last saw the mug?": "when did you last see the mug?",
    "I want to find out when the white box on the shelf disappeared": "when did the white box on the shelf disappear?",
    "do you remember when you passed the mug?": "when did you pass the mug?",
    "I'd like to know when you left the kitchen": "when did you leave the kitchen?",
    "would you know what the mug stands on?": "what does the mug stand on?",
    "can you remember what color the trash can is?": "what color is the trash can?",
    "the mug stands on what?": "what does the mug stand on?",
    "the mug is in which room?": "which room is the mug in?",
    "the last time you saw the mug was when?": "when was the last time you saw the mug?",
    "the mug was moved. When was that?": "when was the mug moved?",
    "somebody took the mug. When?": "when did somebody take the mug?",
    "there is something on the desk. What is it?": "what is on the desk?",
    "the desk has something on it. What is it?": "what does the desk have on it?",
    "something was taken from the kitchen. What was it?": "what was taken from the kitchen?",
    "is something gone from the kitchen? What?": "what is gone from the kitchen?",
    "the meeting room: how many boxes?": "how many boxes are in the meeting room?",
    "when approximately did the mug disappear?": "when did the mug disappear?",
}


@pytest.mark.parametrize(("text", "plain"), SAME.items(), ids=list(SAME))
def test_an_order_of_words_means_what_the_plain_one_means(text, plain):
    found = read_question(text)
    assert not found.is_partial
    said, meant = question_sentence(found), question_sentence(read_question(plain))
    assert said.replace(" were there", " are there") == meant.replace(" were there", " are there")


@pytest.mark.parametrize(
    "text",
    ["when did you last see the mug?", "how many chairs are in the kitchen?", "is there a mug on the desk?"],
)
def test_a_plain_question_has_no_other_order(text):
    words = text.rstrip("?").split()
    assert without_frame(words) == words and not list(reordered([], words))


def test_words_that_name_a_thing_are_no_frame():
    words = ["did", "the", "forklift", "stop", "when", "you", "saw", "the", "mug"]
    assert without_frame(words) == words


@pytest.mark.parametrize(
    ("text", "plain"),
    [("what color is the trash can closest to the whiteboard?", "trash can closest to the whiteboard"),
     ("the trash can closest to the whiteboard, what color is it?", "trash can closest to the whiteboard"),
     ("what did the trash can next to the desk stand on?", "trash can next to the desk"),
     ("what does the white monitor closest to the red chair stand on?", "white monitor closest to the red chair"),
     ("what does the red box next to the door stand on?", "red box next to the door")],
)  # fmt: skip
def test_a_name_of_several_words_is_not_cut_at_its_verb(text, plain):
    found = read_question(text)
    assert not found.is_partial and plain in question_sentence(found)
