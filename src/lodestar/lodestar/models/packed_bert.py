"""A fast BERT sentence encoder for few phrases: the library's result without padding and overhead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_PROBE = ("chair", "a red office chair next to the door")
_SAME = 1e-4  # largest difference per component of unit vectors from the library's result


class PackedBert:
    """The encoder of a BERT SentenceTransformer: mean of token states, normalised to a unit vector."""

    def __init__(self, transformer: Any) -> None:
        """Raises AttributeError, TypeError or ValueError if the model has another structure."""
        import torch

        module, pooling = transformer[0], transformer[1]
        bert = module.auto_model
        config = bert.config
        if config.model_type != "bert" or config.hidden_act != "gelu" or len(transformer) > 3:
            raise ValueError(f"a {config.model_type} of {len(transformer)} parts cannot be packed")
        if not all(str(p.device) == "cpu" and p.dtype is torch.float32 for p in bert.parameters()):
            raise ValueError("the model is not float32 on the CPU")
        mode = getattr(pooling, "pooling_mode", None) or pooling.get_pooling_mode_str()
        if mode != "mean":
            raise ValueError(f"the model pools by {mode}")
        self._tokenizer, self._longest = transformer.tokenizer, int(transformer.max_seq_length)
        self._embeddings, self._heads = bert.embeddings, int(config.num_attention_heads)
        self._epsilon = float(config.layer_norm_eps)
        self._layers = []
        for layer in bert.encoder.layer:
            own = layer.attention.self
            parts = (own.query, own.key, own.value)
            weight = torch.cat([part.weight for part in parts]).detach().contiguous()
            bias = torch.cat([part.bias for part in parts]).detach().contiguous()
            self._layers.append(
                (weight, bias, layer.attention.output, layer.intermediate.dense, layer.output)
            )

    @staticmethod
    def of(transformer: Any) -> PackedBert | None:
        """Return the packed encoder, or None if the model is of another kind or its packed results differ."""
        try:
            packed = PackedBert(transformer)
            expected = transformer.encode(list(_PROBE), normalize_embeddings=True, show_progress_bar=False)
            same = np.abs(packed.embed(_PROBE) - expected).max() < _SAME
        except (AttributeError, TypeError, ValueError, KeyError, IndexError, RuntimeError):
            return None
        return packed if same else None

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return unit vectors (N, D) float32 of N texts."""
        import torch

        with torch.inference_mode():
            encoded = self._tokenizer(
                list(texts), padding=True, truncation=True, max_length=self._longest, return_tensors="pt"
            )
            states, keep = self._states(encoded["input_ids"], encoded["attention_mask"].bool())
            total = (states * keep[..., None]).sum(dim=1) / keep.sum(dim=1, keepdim=True)
            return np.asarray(torch.nn.functional.normalize(total, dim=1).numpy(), np.float32)

    def _states(self, ids: Any, keep: Any) -> tuple[Any, Any]:
        """Return last hidden states (N, T, D), 0 where there is no token, and the token mask (N, T)."""
        import torch
        from torch.nn import functional

        def norm(values: Any, module: Any) -> Any:
            return functional.layer_norm(values, (width,), module.weight, module.bias, self._epsilon)

        count, length = ids.shape
        words = self._embeddings
        position, kind = words.position_embeddings.weight[:length], words.token_type_embeddings.weight[0]
        width = position.shape[1]
        tokens = norm((words.word_embeddings.weight[ids] + position + kind)[keep], words.LayerNorm)
        for weight, bias, attended, inner, outer in self._layers:
            wide = torch.zeros(count, length, 3 * width)
            wide[keep] = functional.linear(tokens, weight, bias)
            query, key, value = wide.view(count, length, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=keep[:, None, None])
            mixed = mixed.transpose(1, 2).reshape(count, length, width)[keep]
            tokens = norm(attended.dense(mixed) + tokens, attended.LayerNorm)
            hidden = functional.gelu(inner(tokens))
            tokens = norm(outer.dense(hidden) + tokens, outer.LayerNorm)
        states = torch.zeros(count, length, width)
        states[keep] = tokens
        return states, keep
