"""`make ask QUESTION="when did you last see the mug?"`: ask the memory of the last demo, without a running stack.

The map that the demo saved at its end gives scene, rooms and floor. Without it only the memory is used: objects that
were never remembered are unknown, and no share of the floor is reported. Exit status: 0 answered; 1 no answer known;
2 the question or the memory cannot be used.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lodestar.assembly.config import RobotConfig
from lodestar.assembly.local_map import LocalMap
from lodestar.assembly.memory_chain import map_name_of
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive_errors import DirectiveError
from lodestar.language.likely_questions import LikelyQuestions
from lodestar.language.question import Question
from lodestar.language.question_reader import read_question
from lodestar.memory.answer import Answer
from lodestar.memory.answer_text import answer_lines
from lodestar.memory.answering.answerer import Answerer
from lodestar.memory.answering.coverage import FloorLooks
from lodestar.memory.answering.tools import Tools
from lodestar.memory.errors import StoreError
from lodestar.memory.records import Memory
from lodestar.memory.requests import MAX_LIMIT, Request
from lodestar.memory.store import MemoryStore
from lodestar.models.embedder import SentenceTransformerEmbedder
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.storage.archive import ArchiveError
from lodestar.storage.saved_map import SavedMap
from lodestar.storage.snapshot import BadFolder
from lodestar_eval.settings import EpisodeSettings

EXIT_UNKNOWN, EXIT_USAGE = 1, 2


def main(arguments: list[str] | None = None) -> int:
    """Answer one question; see the module for the exit status."""
    parser = argparse.ArgumentParser(
        "python -m lodestar_eval.demo.ask",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("question", help='such as "where is the red chair?"')
    parser.add_argument(
        "--memory",
        type=Path,
        default=Path("out/demo/memory"),
        metavar="FOLDER",
        help="default out/demo/memory",
    )
    parser.add_argument(
        "--map", type=Path, default=None, metavar="FOLDER", help="a saved map; default map beside the memory"
    )
    options = parser.parse_args(arguments)
    if not options.memory.is_dir():
        return _complain(
            f"{options.memory} is no memory: run a demo first (make demo), or say --memory FOLDER"
        )
    try:
        book = PhraseBook(SentenceTransformerEmbedder())
        question = read_question(options.question, likely=LikelyQuestions(book.vectors))
        saved = options.map or options.memory.parent / "map"
        answer, now = answered(question, options.memory, saved, book)
    except (DirectiveError, StoreError) as error:
        return _complain(str(error))
    print("\n".join(answer_lines(answer, now)))
    return 0 if answer.is_known else EXIT_UNKNOWN


@dataclass(frozen=True)
class _Around:
    """Scene and floor plan that complement the memories. grid: None = no floor plan was saved."""

    scene: SceneMirror
    grid: OccupancyGrid2D | None = None


def answered(
    question: Question, folder: Path, saved: Path | None = None, book: PhraseBook | None = None
) -> tuple[Answer, float]:
    """Answer a question from a memory's folder; return the answer and the time of the last memory, s.

    saved: folder of the map; ignored if missing or if it is not the map of the memory. Raises StoreError, with
    advice, if the store cannot be used or is empty.
    """
    config = EpisodeSettings().robot
    book = book or PhraseBook(SentenceTransformerEmbedder())
    with MemoryStore.open(replace(config.memory.store, folder=str(folder)), book.vectors) as store:
        last = _last(store)
        store.use_map(last.map)
        around = _around(saved, config, book, last)
        looks = FloorLooks(config.memory.answering.coverage)
        looks.take(hit.memory for hit in store.search(Request(limit=MAX_LIMIT)))
        has_plan = around.grid is not None
        tools = Tools(
            store, book, around.scene, use_scene=has_plan, grid=around.grid, looks=looks if has_plan else None
        )
        answerer = Answerer(tools, config.memory.answering)
        pose = np.array([*last.position[:2], last.heading])
        return answerer.answer(question, last.end, pose), last.end


def _around(saved: Path | None, config: RobotConfig, book: PhraseBook, last: Memory) -> _Around:
    """Return the scene and plan of the saved map if the memories belong to it, else an empty scene."""
    nothing = _Around(SceneMirror())
    if saved is None or not saved.is_dir():
        return nothing
    chain = LocalMap(config, book)
    try:
        chain.go_on_from(SavedMap.read(saved), last.end)
    except (BadFolder, ArchiveError, OSError) as error:
        print(f"lodestar ask: the map in {saved} is left out: {error}", file=sys.stderr)
        return nothing
    if map_name_of(chain.mirror.map_id, chain.mirror.session_id) != last.map:
        print(f"lodestar ask: the map in {saved} is not the memory's and is left out", file=sys.stderr)
        return nothing
    return _Around(chain.mirror, chain.grid)


def _last(store: MemoryStore) -> Memory:
    """Return the newest memory, and set its map in the store. Raises StoreError if there is none."""
    for identity in reversed(store.identities()):
        memory = store.get(identity)
        store.use_map(memory.map)
        hits = store.search(Request(limit=1))
        return hits[0].memory if hits else memory
    raise StoreError("nothing is remembered there: let the demo run for some seconds")


def _complain(message: str) -> int:
    print(f"lodestar ask: error: {message}", file=sys.stderr)
    return EXIT_USAGE


if __name__ == "__main__":
    sys.exit(main())
