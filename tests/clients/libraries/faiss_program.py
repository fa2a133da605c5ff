"""faiss on the GPU: exact and inverted search and clustering, against its own indices on the host."""

import faiss
import numpy as np
from checked import check, end

assert faiss.get_num_gpus() >= 1
rng = np.random.default_rng(0)
base, asked = (rng.standard_normal((n, 32)).astype(np.float32) for n in (2000, 50))
resources = faiss.StandardGpuResources()
exact = faiss.IndexFlatL2(32)
exact.add(base)
distances, numbers = exact.search(asked, 10)
on_gpu = faiss.GpuIndexFlatL2(resources, 32)
on_gpu.add(base)
check("exact distances", lambda: on_gpu.search(asked, 10)[0], distances, 1e-5)
check("exact neighbours", lambda: on_gpu.search(asked, 10)[1], numbers, 0)
inverted = faiss.IndexIVFFlat(faiss.IndexFlatL2(32), 32, 16)
inverted.train(base)
inverted.add(base)
inverted.nprobe = 8
moved = faiss.index_cpu_to_gpu(resources, 0, inverted)
moved.nprobe = 8
check(
    "inverted neighbours", lambda: (moved.search(asked, 10)[1] == inverted.search(asked, 10)[1]).mean() > 0.99, True, 0
)
clusters = faiss.Kmeans(32, 8, niter=5, gpu=True)
clusters.train(base)
check("clustering", lambda: clusters.obj[-1] < clusters.obj[0], True, 0)
end()
