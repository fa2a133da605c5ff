"""Words by which a text mentions NVIDIA, for those who look at text that no reader of a format speaks for."""

NAMES = r"nvidia|(?<!barra)cuda|cudnn|cublas|nccl|tensorrt|nvcr\.io|gpu-feature-discovery"
"""NVIDIA, what its libraries are called most, and its tools on a cluster, in small letters. Barracuda is a fish."""

SHORT = r"(?:dcgm|nvml|nvcc|nvlink)"
"""More such names, so short that in text of any kind they count at the beginning of a word only: encoded data have them by chance."""

REST = (
    r"cufft|curand|cusparse|cusolver|cutlass|\btrtllm|nvswitch"
    r"|nvprof|\bnsys\b|(?<![\w/.-])gpu-operator(?![\w-])|gke-accelerator|\bmig-[1-7]g|\bmig[._-]?(?:strategy|config|manager|parted)"
    r"|\b(?:tesla|geforce|quadro)\b|\bcupy|\bpycuda|numba\.cuda|mellanox|\bmofed\b|\bpci-(?:\d{4}_)?10de\b|(?<![a-z0-9])cu1[0-3]\d(?![0-9])"
    r"|(?<![A-Za-z0-9])(?:GB300|GB200|B300|B200|GH200|H200|H100|H800|A100|A800|V100|P100|K80|L40S?|A10G|A6000|DGX|HGX|RTX ?\d{4}|GTX ?\d{3,4})(?![A-Za-z0-9])"
)
"""More of its libraries and tools, and its cards: in a file that is converted, each is a place for a person to look at."""

PARTS = tuple(
    b"nvidia cuda cudnn cublas cufft curand cusparse cusolver cutlass nvcr.io nccl dcgm tensorrt trtllm nvml nvlink nvswitch nvcc nvprof nsys "
    b"gpu-feature-discovery gpu-operator gke-accelerator mig- mig. mig_ migs migc migm migp tesla geforce quadro cupy mellanox mofed 10de "
    b"cu10 cu11 cu12 cu13 gb300 gb200 b300 b200 gh200 h200 h100 h800 a100 a800 v100 p100 k80 l40 a10g a6000 dgx hgx rtx gtx".split()
)
"""Letters of which every mention holds some: lines without any are not searched for words, which takes long."""
