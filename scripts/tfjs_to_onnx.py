"""Convert a frozen TensorFlow.js graph model to ONNX.

    python scripts/tfjs_to_onnx.py MODEL.json MODEL.onnx

Supports the operations in `OPERATIONS`, with inputs in NHWC where TensorFlow requires it; operations on constants
only are folded. Weights may be stored as float16, or as uint8 or uint16 with a scale.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 17
TO_NCHW, TO_NHWC = [0, 3, 1, 2], [0, 2, 3, 1]
ALIKE = {  # TensorFlow's name -> ONNX's name, for operations with the same inputs and meaning
    "Add": "Add", "AddV2": "Add", "BiasAdd": "Add", "Mul": "Mul", "Sub": "Sub", "Relu": "Relu", "Sigmoid": "Sigmoid",
    "Identity": "Identity", "Reshape": "Reshape",
}  # fmt: skip


class ConversionError(ValueError):
    """Raised for a model that cannot be converted; the message says why."""


def main(source: Path, target: Path) -> None:
    """Convert the model `source` and write it to `target`."""
    onnx.save(convert(source), target)


def convert(source: Path, metadata: Mapping[str, str] | None = None) -> onnx.ModelProto:
    """Return the model of a TFJS description, whose weights lie beside it. Raises ConversionError, OSError."""
    try:
        model = json.loads(source.read_text())
        graph = Graph(model, read_weights(model, source.parent))
        return graph.build(metadata or {})
    except (KeyError, IndexError, TypeError, json.JSONDecodeError) as error:
        raise ConversionError(f"{source} is no graph model of TensorFlow.js ({error!r})") from error


def read_weights(model: Mapping[str, Any], folder: Path) -> dict[str, np.ndarray]:
    """Return the weights by name. Raises ConversionError if the files are too short or too long."""
    found: dict[str, np.ndarray] = {}
    for group in model["weightsManifest"]:
        data = b"".join((folder / path).read_bytes() for path in group["paths"])
        at = 0
        for entry in group["weights"]:
            stored = entry.get("quantization", {})
            kind = np.dtype(stored.get("dtype", entry["dtype"])).newbyteorder("<")
            count = int(np.prod(entry["shape"], dtype=np.int64))
            if at + count * kind.itemsize > len(data):
                raise ConversionError(
                    f"the weights end at {len(data)} bytes, before those of {entry['name']}"
                )
            values = np.frombuffer(data, kind, count, at).reshape(entry["shape"]).astype(entry["dtype"])
            if "scale" in stored:
                values = values * np.float32(stored["scale"]) + np.float32(stored["min"])
            found[entry["name"]] = values.astype(entry["dtype"])
            at += count * kind.itemsize
        if at != len(data):
            raise ConversionError(f"{len(data) - at} bytes of weights belong to nothing")
    return found


class Graph:
    """Conversion of one model: its TensorFlow.js nodes, and the ONNX nodes and constants made from them."""

    def __init__(self, model: Mapping[str, Any], weights: Mapping[str, np.ndarray]):
        self._model = model
        self._nodes = model["modelTopology"]["node"]
        self._constants = dict(weights)
        self._out: list[onnx.NodeProto] = []
        self._used: dict[str, onnx.TensorProto] = {}

    def build(self, metadata: Mapping[str, str]) -> onnx.ModelProto:
        """Return the checked ONNX model."""
        for node in _sorted(self._nodes, self._constants):
            if node["op"] not in ("Const", "Placeholder") and not self._fold(node):
                self._convert(node)
        signature = self._model["signature"]
        # sorted by number, so that `Identity_10` comes after `Identity_9`: this keeps the model's order of outputs
        outputs = sorted(signature["outputs"], key=lambda key: (len(key), key))
        graph = helper.make_graph(
            self._out,
            "converted",
            [_value(signature["inputs"][key]) for key in signature["inputs"]],
            [_value(signature["outputs"][key]) for key in outputs],
            list(self._used.values()),
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        helper.set_model_props(model, dict(metadata))
        onnx.checker.check_model(model, full_check=True)
        return model

    def _fold(self, node: Mapping[str, Any]) -> bool:
        """Compute a node if all its inputs are constants; return whether it was computed."""
        inputs = [_name(name) for name in node.get("input", ())]
        if node["op"] not in ("SparseToDense", "Add", "AddV2", "Identity") or any(
            name not in self._constants for name in inputs
        ):
            return False
        values = [self._constants[name] for name in inputs]
        if node["op"] == "SparseToDense":
            indices, shape, sparse, default = values
            dense = np.full(shape, default)
            dense[tuple(indices.T)] = sparse
            self._constants[node["name"]] = dense
        else:
            self._constants[node["name"]] = values[0] if len(values) == 1 else values[0] + values[1]
        return True

    def _convert(self, node: Mapping[str, Any]) -> None:
        kind, name, attributes = node["op"], node["name"], node.get("attr", {})
        inputs = [_name(text) for text in node["input"] if not text.startswith("^")]
        if kind in ALIKE:
            as_shape = inputs[1] if kind == "Reshape" else None
            self._emit(
                ALIKE[kind],
                [self._tensor(one, np.int64 if one == as_shape else None) for one in inputs],
                name,
            )
        elif kind in ("Conv2D", "MaxPool"):
            self._windowed(kind, name, inputs, attributes)
        elif kind in OPERATIONS:
            OPERATIONS[kind](self, name, inputs, attributes)
        else:
            raise ConversionError(f"{name} is a {kind}, which this converter does not know")

    def _windowed(self, kind: str, name: str, inputs: list[str], attributes: Mapping[str, Any]) -> None:
        """Emit a convolution or pooling, for which ONNX needs the image in NCHW."""
        padding = _text(attributes["padding"]["s"])
        if padding not in ("VALID", "SAME"):
            raise ConversionError(f"{name} has the padding {padding}")
        options: dict[str, Any] = {
            "strides": _numbers(attributes["strides"])[1:3],
            "auto_pad": "VALID" if padding == "VALID" else "SAME_UPPER",
        }
        image = self._emit("Transpose", [self._tensor(inputs[0])], f"{name}/nchw", perm=TO_NCHW)
        if kind == "MaxPool":
            made = self._emit(
                "MaxPool", [image], f"{name}/made", kernel_shape=_numbers(attributes["ksize"])[1:3], **options
            )
        else:
            weights = self._constants[inputs[1]].transpose(3, 2, 0, 1)
            filters = self._initializer(f"{name}/filters", weights)
            options["dilations"] = _numbers(attributes["dilations"])[1:3]
            made = self._emit(
                "Conv", [image, filters], f"{name}/made", kernel_shape=weights.shape[2:], **options
            )
        self._emit("Transpose", [made], name, perm=TO_NHWC)

    def _transpose(self, name: str, inputs: list[str], _: Mapping[str, Any]) -> None:
        self._emit("Transpose", [self._tensor(inputs[0])], name, perm=self._constants[inputs[1]].tolist())

    def _concat(self, name: str, inputs: list[str], _: Mapping[str, Any]) -> None:
        axis = int(self._constants[inputs[-1]])
        self._emit("Concat", [self._tensor(one) for one in inputs[:-1]], name, axis=axis)

    def _pad(self, name: str, inputs: list[str], _: Mapping[str, Any]) -> None:
        sides = self._initializer(f"{name}/pads", self._constants[inputs[1]].T.ravel().astype(np.int64))
        value = [self._tensor(inputs[2], np.float32)] if len(inputs) > 2 else []
        self._emit("Pad", [self._tensor(inputs[0]), sides, *value], name)

    def _leaky(self, name: str, inputs: list[str], attributes: Mapping[str, Any]) -> None:
        self._emit("LeakyRelu", [self._tensor(inputs[0])], name, alpha=float(attributes["alpha"]["f"]))

    def _split(self, name: str, inputs: list[str], attributes: Mapping[str, Any]) -> None:
        sizes = self._initializer(f"{name}/sizes", self._constants[inputs[1]].astype(np.int64))
        parts = [name] + [f"{name}:{index}" for index in range(1, int(attributes["num_split"]["i"]))]
        node = helper.make_node(
            "Split", [self._tensor(inputs[0]), sizes], parts, name=name, axis=int(self._constants[inputs[2]])
        )
        self._out.append(node)

    def _resize(self, name: str, inputs: list[str], attributes: Mapping[str, Any]) -> None:
        """Emit a bilinear resize; an attribute selects its pixel coordinates."""
        corners, halves = (
            attributes.get(key, {}).get("b", False) for key in ("align_corners", "half_pixel_centers")
        )
        way = "align_corners" if corners else "half_pixel" if halves else "asymmetric"
        image = self._emit("Transpose", [self._tensor(inputs[0])], f"{name}/nchw", perm=TO_NCHW)
        size = self._constants[inputs[1]].astype(np.int64)
        shape = self._emit("Shape", [image], f"{name}/shape", start=0, end=2)
        target = self._emit(
            "Concat", [shape, self._initializer(f"{name}/size", size)], f"{name}/target", axis=0
        )
        made = self._emit(
            "Resize",
            [image, "", "", target],
            f"{name}/made",
            mode="linear",
            coordinate_transformation_mode=way,
        )
        self._emit("Transpose", [made], name, perm=TO_NHWC)

    def _emit(self, kind: str, inputs: list[str], name: str, **options: Any) -> str:
        self._out.append(helper.make_node(kind, inputs, [name], name=name, **options))
        return name

    def _tensor(self, name: str, kind: type | None = None) -> str:
        """Return the ONNX name of a tensor; a constant becomes an initializer at its first use."""
        if name in self._constants:
            value = self._constants[name]
            return self._initializer(name, value if kind is None else value.astype(kind))
        return name

    def _initializer(self, name: str, value: np.ndarray) -> str:
        self._used[name] = numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name)
        return name


OPERATIONS = {
    "Transpose": Graph._transpose, "ConcatV2": Graph._concat, "Pad": Graph._pad, "PadV2": Graph._pad,
    "LeakyRelu": Graph._leaky, "SplitV": Graph._split, "ResizeBilinear": Graph._resize,
}  # fmt: skip


def _sorted(nodes: list[Mapping[str, Any]], known: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the nodes in topological order: each after the nodes whose outputs it reads."""
    by_name = {node["name"]: node for node in nodes}
    done: dict[str, Mapping[str, Any]] = {}
    waiting = [(node["name"], False) for node in reversed(nodes)]
    while waiting:
        name, ready = waiting.pop()
        if ready:
            done.setdefault(name, by_name[name])
        elif name not in done and name not in known:
            waiting.append((name, True))
            sources = [_name(text.lstrip("^")).split(":")[0] for text in by_name[name].get("input", ())]
            waiting.extend(
                (source, False) for source in sources if source not in done and source not in known
            )
    return list(done.values())


def _name(text: str) -> str:
    """Return the name of a tensor without the suffix ":0" of a node's first output."""
    return text.removesuffix(":0")


def _text(encoded: str) -> str:
    return base64.b64decode(encoded).decode()


def _numbers(attribute: Mapping[str, Any]) -> list[int]:
    return [int(number) for number in attribute["list"]["i"]]


def _value(described: Mapping[str, Any]) -> onnx.ValueInfoProto:
    sizes = [int(one["size"]) for one in described["tensorShape"]["dim"]]
    return helper.make_tensor_value_info(
        _name(described["name"]), onnx.TensorProto.FLOAT, [size if size > 0 else None for size in sizes]
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
