"""Exports torchvision's ResNet-18 as an encoder. Needs PyTorch and torchvision; downloads ImageNet weights (45 MB).

    python examples/export_resnet18.py resnet18.onnx
    touchstream encoder info onnx:resnet18.onnx --scene /layer4/layer4.1/relu_1/Relu --map /layer3/layer3.1/relu_1/Relu

Described in docs/onnx.md
"""
import sys

import torch
import torchvision

model = torchvision.models.resnet18(weights="DEFAULT").eval()
torch.onnx.export(
    model, torch.zeros(1, 3, 224, 224), sys.argv[1],
    input_names=["image"], output_names=["classes"], external_data=False, dynamo=False,
)
