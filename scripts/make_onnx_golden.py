"""Writes the ONNX models and golden files of crates/encoder/tests/golden/onnx.

Builds small models with seeded weights, runs them in onnxruntime on a screen that both sides can compute, and
writes models (`*.onnx`) and expected features (`*.scene`, `*.map`: little-endian float32). An existing file that is
equal within 1e-5 of its largest value is left unchanged, so that another onnxruntime or processor changes nothing.

Run from the repository's root with onnx, onnxruntime and numpy (scripts/python-env --golden).
"""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from golden_files import is_close
from onnx import TensorProto, helper, numpy_helper

FOLDER = Path("crates/encoder/tests/golden/onnx")
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)
SIDE = 224
MAP_SIDE = 14


def screen():
    """The screen of the golden tests, [224, 224, 3] in 0..=255."""
    row, col, colour = np.indices((SIDE, SIDE, 3))
    return ((7 * row + 13 * col + 29 * colour) % 256).astype(np.float32)


def bilinear_matrix(n_in, n_out):
    """[n_out, n_in] weights of bilinear resampling with pixel centres at halves."""
    at = np.clip((np.arange(n_out) + 0.5) * n_in / n_out - 0.5, 0, n_in - 1)
    low = at.astype(int)
    weights = np.zeros((n_out, n_in))
    for position in range(n_out):
        high_weight = at[position] - low[position]
        weights[position, low[position]] += 1 - high_weight
        weights[position, min(low[position] + 1, n_in - 1)] += high_weight
    return weights


def resized(image, side):
    """An image [rows, columns, channels] resampled to [side, side, channels]."""
    matrix = bilinear_matrix(image.shape[0], side)
    return np.einsum("ir,rcx,jc->ijx", matrix, image.astype(np.float64), matrix, optimize=True).astype(np.float32)


def preprocessed(side, mean=MEAN, std=STD):
    """The golden screen as input, [1, side, side, 3]."""
    return (((resized(screen(), side) / 255 - mean) / std)[None]).astype(np.float32)


class Builder:
    """A graph under construction, with weights drawn from one seed."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def weight(self, *shape, scale=None):
        fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 1
        values = self.rng.normal(0, scale if scale else (2 / fan_in) ** 0.5, shape).astype(np.float32)
        return self.constant(values)

    def constant(self, values):
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def node(self, operator, inputs, output, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [output], name=f"node_{output}", **attributes))
        return output

    def conv(self, x, n_in, n_out, kernel, stride, output):
        return self.node(
            "Conv",
            [x, self.weight(n_out, n_in, kernel, kernel), self.weight(n_out, scale=0.1)],
            output,
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[kernel // 2] * 4,
        )

    def batch_norm(self, x, n, output):
        scale, variance = (self.constant(self.rng.uniform(0.5, 1.5, n).astype(np.float32)) for _ in range(2))
        return self.node(
            "BatchNormalization", [x, scale, self.weight(n, scale=0.1), self.weight(n, scale=0.1), variance], output
        )

    def model(self, input_shape, output, output_rank):
        graph = helper.make_graph(
            self.nodes,
            "golden",
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, input_shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, [None] * output_rank)],
            self.weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="touchstream")
        model.ir_version = 8
        onnx.checker.check_model(model)
        return model


def small_cnn():
    """A residual network, [batch, 3, 224, 224] with a free batch: Conv, BatchNormalization, Relu, MaxPool, Add, Gemm."""
    b = Builder(1)
    x = b.node("Relu", [b.batch_norm(b.conv("image", 3, 8, 7, 4, "conv1"), 8, "norm1")], "relu1")
    x = b.node("MaxPool", [x], "pool1", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = b.node("Relu", [b.batch_norm(b.conv(x, 8, 16, 3, 2, "conv2"), 16, "norm2")], "relu2")
    y = b.batch_norm(b.conv(x, 16, 16, 3, 1, "conv3"), 16, "norm3")
    x = b.node("Relu", [b.node("Add", [y, x], "sum3")], "relu3")
    y = b.node("MaxPool", [x], "pool3", kernel_shape=[2, 2], strides=[2, 2])
    y = b.node("Flatten", [y], "flat", axis=1)
    y = b.node("Gemm", [y, b.weight(32, 16 * 49), b.weight(32, scale=0.1)], "fc", transB=1)
    b.node("Softmax", [y], "probabilities", axis=1)
    b.node("GlobalAveragePool", [x], "pooled")
    b.node("Identity", [x], "relu3_again")
    return b.model(["batch", 3, SIDE, SIDE], "probabilities", 2)


def channels_last():
    """A model in TensorFlow's layout: [1, 192, 192, 3], channels last, one screen at a time, a map of 24 x 24."""
    b = Builder(2)
    x = b.node("Transpose", ["image"], "nchw", perm=[0, 3, 1, 2])
    x = b.node("Relu", [b.conv(x, 3, 8, 5, 4, "conv1")], "relu1")
    x = b.node("HardSwish", [b.conv(x, 8, 12, 3, 2, "conv2")], "swish2")
    b.node("Transpose", [x], "map", perm=[0, 2, 3, 1])
    x = b.node("AveragePool", [x], "pool2", kernel_shape=[4, 4], strides=[4, 4])
    b.node("Transpose", [x], "scene", perm=[0, 2, 3, 1])
    return b.model([1, 192, 192, 3], "scene", 4)


def tokens():
    """A vision transformer of one block: patches of 32, a class token and 7 x 7 tokens of 24 channels."""
    b, n, heads = Builder(3), 24, 3
    x = b.node("AveragePool", ["image"], "coarse", kernel_shape=[4, 4], strides=[4, 4])
    x = b.node("Conv", [x, b.weight(n, 3, 8, 8)], "patches", kernel_shape=[8, 8], strides=[8, 8])
    x = b.node("Reshape", [x, b.constant(np.array([0, n, 49], np.int64))], "flat")
    x = b.node("Transpose", [x], "places", perm=[0, 2, 1])
    x = b.node("Concat", [b.weight(1, 1, n, scale=1.0), x], "with_class", axis=1)
    x = b.node("Add", [x, b.weight(1, 50, n, scale=0.2)], "embedded")

    def norm(x, output):
        scale, bias = b.constant(b.rng.uniform(0.5, 1.5, n).astype(np.float32)), b.weight(n, scale=0.1)
        return b.node("LayerNormalization", [x, scale, bias], output, axis=-1, epsilon=1e-6)

    y = norm(x, "norm1")
    parts = {}
    for part in "qkv":
        z = b.node("MatMul", [y, b.weight(n, n)], part)
        z = b.node("Reshape", [z, b.constant(np.array([0, 50, heads, n // heads], np.int64))], f"{part}_split")
        parts[part] = b.node("Transpose", [z], f"{part}_heads", perm=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3])
    y = b.node("MatMul", [parts["q"], parts["k"]], "scores")
    y = b.node("Mul", [y, b.constant(np.float32((n // heads) ** -0.5))], "scaled")
    y = b.node("MatMul", [b.node("Softmax", [y], "attention", axis=-1), parts["v"]], "attended")
    y = b.node("Transpose", [y], "merged", perm=[0, 2, 1, 3])
    y = b.node("Reshape", [y, b.constant(np.array([0, 50, n], np.int64))], "joined")
    x = b.node("Add", [x, b.node("MatMul", [y, b.weight(n, n)], "projected")], "after_attention")
    y = b.node("MatMul", [norm(x, "norm2"), b.weight(n, 48)], "hidden")
    z = b.node("Erf", [b.node("Div", [y, b.constant(np.float32(2**0.5))], "gelu_in")], "gelu_erf")
    z = b.node("Add", [z, b.constant(np.float32(1))], "gelu_sum")
    y = b.node("Mul", [b.node("Mul", [y, z], "gelu_product"), b.constant(np.float32(0.5))], "gelu")
    x = b.node("Add", [x, b.node("MatMul", [y, b.weight(48, n)], "mlp")], "block")
    norm(x, "tokens")
    return b.model([1, 3, SIDE, SIDE], "tokens", 3)


def odd_models():
    """Models of one or two nodes that cannot be encoders, or only in part."""
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIDE, SIDE])

    def odd(nodes, inputs, weights=()):
        output = helper.make_empty_tensor_value_info(nodes[-1].output[0])
        graph = helper.make_graph(nodes, "odd", inputs, [output], weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="touchstream")
        model.ir_version = 8
        return model

    relu = helper.make_node("Relu", ["image"], ["y"])
    scale = helper.make_tensor_value_info("scale", TensorProto.FLOAT, [1])
    scaled = helper.make_node("Mul", ["y", "scale"], ["z"])
    yield "two_inputs", odd([relu, scaled], [image, scale])
    yield "bytes_in", odd([relu], [helper.make_tensor_value_info("image", TensorProto.UINT8, [1, 3, SIDE, SIDE])])
    yield "batch_of_8", odd([relu], [helper.make_tensor_value_info("image", TensorProto.FLOAT, [8, 3, SIDE, SIDE])])
    yield "integers_out", odd([helper.make_node("ArgMax", ["image"], ["y"], axis=1)], [image])
    outside = TensorProto(name="scale", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    outside.external_data.add(key="location", value="odd.onnx.data")
    yield "external_data", odd([relu, scaled], [image], [outside])
    turned = helper.make_node("Transpose", ["image"], ["turned"], perm=[0, 1, 3, 3])
    yield "permutation", odd([turned, helper.make_node("MatMul", ["image", "turned"], ["y"])], [image])
    # An If whose branches refer to the screen in the outer graph, and such branches nested 12 levels deep.
    made = [helper.make_empty_tensor_value_info("b")]
    branch = helper.make_graph([helper.make_node("Relu", ["image"], ["b"])], "b", [], made)
    flag = numpy_helper.from_array(np.array(True), "flag")
    chosen = helper.make_node("If", ["flag"], ["y"], then_branch=branch, else_branch=branch)
    yield "branches", odd([chosen], [image], [flag])
    for _ in range(12):
        inner = helper.make_node("If", ["flag"], ["b"], then_branch=branch)
        branch = helper.make_graph([inner], "b", [], made)
    chosen = helper.make_node("If", ["flag"], ["y"], then_branch=branch)
    yield "deep", odd([chosen], [image], [flag])


def values_of(model, names, image):
    """The values of these nodes, computed by onnxruntime."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    del model.graph.output[:]
    model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(names, {"image": image})


def write_model(name, model):
    path = FOLDER / f"{name}.onnx"
    if not path.exists() or onnx.ModelProto.FromString(path.read_bytes()) != model:
        path.write_bytes(model.SerializeToString(deterministic=True))


def write_values(name, values):
    path, values = FOLDER / name, np.ascontiguousarray(values, np.float32).ravel()
    if not path.exists() or not is_close(np.fromfile(path, "<f4"), values):
        values.astype("<f4").tofile(path)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)

    for name, model in odd_models():
        write_model(f"odd_{name}", model)

    cnn = small_cnn()
    write_model("small_cnn", cnn)
    scene, relu3 = values_of(cnn, ["fc", "relu3"], preprocessed(SIDE).transpose(0, 3, 1, 2))
    write_values("small_cnn.scene", scene)
    write_values("small_cnn.map", relu3.transpose(0, 2, 3, 1))
    # The same with other preprocessing, and a map of 28 x 28 averaged in blocks of four.
    image = preprocessed(SIDE, np.float32(0.5), np.float32(0.25)).transpose(0, 3, 1, 2)
    flat, pool1 = values_of(cnn, ["flat", "pool1"], image)
    write_values("small_cnn_other.scene", flat)
    write_values("small_cnn_other.map", pool1.reshape(8, 14, 2, 14, 2).mean((2, 4)).transpose(1, 2, 0))

    last = channels_last()
    write_model("channels_last", last)
    scene, places = values_of(last, ["scene", "map"], preprocessed(192))
    write_values("channels_last.scene", scene)
    write_values("channels_last.map", resized(places[0], MAP_SIDE))

    vit = tokens()
    write_model("tokens", vit)
    scene = values_of(vit, ["tokens"], preprocessed(SIDE).transpose(0, 3, 1, 2))[0]
    write_values("tokens.scene", scene)
    write_values("tokens.map", resized(scene[0, 1:].reshape(7, 7, -1), MAP_SIDE))


if __name__ == "__main__":
    main()
