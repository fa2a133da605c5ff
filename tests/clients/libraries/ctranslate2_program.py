"""CTranslate2: a small random transformer in its own format translates on `cuda` as on its CPU backend, in every compute type."""

import tempfile

import ctranslate2
from checked import check, end
from random_layers import rng, translator

with tempfile.TemporaryDirectory() as folder:
    words = translator(folder)
    sources = [[f"w{i}" for i in rng.integers(0, words, 12)] for _ in range(4)]

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
