"""Operations of cuDNN written down in numpy, in float64, by their definitions."""

from itertools import product

import numpy as np


def _taps(shape, kernel, out, pads, strides, dilations, post=None):
    """For each place of the filter: its index, and the slices of the padded input that outputs meet."""
    del shape
    for tap in product(*map(range, kernel)):
        yield (
            tap,
            tuple(
                slice(t * d, t * d + (o - 1) * s + 1, s)
                for t, d, o, s in zip(tap, dilations, out, strides, strict=True)
            ),
        )


def output_size(shape, kernel, pads, strides, dilations):
    return [
        (n + 2 * p - (k - 1) * d - 1) // s + 1
        for n, k, p, s, d in zip(shape, kernel, pads, strides, dilations, strict=True)
    ]


def _room(x, pads, kernel, dilations, strides):
    wide = [
        (0, 0),
        (0, 0),
        *((p, p + (k - 1) * d + s) for p, k, d, s in zip(pads, kernel, dilations, strides, strict=True)),
    ]
    return np.pad(x, wide)


def convolve(x, w, pads, strides, dilations, groups=1, out=None):
    """Cross-correlation, of any number of dimensions."""
    space, kernel = x.shape[2:], w.shape[2:]
    out = out or output_size(space, kernel, pads, strides, dilations)
    padded = _room(x, pads, kernel, dilations, strides)
    y = np.zeros((x.shape[0], w.shape[0], *out))
    c, k = w.shape[1], w.shape[0] // groups
    for g in range(groups):
        for tap, where in _taps(space, kernel, out, pads, strides, dilations):
            part = padded[(slice(None), slice(g * c, (g + 1) * c), *where)]
            y[:, g * k : (g + 1) * k] += np.einsum(
                "nc...,kc->nk...", part, w[(slice(g * k, (g + 1) * k), slice(None), *tap)]
            )
    return y


def convolve_gradients(x, w, dy, pads, strides, dilations, groups=1):
    """(dx, dw)"""
    space, kernel, out = x.shape[2:], w.shape[2:], dy.shape[2:]
    padded = _room(x, pads, kernel, dilations, strides)
    dpadded, dw = np.zeros_like(padded), np.zeros_like(w)
    c, k = w.shape[1], w.shape[0] // groups
    for g in range(groups):
        up = dy[:, g * k : (g + 1) * k]
        for tap, where in _taps(space, kernel, out, pads, strides, dilations):
            at = (slice(None), slice(g * c, (g + 1) * c), *where)
            mine = (slice(g * k, (g + 1) * k), slice(None), *tap)
            dpadded[at] += np.einsum("nk...,kc->nc...", up, w[mine])
            flat = (x.shape[0], -1, int(np.prod(out)))
            dw[mine] = np.einsum("nkp,ncp->kc", up.reshape(flat), padded[at].reshape(flat))
    inside = tuple(slice(p, p + n) for p, n in zip(pads, space, strict=True))
    return dpadded[(slice(None), slice(None), *inside)], dw


def pool(x, mode, window, pads, strides):
    """`mode`: max, include or exclude. Returns the result and, for each output, the places of its window that are inside."""
    out = output_size(x.shape[2:], window, pads, strides, [1] * len(window))
    y = np.zeros((*x.shape[:2], *out))
    members = {}
    for at in np.ndindex(*out):
        ranges = [
            range(max(0, a * s - p), min(n, a * s - p + k))
            for a, s, p, k, n in zip(at, strides, pads, window, x.shape[2:], strict=True)
        ]
        places = members[at] = list(product(*ranges))
        values = np.stack([x[(slice(None), slice(None), *place)] for place in places], -1)
        count = np.prod(window) if mode == "include" else len(places)
        y[(slice(None), slice(None), *at)] = values.max(-1) if mode == "max" else values.sum(-1) / count
    return y, members


def pool_gradient(x, dy, mode, window, pads, strides):
    dx = np.zeros_like(x)
    _, members = pool(x, mode, window, pads, strides)
    for at, places in members.items():
        for n, c in np.ndindex(x.shape[:2]):
            rise = dy[(n, c, *at)]
            if mode == "max":
                dx[(n, c, *max(places, key=lambda place: x[(n, c, *place)]))] += rise
                continue
            for place in places:
                dx[(n, c, *place)] += rise / (np.prod(window) if mode == "include" else len(places))
    return dx


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def numeric_gradient(f, x, step=1e-6):
    """Of a function of an array that returns a number, by central differences."""
    out = np.zeros_like(x)
    for at in np.ndindex(*x.shape):
        old = x[at]
        x[at] = old + step
        high = f(x)
        x[at] = old - step
        out[at] = (high - f(x)) / (2 * step)
        x[at] = old
    return out


def recurrent_cell(cell, gates, state_part, h, c):
    """One step of one direction: gates by rows [..., gate, hidden], before curves. Returns (h, c)."""
    if cell == "LSTM":
        i, f, new, o = (gates[..., k, :] + state_part[..., k, :] for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(new)
        return sigmoid(o) * np.tanh(c), c
    if cell == "GRU":
        r = sigmoid(gates[..., 0, :] + state_part[..., 0, :])
        u = sigmoid(gates[..., 1, :] + state_part[..., 1, :])
        new = np.tanh(gates[..., 2, :] + r * state_part[..., 2, :])
        return (1 - u) * new + u * h, c
    total = gates[..., 0, :] + state_part[..., 0, :]
    return (np.tanh(total) if cell == "TANH" else np.maximum(total, 0)), c
