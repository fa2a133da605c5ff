"""whisper: a random model loaded from a checkpoint, language detection, greedy decoding, transcription with word times.

Audio is made here; the vocabulary comes with the package. Half precision is its default on cuda and runs too.
"""

# pyright: basic
from __future__ import annotations

import sys
import warnings

from driver import Place, digest, run


def checkpoint(path: object) -> None:
    """Save random weights in the form that `whisper.load_model` takes."""
    import torch
    from whisper.model import ModelDimensions, Whisper

    torch.manual_seed(2)
    sizes = {"n_mels": 80, "n_audio_ctx": 1500, "n_audio_state": 64, "n_audio_head": 2, "n_audio_layer": 2}
    sizes |= {"n_vocab": 51865, "n_text_ctx": 448, "n_text_state": 64, "n_text_head": 2, "n_text_layer": 2}
    model = Whisper(ModelDimensions(**sizes))
    for each in model.parameters():
        torch.nn.init.normal_(each, std=0.1)
    torch.save({"dims": sizes, "model_state_dict": model.state_dict()}, path)


def body(place: Place) -> dict[str, object]:
    """Compare spectrogram, features, tokens and text."""
    sys.path.insert(0, str(place.copy("whisper")))
    import numpy
    import whisper

    checkpoint(place.work / "random.pt")
    model = whisper.load_model(str(place.work / "random.pt"))
    assert model.device.type == place.device
    seconds = numpy.arange(16000 * 3) / 16000
    audio = (0.3 * numpy.sin(2 * numpy.pi * 440 * seconds * (1 + seconds / 9))).astype(numpy.float32)
    spectrogram = whisper.log_mel_spectrogram(whisper.pad_or_trim(audio), device=model.device)
    _, likely = model.detect_language(spectrogram)
    options = whisper.DecodingOptions(language="en", fp16=False, sample_len=20, without_timestamps=True)
    tokens = whisper.decode(model, spectrogram, options).tokens
    beams = whisper.decode(
        model, spectrogram, whisper.DecodingOptions(language="en", fp16=False, sample_len=8, beam_size=3)
    )
    settings = {
        "language": "en",
        "temperature": 0.0,
        "sample_len": 16,
        "condition_on_previous_text": False,
        "no_speech_threshold": None,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = model.transcribe(audio, fp16=False, word_timestamps=True, logprob_threshold=None, **settings)
        half = model.transcribe(audio, logprob_threshold=None, **settings)
    return {
        "spectrogram": digest(spectrogram),
        "features": digest(model.embed_audio(spectrogram[None])),
        "language": max(likely, key=likely.get),
        "tokens": tokens,
        "beams": beams.tokens,
        "text": text["text"],
        "words": [[each["start"], each["end"]] for segment in text["segments"] for each in segment["words"]],
        "half ?": [float(len(half["segments"]))],
    }


if __name__ == "__main__":
    run(body)
