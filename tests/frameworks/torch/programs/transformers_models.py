"""transformers: small random models; forward, greedy generation, static cache, compiled, training steps, half precision.

The weights are drawn on the CPU with one seed and moved, so each number compares. Cases: the names in MODELS.
"""

# pyright: basic
from __future__ import annotations

import warnings
from typing import Any

from driver import Place, digest, run

TEXT = {"vocab_size": 128, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
GROUPED = TEXT | {
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", "LlamaForCausalLM", GROUPED),
    "qwen2": ("Qwen2Config", "Qwen2ForCausalLM", GROUPED),
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM", GROUPED | {"head_dim": 8}),
    "mixtral": ("MixtralConfig", "MixtralForCausalLM", GROUPED | {"num_local_experts": 4, "num_experts_per_tok": 2}),
    "bert": ("BertConfig", "BertForMaskedLM", TEXT | {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}),
    "vit": (
        "ViTConfig", "ViTForImageClassification",
        {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32, "patch_size": 8,
             "num_labels": 5},
    ),
    "whisper": (
        "WhisperConfig", "WhisperForConditionalGeneration",
        {"vocab_size": 128, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
             "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "num_mel_bins": 16, "max_source_positions": 50, "max_target_positions": 64,
             "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1, "dropout": 0.0, "suppress_tokens": None,
             "begin_suppress_tokens": None},
    ),
    "t5": (
        "T5Config", "T5ForConditionalGeneration",
        {"vocab_size": 128, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "dropout_rate": 0.0, "decoder_start_token_id": 0},
    ),
}  # fmt: skip


def inputs_of(case: str, device: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the model is called with and the labels that training adds, on `device`."""
    import torch

    draw = torch.Generator().manual_seed(9)
    words = torch.randint(3, 128, (2, 7), generator=draw).to(device)
    if case == "vit":
        pictures = torch.rand(2, 3, 32, 32, generator=draw).to(device)
        return {"pixel_values": pictures}, {"labels": torch.tensor([1, 4], device=device)}
    if case == "whisper":
        return {"input_features": torch.randn(2, 16, 100, generator=draw).to(device)}, {"labels": words}
    given = {"input_ids": words, "attention_mask": torch.ones_like(words)}
    return given, {"labels": words}


def train(model: Any, given: dict[str, Any], labels: dict[str, Any], **autocast: Any) -> list[float]:
    """Take three steps of AdamW with gradient clipping; return the losses."""
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(3):
        with torch.autocast(**autocast) if autocast else torch.enable_grad():
            loss = model(**given, **labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def generate(model: Any, given: dict[str, Any], compiled: bool) -> dict[str, object]:
    """Generate greedily with the growing cache, the static one, and beams; with `compiled` let generate compile itself."""
    common = {"max_new_tokens": 8, "min_new_tokens": 8, "do_sample": False}
    if compiled:
        from transformers import CompileConfig

        kind = CompileConfig(mode="default", fullgraph=False)
        kind._compile_all_devices = True  # otherwise generate compiles on an accelerator only
        static = model.generate(**given, **common, cache_implementation="static", compile_config=kind)
        return {"static cache, compiled": static.tolist()}
    return {
        "generate": model.generate(**given, **common).tolist(),
        "static cache": model.generate(**given, **common, cache_implementation="static", disable_compile=True).tolist(),
        "beams": model.generate(**given, **common, num_beams=3).tolist(),
        "sampled ?": [float(model.generate(**given, max_new_tokens=4, min_new_tokens=4, do_sample=True).shape[0])],
    }


def body(place: Place) -> dict[str, object]:
    """Run one model; a case named NAME-compile runs its compiled forms."""
    import torch
    import transformers

    warnings.simplefilter("ignore")
    name, _, compiled = place.case.partition("-")
    config, kind, sizes = MODELS[name]
    torch.manual_seed(0)
    model = getattr(transformers, kind)(getattr(transformers, config)(**sizes)).to(place.device).eval()
    given, labels = inputs_of(name, place.device)
    if compiled:
        values: dict[str, object] = {"loss compiled": train(torch.compile(model), given, labels)}
        model.eval()
        return values | (generate(model, given, True) if model.can_generate() else {})
    with torch.no_grad():
        values = {"logits": digest(model(**given, **labels).logits)}
    if model.can_generate():
        values |= generate(model, given, False)
    values["losses"] = train(model.train(), given, labels)
    model.gradient_checkpointing_enable()
    values["losses checkpointed"] = train(model, given, labels)
    model.gradient_checkpointing_disable()
    values["losses bfloat16 ~"] = train(model, given, labels, device_type=place.device, dtype=torch.bfloat16)
    return values


if __name__ == "__main__":
    run(body)
