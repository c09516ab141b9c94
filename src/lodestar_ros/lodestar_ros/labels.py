"""Label tables of a simulator's label images."""

from __future__ import annotations

import json

from lodestar_ros.conversions import BadMessage

Table = dict[int, dict[str, str]]
BACKGROUND = ("background", "unlabelled", "unlabeled")

_PRIMS = (
    "it has paths of prims instead of classes, as Isaac Sim's instance segmentation gives them; "
    "remap label_table to the labels of the semantic segmentation"
)


def parse_table(text: str) -> tuple[float, Table]:
    """Return the stamp in seconds, and label value -> {"class", "caption"}.

    Reads the embedded simulator's {"stamp": [sec, nanosec], "labels": {"17": {"class", "caption"}}} and Isaac Sim's
    {"17": {"class"}, "time_stamp": {"sec", "nanosec"}} of its semantic segmentation. Classes that mean
    "nothing" are left out. Raises BadMessage.
    """
    try:
        content = json.loads(text)
        if "labels" in content:
            seconds, nanoseconds = content["stamp"]
            labels = content["labels"]
        else:
            time = content["time_stamp"]
            seconds, nanoseconds = time["sec"], time["nanosec"]
            labels = {key: value for key, value in content.items() if key != "time_stamp"}
        table = {}
        for key, entry in labels.items():
            if isinstance(entry, str):
                raise TypeError(_PRIMS)
            name = str(entry["class"])
            if name.lower() not in BACKGROUND:
                table[int(key)] = {"class": name, "caption": str(entry.get("caption", name))}
        return (int(seconds) * 1_000_000_000 + int(nanoseconds)) / 1_000_000_000, table
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadMessage(f"label table: {error.__class__.__name__}: {error}") from error
