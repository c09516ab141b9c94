"""Reader of text in images by PP-OCR through RapidOCR, on one CPU thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lodestar.perception.frames import DetectorUnavailable
from lodestar.perception.onnx_sessions import first_line
from lodestar.perception.signs import TextLine

SIGN_SIDE = 480  # pixels, longest side of an area that the detector of text is given

MISSING = "signs are not read: rapidocr is not installed (make setup EXTRAS=signs)"


class RapidReader:
    """`SignReader` by rapidocr 3, whose models come with the package and are loaded with the first image."""

    def __init__(self) -> None:
        self._engine: Any = None

    def read(self, rgb: np.ndarray) -> Sequence[TextLine]:
        """Return the lines of text in an image (H, W, 3) uint8. Raises DetectorUnavailable."""
        if self._engine is None:
            self._engine = open_reader()
        found = self._engine(np.ascontiguousarray(rgb[..., ::-1]))
        if found.boxes is None or found.txts is None:
            return ()
        rows = zip(found.txts, found.scores, found.boxes)
        return tuple(TextLine(str(text), float(score), np.asarray(box)) for text, score, box in rows)


def open_reader() -> Any:
    """Return rapidocr's engine. Raises DetectorUnavailable, which says what to install."""
    try:
        from rapidocr import RapidOCR
    except ImportError as error:
        raise DetectorUnavailable(MISSING) from error
    try:
        return RapidOCR(
            params={
                "Global.use_cls": False,  # signs do not hang upside down
                "Global.log_level": "error",
                "Det.limit_side_len": SIGN_SIDE,
                "Det.limit_type": "max",
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )
    except Exception as error:  # rapidocr has no exception class of its own
        raise DetectorUnavailable(
            f"signs are not read: rapidocr does not start: {first_line(error)}"
        ) from error
