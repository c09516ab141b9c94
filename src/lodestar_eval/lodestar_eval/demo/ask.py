"""`make ask QUESTION="when did you last see the mug?"`: ask the memory of the last demo, without a running stack.

Only the memory is at hand, not the scene or the plan: what was never remembered is not known, and no share of the
floor is told. Exit status: 0 answered; 1 it does not know; 2 the question or the memory cannot be used.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import RobotConfig
from lodestar.language.directive_errors import DirectiveError
from lodestar.language.question import Question
from lodestar.language.question_reader import read_question
from lodestar.memory.answer import Answer
from lodestar.memory.answer_text import answer_lines
from lodestar.memory.answering.tools import Tools
from lodestar.memory.errors import StoreError
from lodestar.memory.records import Memory
from lodestar.memory.requests import Request
from lodestar.memory.store import MemoryStore
from lodestar.models.phrases import PhraseBook

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
    options = parser.parse_args(arguments)
    if not options.memory.is_dir():
        return _complain(
            f"{options.memory} is no memory: run a demo first (make demo), or say --memory FOLDER"
        )
    try:
        question = read_question(options.question)
        answer, now = answered(question, options.memory)
    except (DirectiveError, StoreError) as error:
        return _complain(str(error))
    print("\n".join(answer_lines(answer, now)))
    return 0 if answer.is_known else EXIT_UNKNOWN


def answered(question: Question, folder: Path) -> tuple[Answer, float]:
    """Return the answer of a memory's folder, as of its last memory, and that time in seconds.

    Raises StoreError, with what to do, where the store cannot be used or has nothing.
    """
    from lodestar.models.embedder import SentenceTransformerEmbedder

    config = RobotConfig().memory
    book = PhraseBook(SentenceTransformerEmbedder())
    with MemoryStore.open(replace(config.store, folder=str(folder)), book.vectors) as store:
        last = _last(store)
        store.use_map(last.map)
        tools = Tools(store, book, parts.scene_mirror(), use_scene=False)
        pose = np.array([*last.position[:2], last.heading])
        return parts.answerer(config, tools).answer(question, last.end, pose), last.end


def _last(store: MemoryStore) -> Memory:
    """Return the last memory of a place. Raises StoreError where there is none."""
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
