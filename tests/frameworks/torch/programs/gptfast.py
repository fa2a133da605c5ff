"""gpt-fast: generate.py on a random checkpoint of its smallest configuration, plain and with `--compile`.

Both use flex attention and compile the block mask; temperature 0 makes the sampled tokens comparable. Cases: plain, compile.
"""

# pyright: basic
from __future__ import annotations

import sys
from pathlib import Path

import shakespeare
from driver import Place, run


def tokenizer(path: Path, size: int) -> None:
    """Train a character vocabulary on our text, filled up to `size` with symbols that never occur."""
    import sentencepiece

    text = path.with_suffix(".txt")
    text.write_text(shakespeare.text(20_000))
    letters = len(set(text.read_text())) + 4
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(path.with_suffix("")), model_type="char", vocab_size=size, hard_vocab_limit=False,
        user_defined_symbols=[f"<unused{place}>" for place in range(size - letters)], minloglevel=2,
    )  # fmt: skip


def body(place: Place) -> dict[str, object]:
    """Make checkpoint and tokenizer, generate, and compare the text."""
    folder = place.copy("gpt-fast")
    sys.path.insert(0, str(folder))
    import torch
    from model import Transformer

    home = folder / "checkpoints" / "stories15M"
    home.mkdir(parents=True)
    torch.manual_seed(4)
    model = Transformer.from_name("stories15M")
    torch.save(model.state_dict(), home / "model.pth")
    tokenizer(home / "tokenizer.model", model.config.vocab_size)
    more = ["--compile"] if place.case == "compile" else []
    text = place.script(
        folder, "generate.py", "--checkpoint_path", str(home / "model.pth"), "--num_samples", "1", "--max_new_tokens", "12",
        "--temperature", "0", "--prompt", "My lord", "--device", place.device, *more,
    )  # fmt: skip
    place.log[-1] = place.log[-1].replace(str(folder) + "/", "")
    start = text.index("My lord")
    return {"text": text[start : text.index("Time for inference")]}


if __name__ == "__main__":
    run(body)
