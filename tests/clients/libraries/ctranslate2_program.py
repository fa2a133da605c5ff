"""CTranslate2: a small random transformer in its own format translates on `cuda` as on its CPU backend, in every compute type."""

import tempfile

import ctranslate2
from checked import check, end
from ctranslate2.specs import transformer_spec
from random_layers import WIDTH, decoder_layer, embeddings, encoder_layer, linear, norm, rng

WORDS = 100
spec = transformer_spec.TransformerSpec.from_config(2, 4)
encoder, decoder = spec.encoder, spec.decoder
into = encoder.embeddings[0] if isinstance(encoder.embeddings, list) else encoder.embeddings
embeddings(into, WORDS)
embeddings(decoder.embeddings, WORDS)
norm(encoder.layer_norm)
norm(decoder.layer_norm)
linear(decoder.projection, WORDS, WIDTH)
for layer in encoder.layer:
    encoder_layer(layer)
for layer in decoder.layer:
    decoder_layer(layer)
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
