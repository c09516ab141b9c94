"""Small encoders in ONNX files: an image's vector is its mean colour, a phrase's the sum of its words' colours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers

from lodestar.perception.config import EncoderConfig

_WORDS = {"a": 0, "red": 1, "green": 2, "thing": 3, "[UNK]": 4}
_COLORS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]], np.float32)


def write_image_encoder(path: Path, form: str) -> Path:
    """Write an image encoder; return its path.

    form: "image_embeds", with a map output before it; "tokens" (N, 1, 3); "unnamed" (N, 3); "fixed", batches of 2;
    "nan"; "scalar", without vectors; "words", which has no image input.
    """
    batch = 2 if form == "fixed" else "batch"
    shape = [batch, 7] if form == "words" else [batch, 3, 16, 16]
    axes = [1] if form == "words" else [2, 3]
    nodes = [helper.make_node("ReduceMean", ["image"], ["mean"], axes=axes, keepdims=0)]
    outputs = {"mean": [batch, 3]}
    constants = []
    if form == "image_embeds":
        nodes += [
            helper.make_node("Identity", ["image"], ["map"]),
            helper.make_node("Identity", ["mean"], ["image_embeds"]),
            helper.make_node("Neg", ["mean"], ["other"]),
        ]
        outputs = {"map": shape, "other": [batch, 3], "image_embeds": [batch, 3]}
    elif form == "tokens":
        constants.append(numpy_helper.from_array(np.array([1], np.int64), "axis"))
        nodes.append(helper.make_node("Unsqueeze", ["mean", "axis"], ["last_hidden_state"]))
        outputs = {"last_hidden_state": [batch, 1, 3]}
    elif form == "nan":
        constants.append(numpy_helper.from_array(np.array(np.nan, np.float32), "nan"))
        nodes.append(helper.make_node("Add", ["mean", "nan"], ["vectors"]))
        outputs = {"vectors": [batch, 3]}
    elif form == "scalar":
        nodes.append(helper.make_node("ReduceMax", ["mean"], ["most"], keepdims=0))
        outputs = {"most": []}
    made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in outputs.items()]
    read = helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)
    return _save(path, nodes, [read], made, constants)


def write_pair(folder: Path) -> EncoderConfig:
    """Write an image encoder, a text encoder and a tokenizer; return their configuration."""
    image = write_image_encoder(folder / "image.onnx", "image_embeds")
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])
    mask = helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "tokens"])
    nodes = [
        helper.make_node("Gather", ["colors", "input_ids"], ["looked"]),
        helper.make_node("Cast", ["attention_mask"], ["weights"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["weights", "axis"], ["column"]),
        helper.make_node("Mul", ["looked", "column"], ["kept"]),
        helper.make_node("ReduceMax", ["kept"], ["text_embeds"], axes=[1], keepdims=0),
    ]
    made = [helper.make_tensor_value_info("text_embeds", TensorProto.FLOAT, ["batch", 3])]
    constants = [
        numpy_helper.from_array(_COLORS, "colors"),
        numpy_helper.from_array(np.array([2], np.int64), "axis"),
    ]
    text = _save(folder / "text.onnx", nodes, [ids, mask], made, constants)
    tokenizer = Tokenizer(models.WordLevel(_WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return EncoderConfig(
        str(image), str(text), str(folder / "tokenizer.json"), mean=(0, 0, 0), std=(1, 1, 1), margin=0.0
    )


def _save(path: Path, nodes: list, inputs: list, outputs: list, constants: list) -> Path:
    graph = helper.make_graph(nodes, "invented", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    return path
