"""faster-whisper: a small Whisper model with random weights hears the same on `cuda` as on CTranslate2's CPU backend, in every compute type."""

import json
import tempfile
from pathlib import Path

import ctranslate2
import numpy as np
import tokenizers
from checked import check, end
from ctranslate2.specs import whisper_spec
from faster_whisper import BatchedInferencePipeline, WhisperModel
from random_layers import WIDTH, decoder_layer, embeddings, encoder_layer, linear, norm, rng

BANDS, RATE, PIECES = 80, 16000, 1500
LETTERS = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
SPECIAL = ["endoftext", "startoftranscript", "translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"]  # fmt: skip
WORDS = [*LETTERS, *(f"<|{name}|>" for name in SPECIAL), *(f"<|{step * 0.02:.2f}|>" for step in range(PIECES + 1))]


def convolution(layer, out, into):
    layer.weight = (rng.standard_normal((out, into, 3)) * 0.1).astype(np.float32)
    layer.bias = np.zeros(out, np.float32)


def model(folder):
    """Write a model as the converter from Hugging Face's does, with a tokenizer of single bytes."""
    spec = whisper_spec.WhisperSpec(2, 4, 2, 4)
    convolution(spec.encoder.conv1, WIDTH, BANDS)
    convolution(spec.encoder.conv2, WIDTH, WIDTH)
    for half, length, fill in ((spec.encoder, PIECES, encoder_layer), (spec.decoder, 448, decoder_layer)):
        half.position_encodings.encodings = rng.standard_normal((length, WIDTH)).astype(np.float32)
        norm(half.layer_norm)
        for layer in half.layer:
            fill(layer)
    embeddings(spec.decoder.embeddings, len(WORDS))
    linear(spec.decoder.projection, len(WORDS), WIDTH)
    spec.register_vocabulary(WORDS)
    spec.config.suppress_ids, spec.config.suppress_ids_begin = [-1], [WORDS.index("<|endoftext|>")]
    spec.config.alignment_heads, spec.config.lang_ids = [[1, 0], [1, 3]], []
    spec.validate()
    spec.optimize()
    spec.save(folder)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE({each: n for n, each in enumerate(LETTERS)}, []))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(WORDS[len(LETTERS) :])
    tokenizer.save(str(Path(folder) / "tokenizer.json"))
    (Path(folder) / "preprocessor_config.json").write_text(json.dumps({"feature_size": BANDS}))


def sound(seconds):
    """Tones that come and go, in noise."""
    time = np.arange(seconds * RATE) / RATE
    tones = sum(np.sin(2 * np.pi * 220 * n * time) * (np.sin(2 * np.pi * 0.3 * n * time) > 0) for n in range(1, 6))
    return (tones / 10 + rng.standard_normal(time.size) / 50).astype(np.float32)


def heard(model, audio, **settings):
    settings = {"temperature": 0.0, "language": "en", "beam_size": 3, "max_new_tokens": 40, **settings}
    segments, _ = model.transcribe(audio, **settings)
    return [(each.start, each.end, tuple(each.tokens)) for each in segments]


with tempfile.TemporaryDirectory() as place:
    model(place)
    audio, long = sound(8), sound(70)
    host = WhisperModel(place, device="cpu", compute_type="float32")
    features = host.feature_extractor(audio)[:, : 2 * PIECES]
    features = np.pad(features, ((0, 0), (0, 2 * PIECES - features.shape[1])))
    view = ctranslate2.StorageView.from_array(np.ascontiguousarray(features[None], np.float32))
    text = [WORDS.index(each) for each in "someotherwords"]
    start = [WORDS.index("<|startoftranscript|>"), WORDS.index("<|notimestamps|>")]

    def encoded(model):
        return np.array(model.encode(features).to_device(ctranslate2.Device.cpu).to(ctranslate2.DataType.float32))

    def certainty(model):
        return np.log(model.model.align(view, start, [text], PIECES)[0].text_token_probs)

    wanted = encoded(host), certainty(host)
    for kind, bound in {"float32": 1e-5, "float16": 1e-2, "bfloat16": 6e-2, "int8": 6e-2, "int8_float16": 6e-2}.items():
        ours = WhisperModel(place, device="cuda", compute_type=kind)
        check(f"encoder in {kind}", lambda ours=ours: encoded(ours), wanted[0], bound)
        check(f"words' logarithms in {kind}", lambda ours=ours: certainty(ours), wanted[1], bound)
    ours = WhisperModel(place, device="cuda", compute_type="float32")
    check("the same words at the same times", lambda: heard(ours, audio) == heard(host, audio) != [], True, 0)
    check(
        "word by word",
        lambda: heard(ours, audio, word_timestamps=True) == heard(host, audio, word_timestamps=True),
        True,
        0,
    )
    check("more than one window", lambda: heard(ours, long) == heard(host, long), True, 0)
    windows = {"clip_timestamps": [{"start": n * 20, "end": n * 20 + 20} for n in range(3)], "batch_size": 3}
    check(
        "windows in one batch",
        lambda: (
            heard(BatchedInferencePipeline(ours), long, **windows)
            == heard(BatchedInferencePipeline(host), long, **windows)
        ),
        True,
        0,
    )
end()
