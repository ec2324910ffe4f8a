"""The peers of `touchstream bench encoder`: VGG-16's convolutions in PyTorch and in onnxruntime, same weights.

Usage: vgg16_convolutions.py CONVOLUTIONS.safetensors. Each line of standard input is PEER, N_THREADS, BATCH_SIZE between
tabs; the answer is a JSON list: seconds and CPU seconds of one run. The first line of output lists the peers.
"""

import json
import sys
import time

import numpy as np
from safetensors.numpy import load_file

LAYERS = [0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28]
POOLED_AFTER = {2, 7, 14, 21, 28}


def torch_peer(weights, channels_last):
    import torch

    layers = []
    for layer in LAYERS:
        kernel = torch.from_numpy(weights[f"features.{layer}.weight"])
        n_out, n_in = kernel.shape[:2]
        convolution = torch.nn.Conv2d(n_in, n_out, 3, padding=1)
        convolution.weight.data, convolution.bias.data = kernel, torch.from_numpy(weights[f"features.{layer}.bias"])
        layers += [convolution, torch.nn.ReLU(inplace=True)]
        if layer in POOLED_AFTER:
            layers.append(torch.nn.MaxPool2d(2))
    layout = torch.channels_last if channels_last else torch.contiguous_format
    network = torch.nn.Sequential(*layers).eval().to(memory_format=layout)

    def prepare(n_threads, images):
        torch.set_num_threads(n_threads)
        batch = torch.from_numpy(images).contiguous(memory_format=layout)

        def run():
            with torch.inference_mode():
                network(batch)

        return run

    return prepare


def onnxruntime_peer(weights):
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    nodes, tensors, name = [], [], "image"
    for layer in LAYERS:
        for part in ("weight", "bias"):
            tensors.append(numpy_helper.from_array(weights[f"features.{layer}.{part}"], f"{part}{layer}"))
        convolution = [name, f"weight{layer}", f"bias{layer}"]
        nodes.append(helper.make_node("Conv", convolution, [f"conv{layer}"], kernel_shape=[3, 3], pads=[1] * 4))
        name = f"relu{layer}"
        nodes.append(helper.make_node("Relu", [f"conv{layer}"], [name]))
        if layer in POOLED_AFTER:
            pooled = f"pool{layer}"
            nodes.append(helper.make_node("MaxPool", [name], [pooled], kernel_shape=[2, 2], strides=[2, 2]))
            name = pooled
    shape = lambda value, dims: helper.make_tensor_value_info(value, TensorProto.FLOAT, dims)
    graph = helper.make_graph(
        nodes, "vgg16", [shape("image", ["n", 3, 224, 224])], [shape(name, ["n", 512, 7, 7])], tensors
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    sessions = {}

    def prepare(n_threads, images):
        if n_threads not in sessions:
            sessions.clear()
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = n_threads
            options.inter_op_num_threads = 1
            sessions[n_threads] = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return lambda: sessions[n_threads].run(None, {"image": images})

    return prepare


def main():
    weights = load_file(sys.argv[1])
    makers = {
        "pytorch": lambda: torch_peer(weights, channels_last=False),
        "pytorch channels-last": lambda: torch_peer(weights, channels_last=True),
        "onnxruntime": lambda: onnxruntime_peer(weights),
    }
    peers = {}
    for name, make in makers.items():
        try:
            peers[name] = make()
        except ImportError as error:
            print(f"{name} is not installed: {error}", file=sys.stderr)
    print(json.dumps(list(peers)), flush=True)
    random = np.random.default_rng(0)
    for line in sys.stdin:
        peer, n_threads, batch_size = line.rstrip("\n").split("\t")
        images = random.standard_normal((int(batch_size), 3, 224, 224), dtype=np.float32)
        run = peers[peer](int(n_threads), images)
        run()
        start, cpu_start = time.perf_counter(), time.process_time()
        run()
        print(json.dumps([time.perf_counter() - start, time.process_time() - cpu_start]), flush=True)


if __name__ == "__main__":
    main()
