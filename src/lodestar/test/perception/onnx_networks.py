"""Small networks in ONNX files that return fixed arrays for every image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper


def write_network(
    path: Path,
    outputs: list[np.ndarray],
    size: tuple[int | str, int | str] = (64, 64),
    metadata: dict[str, str] | None = None,
    dtype: int = onnx.TensorProto.FLOAT,
    channels: int = 3,
    batch: int = 1,
) -> Path:
    """Write a network that reads [batch, channels, *size] and returns these arrays."""
    image = helper.make_tensor_value_info("images", dtype, [batch, channels, *size])
    nodes, made, constants = [], [], []
    for index, array in enumerate(outputs):
        constants.append(numpy_helper.from_array(array.astype(np.float32), f"array{index}"))
        # The image enters with weight zero, so that the runtime has to read it.
        nodes += [
            helper.make_node("ReduceMax", ["images"], [f"most{index}"], keepdims=0),
            helper.make_node("Cast", [f"most{index}"], [f"real{index}"], to=onnx.TensorProto.FLOAT),
            helper.make_node("Sub", [f"real{index}", f"real{index}"], [f"none{index}"]),
            helper.make_node("Add", [f"array{index}", f"none{index}"], [f"output{index}"]),
        ]
        made.append(
            helper.make_tensor_value_info(f"output{index}", onnx.TensorProto.FLOAT, list(array.shape))
        )
    graph = helper.make_graph(nodes, "invented", [image], made, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, metadata or {})
    onnx.save(model, path)
    return path


def names(count: int) -> dict[str, str]:
    """Return metadata with `count` class names, in the form that Ultralytics writes."""
    return {"names": str({kind: f"thing {kind}" for kind in range(count)})}


def yolo_output(
    boxes: list[tuple[float, float, float, float, int, float]], classes: int, count: int = 80
) -> np.ndarray:
    """Return [1, 4 + classes, count] of boxes (left, top, right, bottom, kind, score) in pixels of the input."""
    table = np.zeros((1, 4 + classes, count), np.float32)
    for column, (left, top, right, bottom, kind, score) in enumerate(boxes):
        table[0, :4, column] = (left + right) / 2, (top + bottom) / 2, right - left, bottom - top
        table[0, 4 + kind, column] = score
    return table
