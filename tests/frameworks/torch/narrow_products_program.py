"""Multiply matrices of 16-bit floats on `cuda` and print the largest error of each against float64, in roundings of the result.

python narrow_products_program.py
"""

import torch

torch.manual_seed(3)


def error(found, wanted, scale):
    """Half a rounding of the result, and what sums in float lose."""
    bits = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}[found.dtype]
    found, wanted, scale = found.double().cpu(), wanted.cpu(), scale.cpu()
    return float(((found - wanted).abs() / (wanted.abs() * bits + scale * 2.0**-20 + 2.0**-25)).max())


def product(how, a, b, c=None):
    wide = [x.double() for x in (a, b)]
    plain = torch.bmm if a.dim() == 3 else torch.mm
    wanted, scale = plain(*wide), plain(*(x.abs() for x in wide))
    if c is not None:
        wanted, scale = 0.5 * c.double() + 2 * wanted, c.double().abs() + 2 * scale
    return error(how(), wanted, scale)


def run(kind):

    def made(*shape):
        return torch.randn(*shape, device="cuda").to(kind)

    a, b, c = made(70, 90), made(90, 110), made(70, 110)
    print("mm", kind, product(lambda: torch.mm(a, b), a, b))
    left, right = made(90, 70).t(), made(220, 90)[::2].t()
    print("mm of views", kind, product(lambda: torch.mm(left, right), left, right))
    print("addmm", kind, product(lambda: torch.addmm(c, a, b, beta=0.5, alpha=2), a, b, c))
    out = torch.full((70, 110), float("nan"), device="cuda", dtype=kind)
    print(
        "mm into",
        kind,
        product(lambda: torch.mm(a, b, out=out), a, b),
        out.data_ptr() != 0 and not out.isnan().any().item(),
    )
    x, y, z = made(3, 40, 50), made(1, 50, 60).expand(3, 50, 60), made(3, 40, 60)
    print("bmm", kind, product(lambda: torch.bmm(x, y), x, y))
    print("baddbmm", kind, product(lambda: torch.baddbmm(z, x, y, beta=0.5, alpha=2), x, y, z))
    print("empty", kind, torch.mm(made(0, 90), b).shape[0], torch.mm(made(70, 0), made(0, 110)).abs().sum().item())
    image, filters = made(2, 8, 20, 20), made(12, 8, 3, 3)
    wanted = torch.nn.functional.conv2d(image.double(), filters.double())
    scale = torch.nn.functional.conv2d(image.double().abs(), filters.double().abs())
    print("conv2d", kind, error(torch.nn.functional.conv2d(image, filters), wanted, scale))
    weight = made(110, 90).requires_grad_()
    torch.nn.functional.linear(a, weight).sum().backward()
    assert weight.grad is not None
    print(
        "gradient", kind, error(weight.grad, a.double().sum(0).expand(110, 90), a.double().abs().sum(0).expand(110, 90))
    )
    try:
        torch.mm(a, b.float())
    except RuntimeError as refused:
        print("mixed", kind, "same dtype" in str(refused))


for each in (torch.float16, torch.bfloat16):
    run(each)
