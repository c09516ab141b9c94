"""Words of the directive that perception is asked to look for, and its newest answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from lodestar.perception.lookout import VocabularyReport, WantedWords


class DirectiveWords:
    """One set of wanted words at a time, each with an id of its own. prefix: that no other process has.

    unseen: what is wanted and cannot be seen, for a person; until perception has answered, by what it said of its
    vocabulary before, and "" where it has said nothing yet.
    """

    def __init__(self, prefix: str = "q") -> None:
        self._prefix, self._sets = prefix, 0
        self._report: VocabularyReport | None = None  # newest, of whichever words
        self.wanted = WantedWords(f"{prefix}-w0")
        self.unseen = ""

    def want(self, words: Iterable[str], names: Collection[str] = ()) -> WantedWords:
        """Return the set of these words, which is wanted from now on. names: of places here, which nothing sees."""
        self._sets += 1
        kept = tuple(word for word in words if word.casefold() not in names)
        self.wanted = WantedWords(f"{self._prefix}-w{self._sets}", kept)
        self._answer()
        return self.wanted

    def hear(self, report: VocabularyReport) -> None:
        """Take what perception says that it can name."""
        self._report = report
        self._answer()

    def _answer(self) -> None:
        self.unseen = "" if self._report is None else self._report.answering(self.wanted).sentence

    @property
    def is_acknowledged(self) -> bool:
        """Return whether perception looks for the wanted words, or has said why not."""
        return self._report is not None and self._report.wanted_id == self.wanted.id
