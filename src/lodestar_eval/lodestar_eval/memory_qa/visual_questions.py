"""Questions that need a picture: the material of objects, and the objects that lie on them."""

from __future__ import annotations

from collections.abc import Iterator

from lodestar.models.lexicon import load_lexicon
from lodestar_eval.memory_qa.drafts import Draft, Forms, Maker, spans_of
from lodestar_eval.memory_qa.questions import WORDS, YES_NO, Gold
from lodestar_eval.memory_qa.truth import Stay

_MOST_ON = 3  # most objects on one support


def visual_forms(maker: Maker) -> Forms:
    """Return drafts by form of question. Materials are asked only of objects whose caption names none."""
    return {"made_of": _made_of(maker), "is_made_of": _is_made_of(maker), "lies_on": _lies_on(maker)}


def tells_material(caption: str) -> bool:
    """Return whether a caption names a material."""
    lexicon = load_lexicon()
    return any(lexicon.attribute_group.get(look) == "materials" for look in lexicon.attributes_in(caption))


def _shown(maker: Maker) -> Iterator[tuple[Stay, str]]:
    """Yield (stay, phrase) of unchanged objects with a material that their caption does not name."""
    things = [s for s in maker.unchanged if s.thing.material and not tells_material(s.thing.caption)]
    yield from maker.descriptions.phrased(things)


def _made_of(maker: Maker) -> Iterator[Draft]:
    for stay, words in _shown(maker):
        seen = spans_of(maker, [stay])
        if seen:
            gold = Gold(WORDS, words=frozenset({stay.thing.material}), seen=seen)
            yield Draft("made_of", {"thing": words}, gold, (stay.thing.id,))


def _is_made_of(maker: Maker) -> Iterator[Draft]:
    """Yield questions whether an object is of a material, alternately with answers yes and no."""
    materials = sorted({stay.thing.material for stay in maker.unchanged if stay.thing.material})
    for number, (stay, words) in enumerate(_shown(maker)):
        others = [m for m in materials if m != stay.thing.material]
        seen = spans_of(maker, [stay])
        if not seen or not others:
            continue
        yes = number % 2 == 0
        said = stay.thing.material if yes else others[int(maker.rng.integers(len(others)))]
        yield Draft("is_made_of", {"thing": words, "material": said}, Gold(YES_NO, yes=yes, seen=seen),
                    (stay.thing.id,))  # fmt: skip


def _lies_on(maker: Maker) -> Iterator[Draft]:
    for base, words, things in maker.supports():
        seen = spans_of(maker, things)
        if seen and len({s.thing.category for s in things}) <= _MOST_ON:
            gold = Gold(WORDS, words=frozenset(s.thing.category for s in things), seen=seen)
            yield Draft("lies_on", {"support": words}, gold, (base.thing.id,))
