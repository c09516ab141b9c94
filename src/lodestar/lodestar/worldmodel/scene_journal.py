"""Journal of the scene's amendments, written before they are applied, so that a killed process loses none.

A checkpoint of the scene is some seconds old, and later amendments cannot be observed again. After a restart,
the journal's amendments that the checkpoint lacks are applied.
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
from lodestar.worldmodel.scene_edits import SceneAmended, amend_scene, check_amendments

KIND, VERSION = "lodestar-scene-amendments", 2  # of the journal's file
KEPT = 1000  # requests kept in a full journal; checkpoints, which are seconds old, contain the older ones
_WAITING = -1  # as a revision: not applied yet


class Request(Struct, frozen=True, tag_field="op", tag="amend"):
    """Amendments that belong together. revision: of the scene after them; session: of the voxel map at that time."""

    amendments: tuple[Amendment, ...]
    revision: int
    session: str


def journal_of_run(folder: Path, run: str) -> JournalFile[Request]:
    """Return the journal in the folder of a run; a journal of another run is renamed. Raises OSError,
    UnsafeFolder.
    """
    return JournalFile(folder / "scene_dictionary.journal", f"{KIND} of run {run}", VERSION, Request)


class SceneJournal:
    """Writes amendments to a journal and applies them; a persistent scene is amended in no other way.

    Errors of the journal are raised before anything changes. journal: None = not persistent. problems:
    unreadable lines, and requests refused during replay.
    """

    def __init__(self, journal: JournalFile[Request] | None = None) -> None:
        self._journal = journal
        self.problems = list(journal.problems) if journal is not None else []
        self._lock = threading.RLock()  # acquired before the scene's
        self._requests = list(journal.lines) if journal is not None else []
        self._waiting: list[Request] = []  # for entities that the scene does not have yet

    def amend(
        self, scene: SceneDictionary, amendments: Sequence[Amendment], expected_revision: int = 0
    ) -> SceneAmended:
        """Write amendments to the journal and apply them, all or none; see `amend_scene`. Raises AmendmentRefused,
        OSError.
        """
        with self._lock, scene.lock:  # no checkpoint is made between writing and applying
            check_amendments(scene, amendments, expected_revision)
            request = Request(tuple(amendments), scene.revision + 1, _base(scene.session_id))
            if self._journal is not None:
                self._journal.append(request)
                self._requests.append(request)
            made = amend_scene(scene, amendments, expected_revision)
            if self._journal is not None and self._journal.is_full:
                with suppress(OSError):  # applied and written; only the journal stays long
                    self._rewrite(self._requests[-KEPT:])
            return made

    def replay(self, scene: SceneDictionary, revision: int = 0) -> int:
        """Apply the requests that a checkpoint lacks, in order, and return their number.

        revision: of the checkpoint from which the scene was restored; 0 = none. Requests for entities that
        the scene does not have yet are queued for `settle`. Those of an earlier, replaced map are dropped.
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
        """Apply queued amendments whose entities the scene has now, and return the deltas."""
        with self._lock:
            return self._settle(scene) if self._waiting else []

    def _settle(self, scene: SceneDictionary) -> list[SceneDelta]:
        deltas, still, blocked = list[SceneDelta](), list[Request](), set[int]()
        for request in self._waiting:
            things = {amendment.entity_id for amendment in request.amendments}
            try:
                if things & blocked:  # after an earlier request for the same entity
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
        """Drop every request, because another map was loaded. Returns an undo function. Raises OSError."""
        with self._lock:
            former = self._requests, self._waiting
            self._replace([], [])

        def take_back() -> None:
            with self._lock:
                self._replace(*former)

        return take_back

    def _replace(self, requests: Sequence[Request], waiting: Sequence[Request]) -> None:
        """Replace all requests; on OSError restore the former ones and raise."""
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
    """Return a session's name without the suffix added when another process continues the voxel map."""
    return session_id.split("+")[0]
