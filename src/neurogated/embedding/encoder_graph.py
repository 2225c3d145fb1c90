"""Builds the graph of a BERT encoder for OpenVINO from its weights."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from neurogated.embedding.openvino_runtime import import_openvino
from neurogated.embedding.packed_model import PackedModel, blocks_of

_HIDDEN = -1
"""The size that OpenVINO infers."""


def encoder_graph(model: PackedModel) -> Any:  # noqa: ANN401 - the package is imported on use
    """Return an OpenVINO model: tokens and their mask, (n, length) each → the mean of the last layer, (n, width).

    Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019.
    """
    openvino = import_openvino()
    return _Graph(importlib.import_module("openvino.opset13"), model).build(openvino.Model)


class _Graph:
    def __init__(self, operations: Any, model: PackedModel) -> None:  # noqa: ANN401 - a module
        self._ops = operations
        self._model = model

    def build(self, made: Any) -> Any:  # noqa: ANN401 - a class of the package
        ops = self._ops
        tokens = ops.parameter([-1, -1], np.int64, name="input_ids")
        mask = ops.parameter([-1, -1], np.int64, name="attention_mask")
        for given in (tokens, mask):
            given.output(0).set_names({given.get_friendly_name()})
        present = ops.convert(mask, "f32")
        hidden_places = ops.multiply(ops.subtract(present, np.float32(1)), np.float32(np.finfo(np.float16).max))
        hidden_places = ops.unsqueeze(hidden_places, [1, 2])
        state = self._embedded(tokens)
        for layer in range(self._model.layers):
            state = self._layer(f"l{layer}.", state, hidden_places)
        weights = ops.unsqueeze(present, [2])
        total = ops.reduce_sum(ops.multiply(state, weights), [1])
        return made([ops.divide(total, ops.reduce_sum(weights, [1]))], [tokens, mask])

    def _embedded(self, tokens: Any) -> Any:  # noqa: ANN401 - a node of the graph
        """The vectors of the words stay whole numbers in the graph; only those of a text are multiplied."""
        ops, width = self._ops, self._model.width
        numbers, scales = blocks_of(self._model.tensors["emb.word"], width)
        words = ops.convert(ops.gather(ops.constant(numbers), tokens, 0), "f32")
        factors = ops.convert(ops.gather(ops.constant(scales), tokens, 0), "f32")
        grouped = ops.reshape(words, [0, 0, scales.shape[1], width // scales.shape[1]], special_zero=True)
        scaled = ops.multiply(grouped, ops.unsqueeze(factors, [3]))
        places = self._model.tensors["emb.pos"].reshape(-1, width) + self._model.tensors["emb.type"][:width]
        length = ops.gather(ops.shape_of(tokens), [1], 0)
        added = ops.add(
            ops.reshape(scaled, [0, 0, width], special_zero=True), ops.slice(ops.constant(places), [0], length, [1])
        )
        return self._normalised("emb.ln", added)

    def _layer(self, prefix: str, state: Any, hidden_places: Any) -> Any:  # noqa: ANN401 - nodes of the graph
        ops, heads = self._ops, self._model.heads
        width = self._model.width // heads

        def split(name: str) -> Any:  # noqa: ANN401
            by_head = ops.reshape(self._linear(prefix + name, state), [0, 0, heads, width], special_zero=True)
            return ops.transpose(by_head, [0, 2, 1, 3])

        attended = ops.scaled_dot_product_attention(split("q"), split("k"), split("v"), hidden_places)
        joined = ops.reshape(ops.transpose(attended, [0, 2, 1, 3]), [0, 0, heads * width], special_zero=True)
        state = self._normalised(prefix + "aln", ops.add(state, self._linear(prefix + "ao", joined)))
        inner = ops.gelu(self._linear(prefix + "fi", state), "ERF")
        return self._normalised(prefix + "oln", ops.add(state, self._linear(prefix + "fo", inner)))

    def _linear(self, name: str, state: Any) -> Any:  # noqa: ANN401 - a node of the graph
        columns = int(state.get_output_partial_shape(0)[2].get_length())
        product = self._ops.matmul(state, self._ops.constant(self._model.matrix(f"{name}.w", columns)), False, True)
        return self._ops.add(product, self._constant(f"{name}.b"))

    def _normalised(self, name: str, state: Any) -> Any:  # noqa: ANN401 - a node of the graph
        ops = self._ops
        scaled = ops.mvn(state, [_HIDDEN], True, self._model.epsilon, "INSIDE_SQRT")
        return ops.add(ops.multiply(scaled, self._constant(f"{name}.w")), self._constant(f"{name}.b"))

    def _constant(self, name: str) -> Any:  # noqa: ANN401 - a node of the graph
        return self._ops.constant(np.array(self._model.tensors[name]))
