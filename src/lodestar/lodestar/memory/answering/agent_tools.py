"""Tools for the language model: searches of the memory, printed as notes with ids that a claim can cite."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lodestar.keyframes.records import ImageName
from lodestar.language.directive_errors import DirectiveError
from lodestar.language.question_reader import read_question
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.picture_subjects import meant_things
from lodestar.memory.answering.records import Thing, name_in_words
from lodestar.memory.answering.selection import When, find
from lodestar.memory.answering.shots import Shot, shots_for, shots_of
from lodestar.memory.answering.wording import ago_in_words, place_in_words
from lodestar.memory.records import Memory
from lodestar.memory.requests import Order, Request
from lodestar.models.phrases import MissingPhrases
from lodestar.scene.captions import clean_text

#: Returns a keyframe's image as a JPEG or PNG file; None if it no longer exists.
Pictures = Callable[[ImageName], "bytes | None"]

_NOTES = 6  # notes per call: STaR's K
_LETTERS = 400  # characters of a note's text
_LISTED = 12  # most objects listed per picture, the largest first


@dataclass
class Notebook:
    """Records that were shown to the model in a conversation; only these may be cited."""

    memories: dict[int, Memory] = field(default_factory=dict)
    things: dict[int, Thing] = field(default_factory=dict)
    pictures: dict[int, Shot] = field(default_factory=dict)


class AgentTools:
    """Executes the language model's tool calls for one question, and stores the records that were shown.

    Bad arguments return a note that states the error.
    """

    def __init__(self, inquiry: Inquiry, pictures: Pictures | None = None, least_share: float = 0.0) -> None:
        self.shown = Notebook()
        self._inquiry, self._pictures, self._least = inquiry, pictures, least_share
        self._tools: dict[str, Callable[[dict[str, Any]], str]] = {
            "search_text": self._search_text,
            "search_time": self._search_time,
            "search_place": self._search_place,
            "find_things": self._find_things,
        }

    def first_notes(self) -> str:
        """Return the memories that the retrieval selects for the question, as notes of text."""
        return self._notes([piece.hit.memory for piece in self._inquiry.pieces])

    def first_pictures(self, most: int) -> tuple[str, list[bytes]]:
        """Return a list, as text, of the pictures most relevant to the question, and their JPEG or PNG files.

        Order: pictures of objects that the question may mean, then of the categories nearest to its words
        (SnapMem 3.2.3), then of frontiers (SnapMem 3.3). Returns nothing if vectors of words are missing.
        Raises AnswerCancelled.
        """
        inquiry, shots = self._inquiry, self._inquiry.tools.shots
        try:
            meant = meant_things(inquiry)
            wanted = {shot.image: shot for shot in shots_of(meant, shots, self._least)}
            fitting = shots_for(inquiry.question.text, shots, inquiry.tools.phrases, most)
            for shot in (*fitting, *(shot for shot in shots if shot.frontier)):
                wanted.setdefault(shot.image, shot)
        except MissingPhrases:
            return "", []
        listed, images = [], []
        if meant:
            listed.append(f"The question may mean {', '.join(f'e{i}' for i in meant)}, the likeliest first.")
        for shot in list(wanted.values())[:most]:
            inquiry.tools.check()  # loading a picture may take long
            image = self._shown_picture(shot)
            if image:
                images.append(image)
                listed.append(self._picture_line(shot))
        return "\n".join(listed), images

    def _picture_line(self, shot: Shot) -> str:
        scene, now = self._inquiry.tools.scene, self._inquiry.now
        drawn = sorted((i for i in shot.shares if shot.shows(i, self._least)), key=lambda i: -shot.shares[i])
        known = {i: scene.entities.get(i) for i in drawn}
        things = [f"e{i} {name_in_words(e.caption, e.label)}" for i, e in known.items() if e is not None]
        room = self._inquiry.room_at(shot.position)
        x, y = float(shot.position[0]), float(shot.position[1])
        return (
            f"k{shot.image.id}: {now - shot.stamp:.0f} s ago, from ({x:.1f}, {y:.1f}){f' in {room}' if room else ''}, "
            f"things [{'; '.join(things[:_LISTED])}]{', at a frontier of the known' if shot.frontier else ''}"
        )

    def _shown_picture(self, shot: Shot) -> bytes:
        """Return a picture as a file and allow it to be cited; b"" if it does not exist."""
        if self._pictures is None or self.shown.pictures.get(shot.image.id, shot).image != shot.image:
            return b""  # a picture of another run with the same number was shown
        image = self._pictures(shot.image) or b""
        if image:
            self.shown.pictures[shot.image.id] = shot
        return image

    def run(self, calls: Sequence[dict[str, Any]]) -> tuple[str, list[bytes]]:
        """Execute the model's tool calls; return notes and pictures. Raises MissingPhrases, StoreError."""
        said, images = [], []
        for call in calls:
            name = str(call["tool"])
            if name == "show_keyframes":
                found = self._images(call["ids"])
                images += found
                said.append(f"show_keyframes: {len(found)} pictures are attached")
                continue
            try:
                said.append(f"{name}: {self._tools[name](call)}")
            except ValueError as error:
                said.append(f"{name}: {clean_text(str(error))}")
        return "\n".join(said), images

    def _search_text(self, call: dict[str, Any]) -> str:
        text = clean_text(call["text"])
        if not text:
            return "no text was given"
        question = replace(self._inquiry.question, item=None, other=None, text=text)
        window = self._window(call)
        inquiry = replace(self._inquiry, question=question, shown=None, window=window)
        return self._notes([piece.hit.memory for piece in inquiry.pieces])

    def _search_time(self, call: dict[str, Any]) -> str:
        window = self._window(call)
        if window is None:
            return "no time was given"
        return self._search(Request(window=window, limit=_NOTES, order=Order.NEWEST))

    def _search_place(self, call: dict[str, Any]) -> str:
        x, y, radius = call["x"], call["y"], call["radius"]
        if x is None or y is None:
            return "no place was given"
        near = (float(x), float(y))
        return self._search(
            Request(near=near, radius=float(radius or 5.0), limit=_NOTES, order=Order.NEAREST)
        )

    def _search(self, request: Request) -> str:
        hits = self._inquiry.tools.memories.search(request)
        return self._notes([hit.memory for hit in hits])

    def _find_things(self, call: dict[str, Any]) -> str:
        try:
            item = read_question(f"where is the {clean_text(call['text'])}?").item
        except DirectiveError as error:
            return clean_text(str(error))
        if item is None:
            return "this describes no thing"
        found = find(self._inquiry, item, When.PAST).things[:_NOTES]
        return "\n".join(self._thing(thing) for thing in found) or "nothing fits"

    def _window(self, call: dict[str, Any]) -> tuple[float, float] | None:
        begin, end = call["from_ago"], call["to_ago"]
        if begin is None and end is None:
            return None
        now = self._inquiry.now
        first = -math.inf if begin is None else now - float(begin)
        last = now if end is None else now - float(end)
        return min(first, last), max(first, last)

    def _images(self, ids: Sequence[int]) -> list[bytes]:
        outlined = {shot.image: shot for shot in self._inquiry.tools.shots}
        known = {
            image.id: outlined.get(image) or _shot_of(image, memory)
            for memory in self.shown.memories.values()
            for image in memory.images
        }
        found = [self._shown_picture(known[int(i)]) for i in ids if int(i) in known]
        return [image for image in found if image]

    def _notes(self, memories: Sequence[Memory]) -> str:
        return "\n".join(self._note(memory) for memory in memories[:_NOTES]) or "nothing was found"

    def _note(self, memory: Memory) -> str:
        self.shown.memories[memory.id] = memory
        now, x, y = self._inquiry.now, float(memory.position[0]), float(memory.position[1])
        room = self._inquiry.room_at(memory.position) or clean_text(memory.region)
        things = [
            f"e{self._inquiry.tools.scene.resolve(p.entity_id)} {name_in_words(p.caption, p.label)} {_place(p.centre)}"
            for p in memory.primitives[:12]
        ]
        text = clean_text(memory.text[:_LETTERS]).replace('"', "'")
        return (
            f"m{memory.id}: {now - memory.end:.0f} to {now - memory.start:.0f} s ago, robot at ({x:.1f}, {y:.1f})"
            f"{f' in {room}' if room else ''}, keyframes {list(memory.keyframe_ids)}, things [{'; '.join(things)}], "
            f'said: "{text}"'
        )

    def _thing(self, thing: Thing) -> str:
        self.shown.things[thing.id] = thing
        where = place_in_words(self._inquiry, thing.box, thing)
        when = ago_in_words(thing.last, self._inquiry.now)
        seconds = self._inquiry.now - thing.last
        gone = ", gone since" if thing.is_gone else ""
        place = _place(thing.box.centre)
        return f"e{thing.id}: {thing.name} {place} {where}, last seen {when} ({seconds:.0f} s ago){gone}"


def _shot_of(image: ImageName, memory: Memory) -> Shot:
    ids = frozenset(primitive.entity_id for primitive in memory.primitives)
    middle = (memory.start + memory.end) / 2.0
    return Shot(image, middle, np.asarray(memory.position, float), ids, (), memory.text)


def _place(point: np.ndarray) -> str:
    return "(" + ", ".join(f"{float(value):.1f}" for value in point) + ")"
