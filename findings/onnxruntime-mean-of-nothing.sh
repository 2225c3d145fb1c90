#!/bin/sh
# Package: onnxruntime 1.32.0, onnx 1.23.2, numpy 2.4.6
# Behaviour: The mean over an axis of length 0 is 0, where numpy has nan: an empty text gets a zero vector.
# Guess: R23: nan (0.7).
# Seen: [0, 0].
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
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

import onnxruntime

mean = model(helper.make_node("ReduceMean", ["x", "axes"], ["y"], keepdims=0), TensorProto.FLOAT, ["n", "m"], ["n"],
             [("axes", numpy.array([1]))])
session = onnxruntime.InferenceSession(mean, providers=["CPUExecutionProvider"])
result = session.run(None, {"x": numpy.zeros((2, 0), "float32")})[0]
assert result.tolist() == [0.0, 0.0], result
END
