"""Convert an SSD in a TensorFlow Lite file to ONNX, with its boxes decoded.

Supports float convolutions, sums, joins and changes of shape; weights may be stored as float16. The ONNX network reads
[1, 3, side, side] and returns [1, boxes, 4 + classes]: centre and size in pixels of the input, and a score per class.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import tflite
from onnx import helper, numpy_helper
from tfjs_to_onnx import OPSET, TO_NHWC, ConversionError

_DTYPES = {
    tflite.TensorType.FLOAT32: np.float32,
    tflite.TensorType.FLOAT16: np.float16,
    tflite.TensorType.INT32: np.int32,
}
_KINDS = {code: name for name, code in vars(tflite.BuiltinOperator).items() if isinstance(code, int)}
# MediaPipe's anchors: strides, sides of the lowest and highest layer as shares of the image's, width by height
STRIDES, SIDES, RATIOS = (16, 32, 64, 128, 256, 512), (0.2, 0.95), (1.0, 2.0, 0.5, 3.0, 0.3333)
LOWEST = ((0.1, 1.0), (0.2, 2.0), (0.2, 0.5))  # side and width by height, in the lowest layer
CENTER, SIZE = 10.0, 5.0  # scales of the encoded centre and size


def anchors(side: int) -> np.ndarray:
    """Return the anchors (N, 4) float32 of a square image: centre x, y, width, height, pixels."""
    scales, found = [*np.linspace(*SIDES, len(STRIDES)), 1.0], []
    for layer, stride in enumerate(STRIDES):
        scale, above = scales[layer : layer + 2]
        pairs = LOWEST if layer == 0 else [*((scale, r) for r in RATIOS), (np.sqrt(scale * above), 1.0)]
        cells = (np.arange(-(-side // stride)) + 0.5) / -(-side // stride)
        for y, x, (one, ratio) in itertools.product(cells, cells, pairs):
            found.append((x, y, one * np.sqrt(ratio), one / np.sqrt(ratio)))
    return np.array(found, np.float32) * side


def convert(data: bytes, metadata: Mapping[str, str]) -> onnx.ModelProto:
    """Return the model of a TFLite file. Raises ConversionError."""
    return Graph(data).build(metadata)


class Graph:
    """Conversion of one model. Images are NCHW here; they are transposed before their shape changes."""

    def __init__(self, data: bytes):
        self._model = tflite.Model.GetRootAsModel(data, 0)
        self._graph = self._model.Subgraphs(0)
        self._out: list[onnx.NodeProto] = []
        self._used: dict[str, onnx.TensorProto] = {}
        self._constants: dict[int, np.ndarray] = {}
        self._images: set[int] = set()

    def build(self, metadata: Mapping[str, str]) -> onnx.ModelProto:
        """Return the checked ONNX model, without the first class, which is an SSD's background."""
        for index in range(self._graph.OperatorsLength()):
            self._convert(self._graph.Operators(index))
        (source,), (boxes, scores) = self._graph.InputsAsNumpy(), self._graph.OutputsAsNumpy()
        side, classes = self._shape(source)[1], self._shape(scores)[2]
        self._decode(f"t{boxes}", f"t{scores}", anchors(side), classes)
        image, table = (
            helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
            for name, shape in ((f"t{source}", [1, 3, side, side]), ("found", [1, None, 3 + classes]))
        )
        graph = helper.make_graph(self._out, "converted", [image], [table], list(self._used.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        helper.set_model_props(model, dict(metadata))
        onnx.checker.check_model(model, full_check=True)
        return model

    def _decode(self, boxes: str, scores: str, anchor: np.ndarray, classes: int) -> None:
        """Emit centres, sizes (encoded as y, x, height, width) and scores, joined."""
        self._emit("Gather", [boxes, self._constant("order", np.array([1, 0, 3, 2]))], "ordered", axis=2)
        self._out.append(helper.make_node("Split", ["ordered"], ["centre", "size"], axis=2))
        by = {"centre": anchor[:, 2:] / CENTER, "middle": anchor[:, :2], "scale": np.float32([1 / SIZE])}
        by["whole"] = anchor[:, 2:]
        for name, value in by.items():
            self._constant(f"anchor/{name}", value)
        self._emit("Mul", ["centre", "anchor/centre"], "shift")
        self._emit("Add", ["shift", "anchor/middle"], "at")
        self._emit("Mul", ["size", "anchor/scale"], "log")
        self._emit("Exp", ["log"], "factor")
        self._emit("Mul", ["factor", "anchor/whole"], "sides")
        named = self._constant("named", np.arange(1, classes))
        self._emit("Gather", [scores, named], "logits", axis=2)
        self._emit("Sigmoid", ["logits"], "scores")
        self._emit("Concat", ["at", "sides", "scores"], "found", axis=2)

    def _convert(self, operator: Any) -> None:
        kind = _KINDS[self._model.OperatorCodes(operator.OpcodeIndex()).BuiltinCode()]
        inputs, (output,) = [int(one) for one in operator.InputsAsNumpy()], operator.OutputsAsNumpy()
        name = f"t{output}"
        if kind == "DEQUANTIZE":
            self._constants[output] = self._value(inputs[0]).astype(np.float32)
        elif kind in ("CONV_2D", "DEPTHWISE_CONV_2D"):
            self._convolution(kind, operator, inputs, int(output))
        elif kind == "ADD" and self._images.issuperset(inputs):
            self._images.add(int(output))
            self._emit("Add", [f"t{one}" for one in inputs], f"{name}/made")
            self._activate(name, self._options(operator, tflite.AddOptions))
        elif kind == "CONCATENATION":
            axis = self._options(operator, tflite.ConcatenationOptions).Axis()
            self._emit("Concat", [f"t{one}" for one in inputs], name, axis=axis)
        elif kind == "RESHAPE":
            source = f"t{inputs[0]}"
            if inputs[0] in self._images:
                source = self._emit("Transpose", [source], f"{name}/nhwc", perm=TO_NHWC)
            self._emit(
                "Reshape", [source, self._constant(f"{name}/shape", np.array(self._shape(output)))], name
            )
        else:
            raise ConversionError(f"tensor {output} is made by {kind}, which this converter does not know")

    def _convolution(self, kind: str, operator: Any, inputs: list[int], output: int) -> None:
        each = kind == "DEPTHWISE_CONV_2D"
        options = self._options(operator, tflite.DepthwiseConv2DOptions if each else tflite.Conv2DOptions)
        weights = self._value(inputs[1]).transpose((3, 0, 1, 2) if each else (0, 3, 1, 2))
        name, parts = f"t{output}", [self._constant(f"t{inputs[1]}", weights)]
        parts.append(self._constant(f"t{inputs[2]}", self._value(inputs[2])))
        self._images.add(output)
        self._emit(
            "Conv",
            [f"t{inputs[0]}", *parts],
            f"{name}/made",
            group=len(weights) // options.DepthMultiplier() if each else 1,
            dilations=[options.DilationHFactor(), options.DilationWFactor()],
            strides=[options.StrideH(), options.StrideW()],
            auto_pad="SAME_UPPER" if options.Padding() == tflite.Padding.SAME else "VALID",
        )
        self._activate(name, options)

    def _activate(self, name: str, options: Any) -> None:
        """Emit the activation that is fused with an operation: none, or ReLU 6."""
        kind = options.FusedActivationFunction()
        if kind not in (tflite.ActivationFunctionType.NONE, tflite.ActivationFunctionType.RELU6):
            raise ConversionError(f"{name} has the activation {kind}, which this converter does not know")
        if kind == tflite.ActivationFunctionType.RELU6:
            limits = [self._constant(f"limit{value}", np.float32(value)) for value in (0, 6)]
            self._emit("Clip", [f"{name}/made", *limits], name)
        else:
            self._emit("Identity", [f"{name}/made"], name)

    def _options(self, operator: Any, kind: Any) -> Any:
        options, table = kind(), operator.BuiltinOptions()
        options.Init(table.Bytes, table.Pos)
        return options

    def _shape(self, tensor: int) -> list[int]:
        return [int(side) for side in self._graph.Tensors(tensor).ShapeAsNumpy()]

    def _value(self, tensor: int) -> np.ndarray:
        """Return a constant."""
        if tensor in self._constants:
            return self._constants[tensor]
        described = self._graph.Tensors(tensor)
        data = self._model.Buffers(described.Buffer()).DataAsNumpy()
        return np.asarray(data).view(_DTYPES[described.Type()]).reshape(self._shape(tensor))

    def _emit(self, kind: str, inputs: list[str], name: str, **options: Any) -> str:
        self._out.append(helper.make_node(kind, inputs, [name], name=name, **options))
        return name

    def _constant(self, name: str, value: np.ndarray) -> str:
        self._used[name] = numpy_helper.from_array(np.ascontiguousarray(value).reshape(np.shape(value)), name)
        return name
