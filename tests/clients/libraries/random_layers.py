"""Layers of CTranslate2's specifications with random weights: what its programs build their models of."""

import numpy as np

WIDTH = 64
rng = np.random.default_rng(0)


def linear(layer, out, into):
    layer.weight = (rng.standard_normal((out, into)) * 0.15).astype(np.float32)
    layer.bias = (rng.standard_normal(out) * 0.1).astype(np.float32)


def norm(layer):
    layer.gamma, layer.beta = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)


def attention(layer, sizes):
    for each, size in zip(layer.linear, sizes):
        linear(each, size, WIDTH)
    norm(layer.layer_norm)


def encoder_layer(layer):
    attention(layer.self_attention, (3 * WIDTH, WIDTH))
    forward(layer.ffn)


def decoder_layer(layer):
    attention(layer.attention, (WIDTH, 2 * WIDTH, WIDTH))
    encoder_layer(layer)


def forward(layer):
    norm(layer.layer_norm)
    linear(layer.linear_0, 2 * WIDTH, WIDTH)
    linear(layer.linear_1, WIDTH, 2 * WIDTH)


def embeddings(layer, count):
    layer.weight = rng.standard_normal((count, WIDTH)).astype(np.float32)
