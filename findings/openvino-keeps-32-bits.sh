#!/bin/sh
# Package: openvino 2026.4.1, onnx 1.23.2, numpy 2.4.6
# Behaviour: Integers of 64 bits are computed in 32 on the CPU: 2**40 + 1 becomes 1, in a result that is still int64.
# Guess: R14: the value is kept (0.4).
# Seen: [1, 7] for [2**40, 5] plus [1, 2].
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: openvino==2026.4.1 onnx==1.23.2 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import numpy
from onnx import TensorProto, helper, numpy_helper

def model(node, kind, shape, result, constants=()):
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info("y", kind, result)],
        [numpy_helper.from_array(numpy.array(value), name) for name, value in constants])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    made.ir_version = 9
    return made.SerializeToString()

import openvino

add = model(helper.make_node("Add", ["x", "b"], ["y"]), TensorProto.INT64, ["n"], ["n"], [("b", numpy.array([1, 2]))])
core = openvino.Core()
result = core.compile_model(core.read_model(add), "CPU")(numpy.array([2**40, 5]))[0]
assert result.dtype == numpy.int64 and result.tolist() == [1, 7], result
END
