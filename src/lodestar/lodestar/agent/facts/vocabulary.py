"""Words of the directive that perception should detect, and its newest report on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from lodestar.perception.lookout import VocabularyReport, WantedWords


class DirectiveWords:
    """The current set of wanted words, with a unique id. prefix: unique to this process.

    unseen: wanted words that cannot be detected, as a sentence. Until perception has answered, it follows from the
    previous report; "" without one.
    """

    def __init__(self, prefix: str = "q") -> None:
        self._prefix, self._sets = prefix, 0
        self._report: VocabularyReport | None = None  # newest, for any set of words
        self.wanted = WantedWords(f"{prefix}-w0")
        self.unseen = ""

    def want(self, words: Iterable[str], names: Collection[str] = ()) -> WantedWords:
        """Return the new set of wanted words. names: of known places, which are left out because no detector
        sees them.
        """
        self._sets += 1
        kept = tuple(word for word in words if word.casefold() not in names)
        self.wanted = WantedWords(f"{self._prefix}-w{self._sets}", kept)
        self._answer()
        return self.wanted

    def hear(self, report: VocabularyReport) -> None:
        """Store perception's report on the words that it can name."""
        self._report = report
        self._answer()

    def _answer(self) -> None:
        self.unseen = "" if self._report is None else self._report.answering(self.wanted).sentence

    @property
    def is_acknowledged(self) -> bool:
        """Return whether perception has reported on the current set of wanted words."""
        return self._report is not None and self._report.wanted_id == self.wanted.id
