"""Layers of CTranslate2's specifications with random weights: what its programs build their models of."""

import numpy as np
from ctranslate2.specs import transformer_spec

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


def translator(folder, layers=2, heads=4, count=100):
    """Write a transformer whose words are `w0`, `w1` and so on, and return how many of these there are."""
    spec = transformer_spec.TransformerSpec.from_config(layers, heads)
    encoder, decoder = spec.encoder, spec.decoder
    embeddings(encoder.embeddings[0] if isinstance(encoder.embeddings, list) else encoder.embeddings, count)
    embeddings(decoder.embeddings, count)
    norm(encoder.layer_norm)
    norm(decoder.layer_norm)
    linear(decoder.projection, count, WIDTH)
    for layer in encoder.layer:
        encoder_layer(layer)
    for layer in decoder.layer:
        decoder_layer(layer)
    words = ["<unk>", "<s>", "</s>", *(f"w{i}" for i in range(count - 3))]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.validate()
    spec.optimize()
    spec.save(folder)
    return count - 3
