"""Uses the extension that `setup.py build_ext --inplace` has built: softmax of half, bfloat16, float and double matrices."""

import torch  # isort: skip - it brings the libraries that an extension is linked to
import row_softmax  # isort: skip


def main() -> None:
    torch.manual_seed(0)
    for kind, tolerance in [
        (torch.float16, 1e-3),
        (torch.bfloat16, 1e-2),
        (torch.float32, 1e-6),
        (torch.float64, 1e-6),
    ]:
        for shape in [(5, 1), (64, 127), (3, 4000)]:
            values = (4 * torch.randn(shape, device="cuda")).to(kind)
            found = row_softmax.row_softmax(values)
            assert found.dtype == kind
            torch.testing.assert_close(
                found.double(), torch.softmax(values.double(), -1), rtol=tolerance, atol=tolerance
            )
    print("row_softmax: as torch in four precisions")


if __name__ == "__main__":
    main()
