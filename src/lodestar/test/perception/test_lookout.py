"""Tests of detecting a directive's words, and of handing the words over to the detector."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lodestar.agent.facts.vocabulary import DirectiveWords
from lodestar.models.kinship import kind_of, same_kind
from lodestar.models.lexicon import load_lexicon
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import DetectorUnavailable, Vocabulary
from lodestar.perception.lookout import Lookout, VocabularyReport, WantedWords, read_words

COCO = (
    "person",
    "bench",
    "bottle",
    "cup",
    "chair",
    "couch",
    "potted plant",
    "dining table",
    "tv",
    "refrigerator",
)


class Eyes:
    """Detector that records the words it is given."""

    name = "eyes"

    def __init__(self, names=(), *, failing=False):
        self.vocabulary = Vocabulary(tuple(names), is_open=not names)
        self.words, self.failing = (), failing

    def look_for(self, words):
        if self.failing:
            raise DetectorUnavailable("no text model")
        self.words = tuple(words)


@pytest.mark.parametrize(
    ("word", "label"),
    [("sofa", "couch"), ("television", "tv"), ("fridge", "refrigerator"), ("office chair", "chair"),
     ("table", "dining table"), ("plant", "potted plant"), ("man", "person"), ("fire extinguisher", "")],
)  # fmt: skip
def test_a_closed_detector_sees_what_one_of_its_labels_means(word, label):
    (sight,) = Lookout(Eyes(COCO)).look_for(WantedWords("1", (word,))).words
    assert sight.label == label


def test_what_it_cannot_see_is_told_with_the_nearest_label():
    class Book(PhraseBook):
        def vectors(self, phrases):
            return np.array(
                [[1.0, 0.0] if p in ("fire extinguisher", "bottle") else [0.0, 1.0] for p in phrases]
            )

    report = Lookout(Eyes(COCO), phrases=Book()).look_for(WantedWords("1", ("fire extinguisher", "chair")))
    assert report.sentence == 'This detector (eyes) knows no "fire extinguisher"; nearest: "bottle".'
    lexicon_alone = Lookout(Eyes(COCO), phrases=PhraseBook()).look_for(WantedWords("1", ("monitor",)))
    assert lexicon_alone.words[0].nearest == "tv", (
        "without vectors, what the lexicon takes to be easily confused"
    )


def test_an_open_detector_looks_for_the_directives_words_first_and_for_no_synonyms():
    eyes = Eyes()
    report = Lookout(eyes, ("sofa", "desk", "chair"), limit=3).look_for(
        WantedWords("1", ("couch", "defibrillator"))
    )
    assert eyes.words == ("defibrillator", "sofa", "desk")
    assert [(one.word, one.label) for one in report.words] == [("couch", "sofa"), ("defibrillator",) * 2]
    assert report.sentence == ""


def test_one_without_names_says_that_it_has_none():
    class Shapes(Eyes):
        vocabulary = Vocabulary()

        def __init__(self):
            pass

    assert "gives no names" in Lookout(Shapes()).look_for(WantedWords("1", ("chair",))).sentence


def test_the_packaged_words_are_some_hundred_kinds_of_things():
    words = read_words()
    assert 240 <= len(words) <= 260
    lexicon = load_lexicon()
    assert not any(lexicon.is_generic(word) or lexicon.room(word) for word in words)
    kinds = [kind_of(word) for word in words]
    assert len(set(kinds)) == len(kinds), "one prompt per kind of thing"


@pytest.mark.parametrize(
    "content",
    [b"", b"# nothing\n", b"\xff\xfe\x00", b"x\n" * 100_000],
    ids=["empty", "comment", "binary", "huge"],
)
def test_a_bad_file_of_words_is_named(tmp_path, content):
    file = tmp_path / "words.txt"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"words\.txt"):
        read_words(str(file))
    with pytest.raises(ValueError, match=r"missing\.txt"):
        read_words(str(tmp_path / "missing.txt"))


def test_words_of_a_file_are_cleaned(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("Chair\n\n  fire   Extinguisher  # red\nchair\n<script>\n")
    assert read_words(str(file)) == ("chair", "fire extinguisher", "script")


NOUNS = st.sampled_from(
    ["chair", "sofa", "couch", "fire extinguisher", "mug", "gizmo", "tv", "table", "yoga mat"]
)


@given(st.lists(NOUNS, unique=True, min_size=1), st.lists(NOUNS, unique=True))
def test_the_sights_are_those_of_the_labels(labels, words):
    """A reported label is one of the detector's and of the word's kind; otherwise the word is reported as unseen."""
    report = Lookout(Eyes(labels)).look_for(WantedWords("1", tuple(words)))
    assert [one.word for one in report.words] == words
    for one in report.words:
        fitting = [label for label in labels if same_kind(one.word, label)]
        assert (one.label in fitting) if fitting else one.label == ""
        assert one.nearest in ("", *labels) and not (one.label and one.nearest)
        assert (f'no "{one.word}"' in report.sentence) == (not one.label)
    # a selector with an earlier report of this detector derives the same labels
    earlier = Lookout(Eyes(labels)).look_for(WantedWords("0"))
    assert [one.label for one in earlier.answering(WantedWords("1", tuple(words))).words] == [
        one.label for one in report.words
    ]


class HandOver(RuleBasedStateMachine):
    """Both sides over latched topics of depth 1, with random delivery times and restarts of either side."""

    def __init__(self):
        super().__init__()
        self.processes = 0
        self.on_way_to_eyes = self.on_way_back = None  # newest message not yet delivered
        self.latched_words = self.latched_report = None  # kept by a live publisher
        self.start_selector()
        self.start_perception()

    @rule()
    def start_selector(self):
        """Start the selector, or restart it after a death."""
        self.processes += 1
        self.words = DirectiveWords(f"p{self.processes}")
        self._want(self.words.wanted)
        self.on_way_back = self.latched_report

    @rule()
    def start_perception(self):
        self.eyes = Eyes()
        self.lookout = Lookout(self.eyes, ("desk",))
        self.slot = WantedWords()  # the role of `LatestWorker`
        self.latched_report = self.on_way_back = None
        self.on_way_to_eyes = self.latched_words

    def _want(self, wanted):
        self.latched_words = self.on_way_to_eyes = wanted

    @rule(words=st.lists(NOUNS, unique=True, max_size=3))
    def directive(self, words):
        """Begin a directive, replace it, or end it (no words)."""
        self._want(self.words.want(words))

    @rule(failing=st.booleans())
    def text_model(self, failing):
        self.eyes.failing = failing

    @rule()
    def words_arrive(self):
        if self.on_way_to_eyes is not None:
            self.slot, self.on_way_to_eyes = self.on_way_to_eyes, None

    @rule()
    def encode(self):
        if self.slot is not None:
            self.newest, self.slot = self.slot, None
            wanted = self.newest
            self.latched_report = self.on_way_back = self.lookout.look_for(wanted)

    @rule()
    def retry(self):
        if self.latched_report is not None and self.latched_report.problem and self.slot is None:
            self.slot = self.newest

    @rule()
    def report_arrives(self):
        if self.on_way_back is not None:
            self.words.hear(self.on_way_back)
            self.on_way_back = None

    @invariant()
    def an_acknowledgement_is_true(self):
        """Check that a live perception looked for the set taken as acknowledged, unless a new one starts."""
        if self.words.is_acknowledged and self.latched_report is not None and self.slot is None:
            told = self.latched_report
            if told.wanted_id == self.words.wanted.id and not told.problem:
                assert {kind_of(w) for w in self.words.wanted.words} <= {kind_of(w) for w in self.eyes.words}

    def teardown(self):
        """Check after all deliveries that the last acknowledged set is the last wanted one, and is looked for."""
        self.text_model(failing=False)
        self.words_arrive()
        self.encode()
        self.retry()
        self.encode()
        self.report_arrives()
        assert self.words.is_acknowledged and self.words.unseen == ""
        wanted = {kind_of(word) for word in self.words.wanted.words}
        assert {kind_of(word) for word in self.eyes.words} == wanted | {"desk"}


TestHandOver = HandOver.TestCase


def test_before_any_answer_nothing_is_claimed_and_an_old_answer_is_used_for_new_words():
    words = DirectiveWords("p")
    words.want(["mug"])
    assert words.unseen == "" and not words.is_acknowledged
    words.hear(VocabularyReport("other", "eyes", names=("chair",)))
    assert 'no "mug"' in words.unseen and not words.is_acknowledged
    assert words.want(["kitchen", "chair"], {"kitchen"}).words == ("chair",)
    assert words.unseen == ""
