"""CuPy: its kernels (by NVRTC), CUB's in its wheel, and NVIDIA's libraries behind linalg, fft, random and sparse matrices, against numpy."""

import cupy as cp
import cupyx.scipy.sparse as sparse
import cupyx.scipy.special as special
import numpy as np
import scipy.sparse
import scipy.special
from checked import check, end

rng = np.random.default_rng(0)
a, b = (rng.standard_normal((64, 64)) for _ in range(2))
x, y = cp.asarray(a), cp.asarray(b)
spd = a @ a.T + 64 * np.eye(64)
given = cp.asarray(spd)


def host(compute):
    return lambda: cp.asnumpy(compute())


check("elementwise", host(lambda: cp.exp(x) * y), np.exp(a) * b, 1e-14)
check("product", host(lambda: x @ y), a @ b, 1e-14)
check("product of f16", host(lambda: x.astype(cp.float16) @ y.astype(cp.float16)), a @ b, 2e-3)
check("complex product", host(lambda: (x + 1j * y) @ (y - 1j * x)), (a + 1j * b) @ (b - 1j * a), 1e-14)
check("batched product", host(lambda: cp.matmul(cp.stack([x, y]), y)), np.matmul(np.stack([a, b]), b), 1e-14)
check("tensordot", host(lambda: cp.tensordot(x, y)), np.tensordot(a, b), 1e-13)
check("sum", host(lambda: x.sum(1)), a.sum(1), 1e-13)
check("cumsum", host(lambda: cp.cumsum(x.ravel())), np.cumsum(a.ravel()), 1e-13)
check("sort", host(lambda: cp.sort(x.ravel())), np.sort(a.ravel()), 0)
check("argsort", host(lambda: cp.argsort(x.ravel())), np.argsort(a.ravel()), 0)
check("svd", host(lambda: cp.linalg.svd(x)[1]), np.linalg.svd(a)[1], 1e-13)
check("inverse", host(lambda: cp.linalg.inv(given)), np.linalg.inv(spd), 1e-12)
check("eigh", host(lambda: cp.linalg.eigh(x + x.T)[0]), np.linalg.eigh(a + a.T)[0], 1e-12)
check("qr", host(lambda: abs(cp.linalg.qr(x)[1])), abs(np.linalg.qr(a)[1]), 1e-12)
check("cholesky", host(lambda: cp.linalg.cholesky(given)), np.linalg.cholesky(spd), 1e-13)
check("solve", host(lambda: cp.linalg.solve(given, y)), np.linalg.solve(spd, b), 1e-12)
check("fft", host(lambda: cp.fft.fft2(x)), np.fft.fft2(a), 1e-14)
check("rfft", host(lambda: cp.fft.rfft(x)), np.fft.rfft(a), 1e-14)
check("random", lambda: abs(float(cp.random.default_rng(1).standard_normal(10000).std()) - 1) < 0.05, True, 0)
m = scipy.sparse.random(200, 300, 0.05, format="csr", random_state=0)
v = rng.standard_normal(300)
s = sparse.csr_matrix(m)
check("sparse by vector", host(lambda: s @ cp.asarray(v)), m @ v, 1e-14)
check("sparse by sparse", host(lambda: (s @ s.T).toarray()), (m @ m.T).toarray(), 1e-13)
check("csr to csc", host(lambda: s.tocsc().toarray()), m.toarray(), 0)
double = cp.RawKernel('extern "C" __global__ void k(double* x) { x[threadIdx.x] = threadIdx.x * 2; }', "k")
at = np.linspace(0.05, 3, 50)
point = cp.asarray(at)
check("sine and cosine integrals", host(lambda: cp.stack(special.sici(point))), np.stack(scipy.special.sici(at)), 1e-13)
check("Legendre functions", host(lambda: special.lpmv(1, 2, point / 4)), scipy.special.lpmv(1, 2, at / 4), 1e-13)
check(
    "spherical harmonics",
    host(lambda: special.sph_harm_y(2, 1, point, point)),
    scipy.special.sph_harm_y(2, 1, at, at),
    1e-13,
)
out = cp.zeros(64)
double((1,), (64,), (out,))
check("own kernel", host(lambda: out), np.arange(64) * 2.0, 0)
growth = cp.RawKernel(
    "#include <cuda/std/cmath>\n"
    'extern "C" __global__ void k(double* x) { x[threadIdx.x] = cuda::std::exp(x[threadIdx.x] / 64); }',
    "k",
)
growth((1,), (64,), (out,))
check("own kernel of libcu++", host(lambda: out), np.exp(np.arange(64) / 32), 1e-15)
end()
