"""Cache of the embeddings of a model's prompts, per user: loading a text model and encoding takes seconds."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from lodestar.storage.files import whole_file
from lodestar.storage.private import cache_folder

MOST_PHRASES = 2000  # most phrases per model, the newest; 2 kB each
KEPT = 4  # most files, one per model
_log = logging.getLogger(__name__)


class PromptCache:
    """Vectors of one model by phrase, stored in a file. A damaged file is replaced; write errors are ignored.

    digest: of the model, from `digest_of`; "" = nothing is stored. Not safe for threads.
    """

    def __init__(self, digest: str, folder: Path | None = None) -> None:
        self._path = (folder or cache_folder("prompts")) / f"{digest}.npz" if digest else None
        self._vectors = self._read()

    def vectors(self, phrases: Sequence[str], encode: Callable[[list[str]], np.ndarray]) -> np.ndarray:
        """Return vectors (N, D) float32 of N phrases.

        encode: called for the M phrases not stored, returns (M, D).
        """
        missing = [phrase for phrase in dict.fromkeys(phrases) if phrase not in self._vectors]
        if missing:
            made = np.asarray(encode(missing), np.float32)
            if made.ndim != 2 or len(made) != len(missing) or not np.isfinite(made).all():
                raise ValueError(f"the text model gave {made.shape} for {len(missing)} phrases")
            self._vectors |= dict(zip(missing, made))
            newest = {phrase: self._vectors.pop(phrase) for phrase in dict.fromkeys(phrases)}
            self._vectors = dict([*self._vectors.items(), *newest.items()][-max(MOST_PHRASES, len(newest)) :])
            self._write(self._vectors)
        return np.stack([self._vectors[phrase] for phrase in phrases])

    def _read(self) -> dict[str, np.ndarray]:
        if self._path is None:
            return {}
        try:
            with np.load(self._path, allow_pickle=False) as kept:
                phrases, vectors = kept["phrases"], kept["vectors"]
            if vectors.dtype != np.float32 or vectors.ndim != 2 or not np.isfinite(vectors).all():
                raise ValueError("no vectors")
            return dict(zip(map(str, phrases.tolist()), vectors, strict=True))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            _log.info("the kept prompts are encoded anew: %s", error)
            return {}

    def _write(self, vectors: dict[str, np.ndarray]) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(self._path, durable=False) as unfinished, unfinished.open("wb") as out:
                np.savez(out, phrases=np.array(list(vectors)), vectors=np.stack(list(vectors.values())))
        except OSError as error:  # no home folder, or a disk that is full or read-only
            _log.info("the prompts are not kept: %s", error)
            return
        with contextlib.suppress(OSError):
            for old in sorted(self._path.parent.glob("*.npz"), key=os.path.getmtime)[:-KEPT]:
                old.unlink()


def digest_of(weights: Path) -> str:
    """Return a digest of the content of a weights file, as a name for it. Raises OSError."""
    digest = hashlib.sha256()
    with weights.open("rb") as source:
        while part := source.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()[:32]
