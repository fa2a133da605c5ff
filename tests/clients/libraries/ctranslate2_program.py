"""CTranslate2: a small random transformer in its own format translates on `cuda` as on its CPU backend, in every compute type."""

import tempfile

import ctranslate2
import numpy as np
from checked import check, end
from ctranslate2.specs import transformer_spec

WIDTH, WORDS = 64, 100
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


def forward(layer):
    norm(layer.layer_norm)
    linear(layer.linear_0, 128, WIDTH)
    linear(layer.linear_1, WIDTH, 128)


spec = transformer_spec.TransformerSpec.from_config(2, 4)
encoder, decoder = spec.encoder, spec.decoder
into = encoder.embeddings[0] if isinstance(encoder.embeddings, list) else encoder.embeddings
into.weight = rng.standard_normal((WORDS, WIDTH)).astype(np.float32)
decoder.embeddings.weight = rng.standard_normal((WORDS, WIDTH)).astype(np.float32)
norm(encoder.layer_norm)
norm(decoder.layer_norm)
linear(decoder.projection, WORDS, WIDTH)
for layer in encoder.layer:
    attention(layer.self_attention, (3 * WIDTH, WIDTH))
    forward(layer.ffn)
for layer in decoder.layer:
    attention(layer.self_attention, (3 * WIDTH, WIDTH))
    attention(layer.attention, (WIDTH, 2 * WIDTH, WIDTH))
    forward(layer.ffn)
words = ["<unk>", "<s>", "</s>", *(f"w{i}" for i in range(WORDS - 3))]
spec.register_source_vocabulary(words)
spec.register_target_vocabulary(words)
sources = [[f"w{i}" for i in rng.integers(0, WORDS - 3, 12)] for _ in range(4)]

with tempfile.TemporaryDirectory() as folder:
    spec.validate()
    spec.optimize()
    spec.save(folder)

    def scores(device, kind, targets):
        translator = ctranslate2.Translator(folder, device=device, compute_type=kind)
        return [sum(each.log_probs) for each in translator.score_batch(sources, targets)]

    first = ctranslate2.Translator(folder, device="cpu", compute_type="float32")
    texts = [each.hypotheses[0] for each in first.translate_batch(sources, beam_size=2, max_decoding_length=20)]
    wanted = scores("cpu", "float32", texts)
    for kind, bound in {"float32": 1e-5, "float16": 5e-3, "bfloat16": 3e-2, "int8": 3e-2}.items():
        check(f"scores in {kind}", lambda kind=kind: scores("cuda", kind, texts), wanted, bound)
    second = ctranslate2.Translator(folder, device="cuda", compute_type="float32")
    check(
        "the same words",
        lambda: (
            [each.hypotheses[0] for each in second.translate_batch(sources, beam_size=2, max_decoding_length=20)]
            == texts
        ),
        True,
        0,
    )
end()
