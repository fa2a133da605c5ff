"""Matrix products, contractions and the small linear algebra that tinygrad builds on them."""

from __future__ import annotations

import hashlib

import numpy as np
from ops.case import FLOATS, Case, Input
from tinygrad import Tensor

PRODUCT_TYPES = (*FLOATS, "int32", "int8", "uint8")


def product(
    name: str, left: tuple[int, ...], right: tuple[int, ...], types: tuple[str, ...] = ("float32",), factor: float = 20
) -> Case:
    def expected(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x @ y if x.dtype == np.float64 else (x.astype(np.int64) @ y.astype(np.int64)).astype(np.int32)

    return Case(
        name,
        lambda x, y: x.matmul(y) if x.is_floating_point() else x.cast("int32").matmul(y.cast("int32")),
        expected,
        (Input(left), Input(right)),
        types,
        factor,
    )


PRODUCTS = [
    product("matmul", (17, 33), (33, 9), PRODUCT_TYPES),
    product("matmul_square", (64, 64), (64, 64), ("float32", "float16", "bfloat16", "float64"), 60),
    product("matmul_large", (128, 256), (256, 192), ("float32", "float16"), 200),
    product("matmul_odd", (65, 127), (127, 31), ("float32", "float16"), 60),
    product("matmul_batched", (3, 17, 8), (3, 8, 11), ("float32", "float16", "int32")),
    product("matmul_broadcast", (2, 1, 5, 8), (3, 8, 7)),
    product("matmul_vector", (33, 65), (65,), ("float32", "float16"), 40),
    product("vector_matmul", (65,), (65, 33), ("float32",), 40),
    product("dot", (1027,), (1027,), ("float32", "float16", "int32"), 400),
    product("matmul_one", (1, 1), (1, 1)),
    product("matmul_empty_rows", (0, 5), (5, 3)),
    product("matmul_empty_inner", (4, 0), (0, 3)),
]
TRANSPOSED = [
    Case("matmul_transposed", lambda x, y: x @ y.T, lambda x, y: x @ y.T, (Input((20, 48)), Input((24, 48))), ("float32", "float16"), 40),
    Case("matmul_left_transposed", lambda x, y: x.T @ y, lambda x, y: x.T @ y, (Input((48, 20)), Input((48, 24))), ("float32",), 40),
    Case("matmul_half_to_float", lambda x, y: x.matmul(y, dtype="float32"), np.matmul, (Input((32, 64)), Input((64, 32))), ("float16",), 2500),
    Case("matmul_relu", lambda x, y: (x @ y).relu() + 1, lambda x, y: np.maximum(x @ y, 0) + 1, (Input((32, 32)), Input((32, 32))), ("float32", "float16"), 40),
    Case("linear", lambda x, w, b: x.linear(w, b), lambda x, w, b: x @ w + b, (Input((5, 17)), Input((17, 12)), Input((12,))), FLOATS, 20),
    Case("outer", lambda x, y: x.reshape(-1, 1) * y, np.outer, (Input((13,)), Input((21,))), FLOATS),
    Case("einsum_product", lambda x, y: Tensor.einsum("ij,jk->ik", x, y), lambda x, y: x @ y, (Input((7, 9)), Input((9, 5))), ("float32",), 20),
    Case("einsum_batched", lambda x, y: Tensor.einsum("bhqd,bhkd->bhqk", x, y), lambda x, y: np.einsum("bhqd,bhkd->bhqk", x, y),
         (Input((2, 3, 5, 8)), Input((2, 3, 6, 8))), ("float32", "float16"), 20),
    Case("einsum_trace", lambda x: Tensor.einsum("ii->", x), np.trace, (Input((9, 9)),), ("float32",), 8),
    Case("chained_products", lambda x, y, z: (x @ y).softmax() @ z, lambda x, y, z: softmax_rows(x @ y) @ z,
         (Input((16, 8)), Input((8, 24)), Input((24, 8))), ("float32", "float16"), 20),
]  # fmt: skip


def softmax_rows(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def qr_product(x: Tensor) -> Tensor:
    q, r = x.qr()
    return q @ r


def svd_product(x: Tensor) -> Tensor:
    u, s, v = x.svd(full_matrices=False)
    return u @ (s.unsqueeze(-1) * v)


def sha3(x: np.ndarray) -> np.ndarray:
    return np.array([list(hashlib.sha3_256(row.tobytes()).digest()) for row in x], np.uint8)


ALGEBRA = [
    Case("qr", qr_product, lambda x: x, (Input((5, 4)),), ("float32",), 40),
    Case("svd", svd_product, lambda x: x, (Input((4, 4)),), ("float32",), 400),
    Case("keccak", lambda x: x.keccak(), sha3, (Input((2, 100), "full"),), ("uint8",)),
    Case("normalize", lambda x: x.normalize(), lambda x: x / np.linalg.norm(x, axis=1, keepdims=True), (Input((6, 13)),), ("float32",), 4),
    Case("cosine", lambda x, y: (x * y).sum(1) / (x.square().sum(1).sqrt() * y.square().sum(1).sqrt()),
         lambda x, y: (x * y).sum(1) / (np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)), (Input((6, 33)), Input((6, 33))), ("float32",), 8),
]  # fmt: skip
CASES = [*PRODUCTS, *TRANSPOSED, *ALGEBRA]
