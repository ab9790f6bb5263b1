"""Layers."""

from d2s.nn import functional, initializer
from d2s.nn.clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from d2s.nn.containers import LayerDict, LayerList, ParameterList, Sequential
from d2s.nn.dropout import AlphaDropout, Dropout, Dropout2D, Dropout3D
from d2s.nn.embedding import Embedding
from d2s.nn.layer import Layer
from d2s.nn.linear import Linear
from d2s.nn.parameter import ParamAttr, Parameter
from d2s.nn.reshaping import Flatten, Identity

__all__ = [
    "AlphaDropout",
    "ClipGradByGlobalNorm",
    "ClipGradByNorm",
    "ClipGradByValue",
    "Dropout",
    "Dropout2D",
    "Dropout3D",
    "Embedding",
    "Flatten",
    "Identity",
    "Layer",
    "LayerDict",
    "LayerList",
    "Linear",
    "ParamAttr",
    "Parameter",
    "ParameterList",
    "Sequential",
    "functional",
    "initializer",
]
