"""Render what answers cuDNN's and NVML's functions on AMD GPUs as pages.

A user who wonders why a network stops on the device `hip` looks the function up there.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from anywarp.catalogue.rocm import DATA, FUNCTION_COLUMNS, read

NATIVE = Path(__file__).resolve().parents[3] / "native" / "rocm"
OPERATIONS = (
    (
        "convolution, forward and both ways back",
        "immediate mode of MIOpen; alpha and beta as with the functions; the same pads before and behind",
    ),
    ("pointwise ADD, SUB, MUL, MIN, MAX of two tensors", "`miopenOpTensor`; one operand may be repeated"),
    ("pointwise ADD, SUB, MUL, DIV with a number by value", "`miopenSetTensor`, `miopenOpTensor`, `miopenScaleTensor`"),
    (
        "pointwise RELU, TANH, SIGMOID, ELU, SOFTPLUS, ABS, IDENTITY, NEG, and RELU, TANH, SIGMOID, ELU, SOFTPLUS backward",
        "`miopenActivationForward` and `Backward`",
    ),
    ("reduction", "`miopenReduceTensor`, all operators but MUL_NO_ZEROS"),
    ("matmul", "`rocblas_gemm_strided_batched_ex`; evenly spaced batches"),
)


def cudnn_rows() -> list[dict[str, str]]:
    """Return the rows of cudnn.tsv."""
    return [row for row, _ in read(DATA / "cudnn.tsv", FUNCTION_COLUMNS)]


def cudnn_page() -> Iterator[str]:
    """Yield the lines of docs/coverage/cudnn.md."""
    rows = cudnn_rows()
    served = [row for row in rows if row["route"] == "custom"]
    wanted = [row for row in rows if int(row["clients"])]
    missing = [row for row in wanted if row["route"] == "absent"]
    yield from (
        "# cuDNN on AMD GPUs",
        "",
        "Made from `src/anywarp/catalogue/data/rocm/cudnn.tsv` and `native/rocm/cudnn` by `scripts/docs`.",
        "",
        "On the device `hip` `libcudnn.so.8` and `libcudnn.so.9` are served by MIOpen (ROCm 6.4 and 7). None of it has run on an AMD GPU yet: every call",
        "was compared, field by field, at a MIOpen that writes down what it gets.",
        "",
        f"{len(served)} of {len(rows)} functions of both versions are served, and {len(wanted) - len(missing)} of the {len(wanted)} that measured clients import. The others return",
        "CUDNN_STATUS_NOT_SUPPORTED and say so once on stderr.",
        "",
        "What to know:",
        "",
        "- Convolutions run by MIOpen's immediate mode, which needs no search before. A search (`cudnnFind...`, `torch.backends.cudnn.benchmark`) is MIOpen's",
        "  fast one: the full one compiles for minutes.",
        "- MIOpen's layers know alpha 1 and beta 0; others are applied by a further call, with scratch memory in the order of the stream where beta is not 0.",
        "  Factors of type double must be floats.",
        "- Between the operations of a graph, and of `cudnnConvolutionBiasActivationForward`, values are rounded to the type of the tensors; cuDNN keeps floats.",
        "- Max pooling does not propagate NaN where that is asked for; deterministic max pooling is the same pooling.",
        "- Weights of recurrent networks lie in MIOpen's order: ask `cudnnGetRNNWeightParams` for each matrix, as frameworks do.",
        "- Dropout draws from another generator: other numbers, of the same distribution.",
        "- hipDNN is not asked, also where it is installed.",
        "",
        "## Graphs",
        "",
        "A graph of these operations is run one after the other, with what is virtual in the workspace; there is one engine, number 0. A graph with any other",
        "operation has no engine, and the operation is named on stderr. Attention (SDPA), normalization, resampling and block scaling are not there.",
        "",
        "| operation | answered by |",
        "| --- | --- |",
        *(f"| {what} | {how} |" for what, how in OPERATIONS),
        "",
        "## Imported by clients, and absent",
        "",
        "| function | clients | why |",
        "| --- | --- | --- |",
        *(f"| `{row['name']}` | {row['clients']} | {row['reason']} |" for row in missing),
        "",
        "## All functions",
        "",
        "| function | cuDNN | MIOpen | |",
        "| --- | --- | --- | --- |",
    )
    for row in rows:
        majors = ", ".join({"12": "8", "13": "9"}[major] for major in row["majors"].split())
        target = f"`{row['target']}`" if row["target"] and row["route"] == "custom" else ""
        yield f"| `{row['name']}` | {majors} | {target} | {row['reason'] if row['route'] == 'absent' else 'served'} |"


def nvml_page() -> Iterator[str]:
    """Yield the lines of docs/coverage/nvml_amd.md."""
    spec = importlib.util.spec_from_file_location("rocm_nvml_generate", NATIVE / "nvml" / "generate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ours: set[str] = module.served([*sorted((NATIVE / "nvml").glob("*.cpp")), NATIVE.parent / "nvml" / "words.cpp"])
    lines = [
        line
        for line in (DATA.parent / "nvml.tsv").read_text(encoding="utf-8").splitlines()
        if not line.startswith("# ")
    ]
    names = [line.split("\t")[0] for line in lines[1:]]
    yield from (
        "# NVML on AMD GPUs",
        "",
        "Made from `src/anywarp/catalogue/data/nvml.tsv` and `native/rocm/nvml` by `scripts/docs`.",
        "",
        f"On the device `hip` `libnvidia-ml.so.1` is answered by amdsmi (`libamd_smi.so.26` or `.27`): {sum(name in ours for name in names)} of {len(names)} functions. The others return",
        "NVML_ERROR_NOT_SUPPORTED, which NVML says of some cards for most of them. Devices are in the order of the bus. With an older amdsmi there are neither processes",
        "nor power, whose structures have changed. None of it has run on an AMD GPU yet: values and units were compared over a library that is laid out like amdsmi.",
        "",
        "| function | |",
        "| --- | --- |",
        *(f"| `{name}` | {'served' if name in ours else module.reason(name)} |" for name in names),
    )


def main(folder: Path) -> None:
    """Write both pages into `folder`."""
    for name, lines in (("cudnn.md", cudnn_page()), ("nvml_amd.md", nvml_page())):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
