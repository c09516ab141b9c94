"""A BERT sentence encoder in NumPy: the same vectors as SentenceTransformers, without loading PyTorch.

ADR 0004 gives the reasons. The weights are memory-mapped from the model's file, so that processes share them
and clean pages can be released. Texts of equal length run together, so nothing is padded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import erf

_TOKENS = 4096  # word pieces per run; chosen: 25 MB of intermediate values at a width of 384
_FEW = 64  # rows; up to this count, linear maps are computed column-wise
_WIDTH = 16  # rows are padded to a multiple of this, the register width of AVX-512
_TYPES = ("Transformer", "Pooling", "Normalize")


class OtherModel(ValueError):
    """Error: this module cannot run the folder's model. The message says why."""


class PackedBert:
    """Encoder of a BERT model: mean of token states, normalised to a unit vector. Use from one thread only."""

    def __init__(self, folder: Path) -> None:
        """Map the model in a SentenceTransformers folder into memory.

        Raises OtherModel if it is no plain float32 BERT.
        """
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise OtherModel(f"tokenizers cannot be imported ({error})") from error
        settings = _settings(folder)
        self._heads, self._epsilon = settings.heads, settings.epsilon
        weights = _mapped(folder / "model.safetensors")
        try:
            self._words, self._positions, kinds = (
                weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
            )
            self._kind = kinds[0]
            self._first = _norm_of(weights, "embeddings.LayerNorm")
            self._layers = [_Layer.of(weights, f"encoder.layer.{k}") for k in range(settings.layers)]
        except KeyError as error:
            raise OtherModel(f"the weights lack {error}") from error
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the library raises nothing more precise
            raise OtherModel(f"the tokenizer cannot be read: {error}") from error
        self._tokenizer.enable_truncation(settings.longest)
        self._tokenizer.no_padding()

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        return int(self._words.shape[1])

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return unit vectors (N, D) float32 of N texts."""
        tokens = [one.ids for one in self._tokenizer.encode_batch(list(texts))]
        vectors = np.empty((len(tokens), self.dimension), np.float32)
        for rows in _runs(tokens):
            vectors[rows] = self._run([tokens[row] for row in rows])
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)

    def _run(self, tokens: Sequence[Sequence[int]]) -> np.ndarray:
        """Return the mean of each text's token states (N, D). tokens: ids of N texts, sorted by length."""
        shapes = [(len(list(same)), length) for length, same in groupby(map(len, tokens))]
        ids = np.concatenate(tokens)
        places = np.concatenate([np.arange(len(one)) for one in tokens])
        states = self._normalised(self._words[ids] + self._positions[places] + self._kind, self._first)
        for layer in self._layers:
            mixed = self._attended(states, layer, shapes)
            states = self._normalised(_linear(mixed, layer.attended) + states, layer.attended_norm)
            inner = _linear(states, layer.inner)
            inner *= 0.5 * (1.0 + erf(inner * np.float32(0.5**0.5)))  # GELU activation
            states = self._normalised(_linear(inner, layer.outer) + states, layer.outer_norm)
        means, begin = [], 0
        for count, length in shapes:
            end = begin + count * length
            means.append(states[begin:end].reshape(count, length, -1).mean(axis=1))
            begin = end
        return np.concatenate(means)

    def _attended(self, states: np.ndarray, layer: _Layer, shapes: Sequence[tuple[int, int]]) -> np.ndarray:
        """Return the attention output (T, D): for each token the weighted values of its own text's tokens."""
        query, key, value = (_linear(states, part) for part in (layer.query, layer.key, layer.value))
        width = states.shape[1] // self._heads
        query *= np.float32(width**-0.5)
        mixed, begin = np.empty_like(states), 0
        for count, length in shapes:
            part = slice(begin, begin + count * length)
            one, other, content = (
                values[part].reshape(count, length, self._heads, width).transpose(0, 2, 1, 3)
                for values in (query, key, value)
            )
            scores = one @ other.transpose(0, 1, 3, 2)
            scores -= scores.max(axis=-1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=-1, keepdims=True)
            mixed[part] = (scores @ content).transpose(0, 2, 1, 3).reshape(count * length, -1)
            begin = part.stop
        return mixed

    def _normalised(self, values: np.ndarray, norm: _Pair) -> np.ndarray:
        values = values - values.mean(axis=1, keepdims=True)
        values /= np.sqrt(np.mean(values * values, axis=1, keepdims=True) + self._epsilon)
        return values * norm.weight + norm.bias


@dataclass(frozen=True)
class _Pair:
    """Weight (O, I) and bias (O,) of a linear map, or both (D,) of a layer norm; float32."""

    weight: np.ndarray
    bias: np.ndarray


@dataclass(frozen=True)
class _Layer:
    query: _Pair
    key: _Pair
    value: _Pair
    attended: _Pair
    attended_norm: _Pair
    inner: _Pair
    outer: _Pair
    outer_norm: _Pair

    @staticmethod
    def of(weights: dict[str, np.ndarray], name: str) -> _Layer:
        names = [f"attention.self.{part}" for part in ("query", "key", "value")]
        names += ["attention.output.dense", "attention.output.LayerNorm"]
        names += ["intermediate.dense", "output.dense", "output.LayerNorm"]
        return _Layer(*(_norm_of(weights, f"{name}.{part}") for part in names))


def _norm_of(weights: dict[str, np.ndarray], name: str) -> _Pair:
    return _Pair(weights[f"{name}.weight"], weights[f"{name}.bias"])


def _linear(values: np.ndarray, pair: _Pair) -> np.ndarray:
    count = len(values)
    if count > _FEW:
        return values @ pair.weight.T + pair.bias
    # Stored column-wise and padded to the register width, a few rows multiply a third faster in BLAS.
    columns = np.zeros((values.shape[1], -(-count // _WIDTH) * _WIDTH), np.float32)
    columns[:, :count] = values.T
    return np.add((pair.weight @ columns)[:, :count].T, pair.bias, order="C")


def _runs(tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield groups of row numbers, texts sorted by length; a group has at most `_TOKENS` word pieces."""
    rows: list[int] = []
    total = 0
    for row in sorted(range(len(tokens)), key=lambda k: len(tokens[k])):
        if rows and total + len(tokens[row]) > _TOKENS:
            yield rows
            rows, total = [], 0
        rows.append(row)
        total += len(tokens[row])
    if rows:
        yield rows


@dataclass(frozen=True)
class _Settings:
    heads: int
    layers: int
    longest: int  # most word pieces read of a text
    epsilon: float


def _settings(folder: Path) -> _Settings:
    """Return the settings of the folder's model. Raises OtherModel if this module does not implement them."""
    parts = _json(folder / "modules.json")
    kinds = tuple(str(part["type"]).rpartition(".")[2] for part in parts)
    if kinds not in (_TYPES[:2], _TYPES) or parts[0]["path"]:
        raise OtherModel(f"its parts are {', '.join(kinds)}")
    pooling = _json(folder / parts[1]["path"] / "config.json")
    modes = {name for name, value in pooling.items() if name.startswith("pooling_mode") and value}
    if modes != {"pooling_mode_mean_tokens"}:
        raise OtherModel(f"it pools by {', '.join(sorted(modes)) or 'an unknown rule'}")
    config, sentences = _json(folder / "config.json"), _json(folder / "sentence_bert_config.json")
    expected = {"model_type": "bert", "hidden_act": "gelu"}
    expected_or_absent = {"position_embedding_type": "absolute", "is_decoder": False}
    other = {name: config.get(name) for name, value in expected.items() if config.get(name) != value}
    other |= {n: config[n] for n, value in expected_or_absent.items() if config.get(n, value) != value}
    if other or sentences.get("do_lower_case"):
        raise OtherModel(f"its configuration has {other or 'do_lower_case'}")
    own = _json(folder / "config_sentence_transformers.json", needed=False)
    if own.get("default_prompt_name") or own.get("truncate_dim"):
        raise OtherModel("it adds a prompt or cuts its vectors")
    try:
        longest = min(int(sentences["max_seq_length"]), int(config["max_position_embeddings"]))
        heads, layers = int(config["num_attention_heads"]), int(config["num_hidden_layers"])
        return _Settings(heads, layers, longest, float(config["layer_norm_eps"]))
    except (KeyError, TypeError, ValueError) as error:
        raise OtherModel(f"its configuration lacks or has a bad {error}") from error


def _json(path: Path, needed: bool = True) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        if not needed:
            return {}
        raise OtherModel(f"{path.name} cannot be read: {error}") from error


def _mapped(path: Path) -> dict[str, np.ndarray]:
    """Return the float32 tensors of a safetensors file by name, memory-mapped. Raises OtherModel."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            if not 0 < size < 100_000_000:  # the format's limit for the header's size
                raise ValueError("it has no header")
            header = json.loads(file.read(size))
        header.pop("__metadata__", None)
        data = np.memmap(path, np.uint8, "r", offset=8 + size)
        found = {}
        for name, entry in header.items():
            if entry["dtype"] == "F32":
                begin, end = entry["data_offsets"]
                found[name] = data[begin:end].view(np.float32).reshape(entry["shape"])
            elif entry["dtype"] != "I64":  # int64 tensors hold position numbers, which are not needed
                raise ValueError(f"it has values of type {entry['dtype']}")
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise OtherModel(f"{path.name} cannot be mapped: {error}") from error
    return {name.removeprefix("bert."): np.asarray(tensor) for name, tensor in found.items()}
