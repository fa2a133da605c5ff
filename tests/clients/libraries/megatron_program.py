"""Megatron-core: losses and gradients of a small GPT on two ranks, its tensors or its layers divided, against the same network by hand in double precision.

It starts itself under torch.distributed.run for each way, with its own layers and with those for Transformer Engine; the ranks leave their parts in
files, which are put together here.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from checked import check, end

LAYERS, WIDTH, HEADS, VOCABULARY, ROWS, PARTS = 2, 16, 4, 32, 8, 2
FUSED = {
    "self_attention.linear_qkv.layer_norm_": "input_layernorm.",
    "mlp.linear_fc1.layer_norm_": "pre_mlp_layernorm.",
}
"""Names of norms that are part of Transformer Engine's layers."""
draw = torch.Generator().manual_seed(5)
words = torch.randint(0, VOCABULARY, (PARTS, 2, ROWS + 1), generator=draw)


def rank(tensors, layers, sequence, engine, folder):
    from megatron.core import parallel_state
    from megatron.core.models.gpt import GPTModel
    from megatron.core.models.gpt.gpt_layer_specs import (
        get_gpt_layer_local_spec,
        get_gpt_layer_with_transformer_engine_spec,
    )
    from megatron.core.pipeline_parallel import get_forward_backward_func
    from megatron.core.tensor_parallel import model_parallel_cuda_manual_seed
    from megatron.core.transformer import TransformerConfig

    number = int(os.environ["RANK"])
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    parallel_state.initialize_model_parallel(tensors, layers)
    torch.manual_seed(7)
    model_parallel_cuda_manual_seed(7)
    config = TransformerConfig(
        num_layers=LAYERS,
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        hidden_dropout=0.0,
        attention_dropout=0.0,
        tensor_model_parallel_size=tensors,
        pipeline_model_parallel_size=layers,
        sequence_parallel=sequence,
        pipeline_dtype=torch.float32,
        gradient_accumulation_fusion=False,
        masked_softmax_fusion=False,
        bias_activation_fusion=False,
        bias_dropout_fusion=False,
    )
    model = GPTModel(
        config,
        get_gpt_layer_with_transformer_engine_spec() if engine else get_gpt_layer_local_spec(normalization="LayerNorm"),
        VOCABULARY,
        ROWS,
        pre_process=parallel_state.is_pipeline_first_stage(),
        post_process=parallel_state.is_pipeline_last_stage(),
        share_embeddings_and_output_weights=False,
    ).cuda()
    hidden = torch.ones(ROWS, ROWS, dtype=torch.bool).triu(1)[None, None].cuda()

    def forward(data, model):
        part = next(data).cuda()
        places = torch.arange(ROWS, device="cuda").expand(2, -1)
        out = model(part[:, :-1], places, hidden, labels=part[:, 1:])
        return out, lambda losses: (losses.mean(), {"loss": losses.mean().item()})

    told = get_forward_backward_func()(
        forward_step_func=forward,
        data_iterator=iter(words),
        model=model,
        num_microbatches=PARTS,
        seq_length=ROWS,
        micro_batch_size=2,
        forward_only=False,
    )
    if sequence:  # as its own finalize_model_grads does for what every rank holds whole
        for each in model.parameters():
            if getattr(each, "sequence_parallel", False):
                torch.distributed.all_reduce(each.grad)
    kept = {name: (each.detach().cpu(), each.grad.cpu()) for name, each in model.named_parameters()}
    assert next(model.parameters()).is_cuda
    assert engine == any("TELayerNorm" in type(each).__name__ for each in model.modules())
    torch.save((kept, [each["loss"] for each in told]), Path(folder) / f"{number}.pt")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def by_hand(weights):
    """Return the mean loss of the parts of a GPT with norms before, learned positions and GELU, by Megatron's names."""
    w = {name: each.double().requires_grad_() for name, each in weights.items()}

    def linear(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x, name):
        away = x - x.mean(-1, keepdim=True)
        return away / (away.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * w[f"{name}.weight"] + w[f"{name}.bias"]

    losses = []
    for part in words:
        x = w["embedding.word_embeddings.weight"][part[:, :-1]] + w["embedding.position_embeddings.weight"]
        for layer in range(LAYERS):
            at = f"decoder.layers.{layer}"
            one = linear(norm(x, f"{at}.input_layernorm"), f"{at}.self_attention.linear_qkv")
            q, k, v = one.reshape(2, ROWS, HEADS, 3, WIDTH // HEADS).permute(3, 0, 2, 1, 4)
            scores = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
            scores = scores.masked_fill(torch.ones(ROWS, ROWS, dtype=torch.bool).triu(1), -torch.inf)
            mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(2, ROWS, WIDTH)
            x = x + linear(mixed, f"{at}.self_attention.linear_proj")
            inner = linear(norm(x, f"{at}.pre_mlp_layernorm"), f"{at}.mlp.linear_fc1")
            x = x + linear(inner * 0.5 * (1 + torch.erf(inner / 2**0.5)), f"{at}.mlp.linear_fc2")
        shares = (norm(x, "decoder.final_layernorm") @ w["output_layer.weight"].T).log_softmax(-1)
        losses.append(-shares.gather(-1, part[:, 1:, None]).mean())
    (sum(losses) / PARTS).backward()
    return [float(each) for each in losses], {name: each.grad for name, each in w.items()}


def together(parts, tensors):
    """Put the ranks' parts in one: names to weights and gradients."""
    whole = {}
    for number, part in enumerate(parts):
        for name, (weight, grad) in part.items():
            for fused, alone in FUSED.items():
                name = name.replace(fused, alone)
            if tensors == 1 and number and name.startswith("decoder.layers.0."):
                name = name.replace("layers.0", "layers.1")
            whole.setdefault(name, []).append((weight, grad))
    found = {}
    for name, pieces in whole.items():
        columns = any(each in name for each in ("linear_qkv", "linear_fc1", "word_embeddings", "output_layer"))
        rows = name.endswith(("linear_proj.weight", "linear_fc2.weight"))
        if len(pieces) > 1 and (columns or rows):
            found[name] = tuple(torch.cat(each, 0 if columns else 1) for each in zip(*pieces))
        else:
            found[name] = pieces[0]
    return found


if len(sys.argv) > 1:
    rank(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1", sys.argv[4] == "1", sys.argv[5])
    sys.exit()
for title, tensors, layers, sequence, engine in (
    ("tensors in two", 2, 1, 0, 0),
    ("tensors and rows in two", 2, 1, 1, 0),
    ("layers in two", 1, 2, 0, 0),
    ("Transformer Engine, tensors in two", 2, 1, 0, 1),
    ("Transformer Engine, tensors and rows in two", 2, 1, 1, 1),
    ("Transformer Engine, layers in two", 1, 2, 0, 1),
):
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc_per_node=2",
            __file__,
            str(tensors),
            str(layers),
            str(sequence),
            str(engine),
            folder,
        ]
        settings = {"OMP_NUM_THREADS": "1", "CUDA_DEVICE_MAX_CONNECTIONS": "1"}
        if engine:
            settings["ANYWARP_NEIGHBOURS"] = "transformer_engine"
        elif sequence:  # its own norms do not go with it: it wants Apex's
            settings["ANYWARP_NEIGHBOURS"] = "apex"
        ran = subprocess.run(command, capture_output=True, text=True, env=os.environ | settings)
        check(f"{title}: the ranks ended", lambda ran=ran: ran.returncode, 0, 0)
        if ran.returncode:
            print(ran.stderr[-4000:])
            continue
        parts, told = zip(*(torch.load(Path(folder) / f"{number}.pt") for number in (0, 1)))
    found = together(parts, tensors)
    losses, slopes = by_hand({name: weight for name, (weight, _) in found.items()})
    check(f"{title}: losses", lambda told=told: told[-1], losses, 1e-5)
    largest = max(float(each.abs().max()) for each in slopes.values())
    for name, (_, grad) in found.items():
        error = float((grad.double() - slopes[name]).abs().max()) / largest
        if not error <= 1e-5:
            check(f"{title}: gradient of {name}", lambda error=error: error, 0.0, 1e-5)
    check(f"{title}: gradients compared", lambda found=found: float(len(found)), float(len(slopes)), 0)
end()
