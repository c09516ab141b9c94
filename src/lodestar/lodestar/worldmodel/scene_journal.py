"""Journal of the amendments of the scene: written before they are carried out, so that kill -9 loses none.

A checkpoint of the scene is some seconds old, and nobody sees again what was amended since. A successor carries out
what its checkpoint does not hold.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lodestar.scene.amendments import AmendmentRefused
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.records import Refusal, SceneDelta
from lodestar.storage.journal_file import JournalFile
from lodestar.worldmodel.amendments import Amendment
from lodestar.worldmodel.old_layouts import line_of_1
from lodestar.worldmodel.scene_edits import SceneAmended, amend_scene, check_amendments

KIND, VERSION = "lodestar-scene-amendments", 2  # of the journal's file
OLDER = {1: line_of_1}
KEPT = 1000  # requests that a full journal keeps; checkpoints are seconds old and hold the others
_WAITING = -1  # as a revision: not carried out yet


class Request(Struct, frozen=True, tag_field="op", tag="amend"):
    """Amendments that belong together. revision: of the scene with them; session: of the voxel map then."""

    amendments: tuple[Amendment, ...]
    revision: int
    session: str


def journal_of_run(folder: Path, run: str) -> JournalFile[Request]:
    """Return the journal in the folder of a run; one of another run is put aside. Raises OSError, UnsafeFolder."""
    return JournalFile(folder / "scene_dictionary.journal", f"{KIND} of run {run}", VERSION, Request, OLDER)


class SceneJournal:
    """The one way to amend a scene that is kept. Raises what the journal raises, and then nothing has changed.

    journal: None = nothing outlives the process. problems: lines that could not be taken, and requests that were
    refused when they were carried out again.
    """

    def __init__(self, journal: JournalFile[Request] | None = None) -> None:
        self._journal = journal
        self.problems = list(journal.problems) if journal is not None else []
        self._lock = threading.RLock()  # taken before the scene's
        self._requests = list(journal.lines) if journal is not None else []
        self._waiting: list[Request] = []  # of things that the scene does not have yet

    def amend(
        self, scene: SceneDictionary, amendments: Sequence[Amendment], expected_revision: int = 0
    ) -> SceneAmended:
        """Write amendments and carry them out, all or none; see `amend_scene`. Raises AmendmentRefused, OSError."""
        with self._lock, scene.lock:  # a checkpoint holds either both or neither
            check_amendments(scene, amendments, expected_revision)
            request = Request(tuple(amendments), scene.revision + 1, _base(scene.session_id))
            if self._journal is not None:
                self._journal.append(request)
                self._requests.append(request)
            made = amend_scene(scene, amendments, expected_revision)
            if self._journal is not None and self._journal.is_full:
                with suppress(OSError):  # it is carried out and written; the journal stays long
                    self._rewrite(self._requests[-KEPT:])
            return made

    def replay(self, scene: SceneDictionary, revision: int = 0) -> int:
        """Carry out what a checkpoint does not hold, in order; return how many requests there were.

        revision: of the checkpoint that the scene goes on from; 0 = there is none. Amendments of things that the scene
        does not have yet wait for them (`settle`). Those of another map, that was there before one was loaded, are
        dropped.
        """
        missing = [
            request
            for request in self._requests
            if request.revision > revision or request.revision == _WAITING
        ]
        if revision:
            missing = [one for one in missing if one.session == _base(scene.session_id)]
        self._requests, self._waiting = [], missing
        self.settle(scene)
        if self._journal is not None and self._journal.lines:
            self._rewrite(self._requests)
        return len(missing)

    def settle(self, scene: SceneDictionary) -> list[SceneDelta]:
        """Carry out what waited for things that the scene has by now; return the deltas."""
        with self._lock:
            return self._settle(scene) if self._waiting else []

    def _settle(self, scene: SceneDictionary) -> list[SceneDelta]:
        deltas, still, blocked = list[SceneDelta](), list[Request](), set[int]()
        for request in self._waiting:
            things = {amendment.entity_id for amendment in request.amendments}
            try:
                if things & blocked:  # after one that waits for the same thing
                    raise AmendmentRefused(Refusal.UNKNOWN_ENTITY, "it waits")
                with scene.lock:
                    deltas.append(amend_scene(scene, request.amendments).delta)
                    self._requests.append(replace(request, revision=scene.revision))
            except AmendmentRefused as refused:
                if refused.refusal is Refusal.UNKNOWN_ENTITY:
                    blocked |= things
                    still.append(request)
                else:
                    self.problems.append(f"an amendment could not be carried out again: {refused}")
        changed, self._waiting = len(still) != len(self._waiting), still[-KEPT:]
        if changed and self._journal is not None:
            self._rewrite(self._requests)
        return deltas

    def clear(self) -> Callable[[], None]:
        """Forget every request, because another map was loaded; return what takes that back. Raises OSError."""
        with self._lock:
            former = self._requests, self._waiting
            self._replace([], [])

        def take_back() -> None:
            with self._lock:
                self._replace(*former)

        return take_back

    def _replace(self, requests: Sequence[Request], waiting: Sequence[Request]) -> None:
        """Have these requests instead of all, or raise OSError and have those there were."""
        former = self._requests, self._waiting
        self._waiting = list(waiting)
        try:
            if self._journal is not None:
                self._rewrite(requests)
        except OSError:
            self._requests, self._waiting = former
            raise

    def _rewrite(self, requests: Sequence[Request]) -> None:
        assert self._journal is not None
        self._requests = list(requests)
        waiting = [replace(request, revision=_WAITING) for request in self._waiting]
        self._journal.rewrite([*self._requests, *waiting])


def _base(session_id: str) -> str:
    """Return a session's name without what is added when the voxel map goes on in another process."""
    return session_id.split("+")[0]
