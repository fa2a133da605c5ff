"""bitsandbytes' layers of 4 and 8 bits, forward and in a training step, and its optimizers, against the quantised weights in numpy's float64."""

import bitsandbytes
import numpy as np
import torch
from checked import check, end

INTO, OUT, BLOCK, RANK = 256, 192, 64, 8
NF4 = [
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
    0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
]  # fmt: skip
FP4 = [value / 12 for value in (0, 0.0625, 8, 12, 4, 6, 2, 3)]
TABLES = {"nf4": np.array(NF4), "fp4": np.array(FP4 + [-value for value in FP4])}
"""What each number of 4 bits stands for: quantiles of a normal distribution, and a sign, two bits of an exponent and one of a fraction."""
BOUNDS = {torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 1.5e-2}
rng = np.random.default_rng(0)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def tensor(values, kind=torch.float32):
    return torch.tensor(np.asarray(values, np.float32)).to("cuda", kind)


def host(values):
    return values.detach().cpu().double().numpy()


def rounded(values, kind):
    return torch.tensor(np.asarray(values, np.float32)).to(kind).double().numpy()


def in_4_bits(weight, table):
    """Return the weight as blocks of `BLOCK` numbers hold it, each the nearest of the table times the block's largest magnitude."""
    blocks = weight.astype(np.float64).reshape(-1, BLOCK)
    largest = np.abs(blocks).max(1, keepdims=True)
    nearest = np.abs((blocks / largest)[..., None] - table).argmin(-1)
    return (table[nearest] * largest).reshape(weight.shape)


def in_8_bits(values):
    """Return rows of whole numbers of -127 to 127 times what a row is multiplied by."""
    largest = np.abs(values).max(1, keepdims=True)
    return np.rint(values * 127 / largest) * largest / 127


def four_bits(kind, compute):
    weight, bias, x, back = normal(OUT, INTO), normal(OUT), normal(5, INTO), normal(5, OUT)
    layer = bitsandbytes.nn.Linear4bit(INTO, OUT, compute_dtype=compute, compress_statistics=False, quant_type=kind)
    layer.load_state_dict({"weight": torch.tensor(weight), "bias": torch.tensor(bias)})
    layer = layer.to("cuda")
    held, name = in_4_bits(weight, TABLES[kind]), f"{kind} in {str(compute).removeprefix('torch.')}"
    held, bound = rounded(held, compute), BOUNDS[compute]
    given, shift = rounded(x, compute), rounded(bias, compute)
    check(f"{name}: rows", lambda: host(layer(tensor(x, compute))), given @ held.T + shift, bound)
    with torch.no_grad():
        check(f"{name}: a row", lambda: host(layer(tensor(x[:1], compute))), given[:1] @ held.T + shift, bound)
    given = tensor(x, compute).requires_grad_()
    layer(given).backward(tensor(back, compute))
    check(f"{name}: gradient", lambda: host(given.grad), rounded(back, compute) @ held, bound)


def nested():
    weight = normal(OUT, INTO)
    packed, state = bitsandbytes.functional.quantize_4bit(tensor(weight), quant_type="nf4", compress_statistics=True)
    inner = state.state2
    largest = host(inner.code)[state.absmax.cpu().numpy().reshape(-1)]
    scales = np.repeat(host(inner.absmax), inner.blocksize)[: largest.size]
    largest = largest * scales + float(state.offset)
    numbers = packed.cpu().numpy().reshape(-1)
    numbers = np.stack([numbers >> 4, numbers & 15], 1).reshape(-1, state.blocksize)
    wanted = (TABLES["nf4"][numbers] * largest[:, None]).reshape(weight.shape)
    check(
        "nf4 with scales in 8 bits", lambda: host(bitsandbytes.functional.dequantize_4bit(packed, state)), wanted, 1e-6
    )
    check("nf4 with scales in 8 bits is near the weight", lambda: wanted, in_4_bits(weight, TABLES["nf4"]), 2e-2)


def adapters():
    """A step of training two small matrices beside a weight of 4 bits."""
    weight, x, target = normal(OUT, INTO), normal(16, INTO), normal(16, OUT)
    down, up = normal(RANK, INTO) / 16, normal(OUT, RANK) / 3
    layer = bitsandbytes.nn.Linear4bit(
        INTO, OUT, bias=False, compute_dtype=torch.float32, compress_statistics=False, quant_type="nf4"
    )
    layer.load_state_dict({"weight": torch.tensor(weight)})
    layer = layer.to("cuda")
    first, second = tensor(down).requires_grad_(), tensor(up).requires_grad_()
    steps = torch.optim.SGD([first, second], lr=0.1)
    out = layer(tensor(x)) + tensor(x) @ first.T @ second.T
    torch.nn.functional.mse_loss(out, tensor(target)).backward()
    steps.step()
    x, down, up = (each.astype(np.float64) for each in (x, down, up))
    back = 2 * (x @ in_4_bits(weight, TABLES["nf4"]).T + x @ down.T @ up.T - target) / target.size
    check("adapters after a step: down", lambda: host(first), down - 0.1 * (back @ up).T @ x, 1e-6)
    check("adapters after a step: up", lambda: host(second), up - 0.1 * back.T @ (x @ down.T), 1e-6)


def eight_bits(trained, threshold):
    weight, bias, x = (rounded(each, torch.float16) for each in (normal(OUT, INTO), normal(OUT), normal(9, INTO)))
    if threshold:
        x[:, [3, 77]] += 8
    layer = bitsandbytes.nn.Linear8bitLt(INTO, OUT, has_fp16_weights=trained, threshold=threshold)
    layer.load_state_dict({"weight": torch.tensor(weight).half(), "bias": torch.tensor(bias).half()})
    layer = layer.half().to("cuda")
    beyond = (np.abs(x) >= threshold).any(0) if threshold else np.zeros(INTO, bool)
    held = in_8_bits(weight)
    inside = np.where(np.abs(x) < threshold, x, 0) if threshold else x
    wanted = in_8_bits(inside) @ np.where(beyond, 0, held).T + x[:, beyond] @ held[:, beyond].T + bias
    name = f"8 bits, weights of {'16' if trained else '8'}, threshold {threshold}"
    given = tensor(x, torch.float16).requires_grad_()
    out = layer(given)
    check(f"{name}: rows", lambda: host(out), wanted, 2e-3)
    back = rounded(normal(9, OUT), torch.float16)
    out.backward(tensor(back, torch.float16))
    check(f"{name}: gradient", lambda: host(given.grad), back @ held, 2e-3)
    if trained and not threshold:
        # bitsandbytes takes the whole numbers of the rows, and multiplies by what belongs to the columns; those of `x` it finds in 16 bits.
        whole, largest = np.rint(back * 127 / np.abs(back).max(1, keepdims=True)), np.abs(x).max(0)
        columns = np.rint(rounded(x * 127, torch.float16) / largest) * largest / 127
        wanted = (whole * np.abs(back).max(0) / 127).T @ columns
        check(f"{name}: the weight's gradient", lambda: host(layer.weight.grad), wanted, 2e-3)


def quantised_state(values, largest, code, block=256):
    return (host(code)[values.cpu().numpy()].reshape(-1, block) * host(largest)[:, None]).reshape(values.shape)


def adam_of_8_bits():
    """Each step from the state of 8 bits that the one before left."""
    rate, first, second, small = 1e-2, 0.9, 0.999, 1e-8
    held = torch.nn.Parameter(tensor(normal(64, 128)))
    steps = bitsandbytes.optim.Adam8bit([held], lr=rate)
    m, v = np.zeros((64, 128)), np.zeros((64, 128))
    for step in range(1, 5):
        gradient = normal(64, 128)
        m, v = first * m + (1 - first) * gradient, second * v + (1 - second) * gradient.astype(np.float64) ** 2
        slope = m / (1 - first**step) / (np.sqrt(v / (1 - second**step)) + small)
        wanted, held.grad = host(held) - rate * slope, tensor(gradient)
        steps.step()
        check(f"Adam of 8 bits, step {step}", lambda: host(held), wanted, 1e-5)
        state = steps.state[held]
        assert state["state1"].dtype == torch.uint8
        for exact, n in ((m, 1), (v, 2)):
            found = quantised_state(state[f"state{n}"], state[f"absmax{n}"], state[f"qmap{n}"])
            check(f"moments {n} after step {step}", lambda found=found: found, exact, 2e-2)
            exact[:] = found


def optimizer(name, reference, decay=0.0, **settings):
    """Five steps of an optimizer that keeps 32 bits, against torch's own in float64 on the host; weights decay after each."""
    start, gradients = normal(48, 96), [normal(48, 96) for _ in range(5)]
    ours = torch.nn.Parameter(tensor(start))
    theirs = torch.nn.Parameter(torch.tensor(start, dtype=torch.float64))
    steps, exact = (
        getattr(bitsandbytes.optim, name)([ours], weight_decay=decay, **settings),
        reference([theirs], **settings),
    )
    for gradient in gradients:
        ours.grad, theirs.grad = tensor(gradient), torch.tensor(gradient, dtype=torch.float64)
        steps.step()
        exact.step()
        theirs.data *= 1 - settings["lr"] * decay
    check(name, lambda: host(ours), theirs.detach().numpy(), 1e-6)


def training():
    """A small network whose 8-bit optimizer brings its error down as torch's AdamW does."""
    x, y = normal(256, 64), normal(256, 16)

    def losses(made):
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 16)).to("cuda")
        steps, seen = made(net.parameters(), lr=5e-3), []
        for _ in range(20):
            loss = torch.nn.functional.mse_loss(net(tensor(x)), tensor(y))
            steps.zero_grad()
            loss.backward()
            steps.step()
            seen.append(loss.item())
        return seen

    check("training", lambda: losses(bitsandbytes.optim.AdamW8bit), losses(torch.optim.AdamW), 2e-2)


for quantised in TABLES:
    for type_ in BOUNDS:
        four_bits(quantised, type_)
nested()
adapters()
for kept in (False, True):
    for above in (0.0, 6.0):
        eight_bits(kept, above)
adam_of_8_bits()
optimizer("Adam32bit", torch.optim.Adam, lr=1e-2)
optimizer("AdamW32bit", torch.optim.Adam, decay=0.1, lr=1e-2)
optimizer("PagedAdam32bit", torch.optim.Adam, lr=1e-2)
optimizer("SGD32bit", torch.optim.SGD, lr=1e-2, momentum=0.9)
training()
end()
