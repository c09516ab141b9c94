"""Irregular verb forms."""

from __future__ import annotations

#: Past forms and participles with their base forms.
IRREGULAR = {
    "went": "go", "gone": "go", "came": "come", "took": "take", "taken": "take", "made": "make", "found": "find",
    "left": "leave", "saw": "see", "seen": "see", "put": "put", "drove": "drive", "driven": "drive", "fell": "fall",
    "fallen": "fall", "broke": "break", "broken": "break", "began": "begin", "begun": "begin", "sold": "sell",
    "met": "meet", "said": "say", "told": "tell", "chose": "choose", "chosen": "choose", "got": "get", "gave": "give",
    "given": "give", "held": "hold", "hit": "hit", "brought": "bring", "stood": "stand", "sat": "sit", "ran": "run",
    "hid": "hide", "hidden": "hide", "stole": "steal", "stolen": "steal", "threw": "throw", "thrown": "throw",
    "wore": "wear", "worn": "wear", "kept": "keep", "lost": "lose", "hung": "hang", "built": "build", "sent": "send",
    "bought": "buy", "caught": "catch", "forgot": "forget", "forgotten": "forget", "grown": "grow", "shown": "show",
    "written": "write", "wrote": "write", "spent": "spend", "laid": "lay",
    "decided": "decide", "picked": "pick",  # regular, but the ending alone is ambiguous
}  # fmt: skip
