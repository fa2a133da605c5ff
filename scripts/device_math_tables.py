"""Derive the polynomials of the device's mathematical functions and write `anywarp/math_tables.h`.

Each is the interpolation at Chebyshev's nodes of the named function, computed with 110 digits and rounded to doubles once, so that
every number in the header has a line here that says what it approximates, where, and how well.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import mpmath as mp

mp.mp.dps = 110
HEADER = Path(__file__).resolve().parent.parent / "src/anywarp/toolchain/include/device/anywarp/math_tables.h"
F = Callable[[mp.mpf], mp.mpf]


def nudge(f: F, at: float = 0.0) -> F:
    """The same function, but never asked at the place where its formula divides by zero."""
    return lambda x: f(x if abs(x - at) > mp.mpf(10) ** -25 else mp.mpf(at) + mp.mpf(10) ** -25)


def fit(f: F, low: float, high: float, count: int) -> tuple[list[mp.mpf], float]:
    """Return `count` coefficients, lowest first, and the largest error found relative to the function's largest value."""
    coefficients = list(reversed(mp.chebyfit(f, [mp.mpf(low), mp.mpf(high)], count)))
    points = [mp.mpf(low) + (mp.mpf(high) - mp.mpf(low)) * k / 97 for k in range(98)]
    values = [f(x) for x in points]
    size = max(abs(v) for v in values)
    error = max(abs(mp.polyval(coefficients[::-1], x) - v) for x, v in zip(points, values, strict=True))
    return coefficients, float(error / size)


def row(values: list[mp.mpf]) -> str:
    """Return numbers as C++ reads them."""
    return ", ".join(repr(float(v)) for v in values)


def polynomial(name: str, what: str, f: F, low: float, high: float, count: int) -> str:
    """Return a table of one polynomial, under a comment that says what it is and how well it fits."""
    coefficients, error = fit(f, low, high, count)
    head = f"// {what} on [{float(low):.6g}, {float(high):.6g}], error 2**{float(mp.log(max(error, 1e-40), 2)):.1f}."
    return f"{head}\nAW_TABLE {name}[{count}] = {{{row(coefficients)}}};\n"


def pieces(name: str, what: str, f: F, low: float, high: float, many: int, count: int) -> str:
    """Polynomials in the distance from the middle of each of `many` equal intervals."""
    width = (mp.mpf(high) - mp.mpf(low)) / many
    rows, worst = [], 0.0
    for k in range(many):
        middle = mp.mpf(low) + width * (k + mp.mpf(1) / 2)
        coefficients, error = fit(lambda t, c=middle: f(c + t), -width / 2, width / 2, count)
        worst = max(worst, error)
        rows.append(row(coefficients))
    head = (
        f"// {what}: {many} intervals of [{float(low):.6g}, {float(high):.6g}], error 2**{float(mp.log(worst, 2)):.1f}."
    )
    body = "},\n{".join(rows)
    return f"{head}\nAW_TABLE {name}[{many}][{count}] = {{{{{body}}}}};\n"


def two_over_pi() -> str:
    """The binary digits of 2/pi behind the point, 64 to a word."""
    with mp.workdps(420):
        x = 2 / mp.pi
        words = []
        for _ in range(20):
            x *= 2**64
            words.append(int(mp.floor(x)))
            x -= words[-1]
    return (
        "// 2/pi, 1280 binary digits behind 64 zeros.\nAW_WORDS aw_two_over_pi[21] = {0, "
        + ", ".join(f"{w:#x}ull" for w in words)
        + "};\n"
    )


def derive() -> str:
    """Return the text of the header."""

    zmax = (mp.sqrt(2) - 1) ** 2 / (mp.sqrt(2) + 1) ** 2
    parts = [
        polynomial("aw_exp_p", "(exp(r) - 1 - r)/r^2", nudge(lambda r: (mp.expm1(r) - r) / r**2), -0.347, 0.347, 11),
        polynomial(
            "aw_log_p",
            "(atanh(s)/s - 1)/s^2, in z = s^2",
            nudge(lambda z: (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z),
            0,
            zmax * 1.02,
            8,
        ),
        polynomial(
            "aw_log_q",
            "(2 atanh(s)/s - 2 - 2/3 s^2)/s^4, in z = s^2",
            nudge(lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2 - 2 * z / 3) / z**2),
            0,
            zmax * 1.02,
            9,
        ),
        polynomial(
            "aw_sin_p",
            "(sin(r)/r - 1)/z, in z = r^2",
            nudge(lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z),
            0,
            (mp.pi / 4) ** 2 * 1.02,
            7,
        ),
        polynomial(
            "aw_cos_p",
            "(cos(r) - 1 + z/2)/z^2, in z = r^2",
            nudge(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2),
            0,
            (mp.pi / 4) ** 2 * 1.02,
            7,
        ),
        polynomial(
            "aw_atan_p",
            "(atan(t)/t - 1)/z, in z = t^2",
            nudge(lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z),
            0,
            0.17162,
            13,
        ),
        polynomial(
            "aw_asin_p",
            "(asin(x)/x - 1)/z, in z = x^2",
            nudge(lambda z: (mp.asin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z),
            0,
            0.25,
            15,
        ),
        polynomial(
            "aw_sinh_p",
            "(sinh(x)/x - 1)/z, in z = x^2",
            nudge(lambda z: (mp.sinh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z),
            0,
            1.0,
            8,
        ),
        polynomial("aw_cbrt_p", "cbrt(m)", mp.cbrt, 1.0, 2.0, 7),
        polynomial("aw_expf_p", "(exp(r) - 1 - r)/r^2", nudge(lambda r: (mp.expm1(r) - r) / r**2), -0.347, 0.347, 6),
        polynomial(
            "aw_logf_p",
            "(log(1 + f) - f + f^2/2)/f^3",
            nudge(lambda f: (mp.log1p(f) - f + f * f / 2) / f**3),
            -0.2929,
            0.4143,
            10,
        ),
        polynomial(
            "aw_erff_p", "erf(x)/x - 1, in z = x^2", nudge(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1), 0, 1.0, 8
        ),
        polynomial("aw_erfcf_p", "log(erfc(x)) + x^2", lambda x: mp.log(mp.erfc(x)) + x * x, 1.0, 4.0, 10),
        polynomial("aw_erf_p", "erf(x)/x, in z = x^2", nudge(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z)), 0, 1.0, 14),
        pieces("aw_erfcx_t", "erfcx(x)/t, t = 4/(4 + x)", nudge(lambda t: erfcx(4 / t - 4) / t), 0, 1, 32, 10),
        polynomial(
            "aw_erfinv_p",
            "erfinv(y)/y, in z = y^2",
            nudge(lambda z: mp.erfinv(mp.sqrt(z)) / mp.sqrt(z)),
            0,
            0.2501,
            19,
        ),
        pieces("aw_erfcinv_near_t", "erfcinv(q)/w, w = sqrt(-log q)", erfcinv_over_w, 0.8, 3.2, 24, 11),
        pieces("aw_erfcinv_far_t", "erfcinv(q)/w, w = sqrt(-log q)", erfcinv_over_w, 3.2, 28.0, 62, 11),
        pieces("aw_lgamma_t", "lgamma(x)/((x - 1)(x - 2))", lgamma_over, 1, 8, 56, 11),
        polynomial(
            "aw_stirling_p",
            "lgamma(x) - (x - 1/2) log x + x - log(2 pi)/2, times x, in z = 1/x^2",
            nudge(lambda z: stirling(1 / mp.sqrt(z)) / mp.sqrt(z)),
            1e-20,
            1 / 64,
            9,
        ),
    ]
    return (
        "// Written by scripts/device_math_tables.py: the numbers of the mathematical functions.\n"
        "#ifndef ANYWARP_MATH_TABLES_H\n#define ANYWARP_MATH_TABLES_H\n\n"
        "// clang-format off\n#define AW_TABLE static constexpr double\n#define AW_WORDS static constexpr unsigned long long\n"
        + two_over_pi() + "\n".join(parts) + "\n".join(bessel_tables()) + "#undef AW_TABLE\n#undef AW_WORDS\n\n#endif\n"
    )  # fmt: skip


def erfcx(x: mp.mpf) -> mp.mpf:
    """Return exp(x^2) erfc(x), far out by its asymptotic series."""
    if x > 60:
        total, term, k = mp.mpf(1), mp.mpf(1), 0
        while k < 400:
            new = -term * (2 * k + 1) / (2 * x * x)
            if abs(new) > abs(term):
                break
            term, k = new, k + 1
            total += term
        return total / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


def inverse_erfc(q: mp.mpf, w: mp.mpf) -> mp.mpf:
    """Newton on log(erfc(x)) + w^2, which is nearly a parabola."""
    x = w * mp.mpf("0.95") if w > 1 else w * mp.mpf("0.6")
    for _ in range(60):
        value = mp.log(erfcx(x)) - x * x + w * w
        step = value / (2 / (mp.sqrt(mp.pi) * erfcx(x)))
        x += step
        if abs(step) < mp.mpf(10) ** -80:
            break
    return x


def erfcinv_over_w(w: mp.mpf) -> mp.mpf:
    """Return erfcinv(exp(-w^2))/w."""
    return inverse_erfc(mp.exp(-w * w), w) / w


def lgamma_over(x: mp.mpf) -> mp.mpf:
    """Return lgamma(x) by its zeros at 1 and 2."""
    for at in (1, 2):
        if abs(x - at) < mp.mpf(10) ** -25:
            x = at + mp.mpf(10) ** -25
    return mp.loggamma(x) / ((x - 1) * (x - 2))


def stirling(x: mp.mpf) -> mp.mpf:
    """Return what Stirling's formula leaves of lgamma(x)."""
    if x > 1e5:
        return 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5)
    with mp.workdps(150):
        return mp.loggamma(x) - (x - mp.mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2


def without_zeros(f: F, zeros: list[mp.mpf]) -> F:
    """The function divided by the distance to each of its zeros."""

    def quotient(x: mp.mpf) -> mp.mpf:
        for zero in zeros:
            if abs(x - zero) < mp.mpf(10) ** -25:
                x = zero + mp.mpf(10) ** -25
        return f(x) / mp.fprod([x - z for z in zeros])

    return quotient


def pairs(name: str, values: list[mp.mpf]) -> str:
    """Return a table of numbers, each as the sum of two doubles."""
    body = ", ".join(f"{{{float(v)!r}, {float(v - mp.mpf(float(v)))!r}}}" for v in values)
    return f"AW_TABLE {name}[{len(values)}][2] = {{{body}}};\n"


def amplitude(order: int, which: str) -> F:
    """P or Q x of Hankel's asymptotic form, in z = 1/x^2."""

    def value(z: mp.mpf) -> mp.mpf:
        x = 1 / mp.sqrt(z)
        mu, term, p, q, k = 4 * order * order, mp.mpf(1), mp.mpf(0), mp.mpf(0), 0
        if x > 100:
            while abs(term) > mp.mpf(10) ** -60:
                sign = -1 if k // 2 % 2 else 1
                p, q = (p + sign * term, q) if k % 2 == 0 else (p, q + sign * term)
                k += 1
                term = term * (mu - (2 * k - 1) ** 2) / (k * 8 * x)
        else:
            angle = x - (2 * order + 1) * mp.pi / 4
            j, y, scale = mp.besselj(order, x), mp.bessely(order, x), mp.sqrt(mp.pi * x / 2)
            p = scale * (j * mp.cos(angle) + y * mp.sin(angle))
            q = scale * (y * mp.cos(angle) - j * mp.sin(angle))
        return p if which == "p" else q * x

    return value


def bessel_tables() -> list[str]:
    """Return the tables of the Bessel functions."""
    zeros = {
        "j0": [mp.besseljzero(0, k) for k in (1, 2)],
        "j1": [mp.besseljzero(1, k) for k in (1, 2)],
        "y0": [mp.besselyzero(0, k) for k in (1, 2, 3)],
        "y1": [mp.besselyzero(1, k) for k in (1, 2)],
    }
    tables = [pairs(f"aw_{name}_zeros", values) for name, values in zeros.items()]
    j0, j1 = (lambda x: mp.besselj(0, x)), nudge(lambda x: mp.besselj(1, x) / x)
    tables += [
        pieces("aw_j0_t", "j0(x) by its zeros", without_zeros(j0, zeros["j0"]), 0, 8, 16, 13),
        pieces("aw_j1_t", "j1(x)/x by its zeros", without_zeros(j1, zeros["j1"]), 0, 8, 16, 13),
        pieces("aw_y0_t", "y0(x) by its zeros", without_zeros(lambda x: mp.bessely(0, x), zeros["y0"]), 0.75, 8, 29, 15),
        pieces("aw_y1_t", "y1(x) by its zeros", without_zeros(lambda x: mp.bessely(1, x), zeros["y1"]), 0.75, 8, 29, 15),
        polynomial("aw_y0_p", "y0(x) - 2/pi log(x) j0(x), in z = x^2",
                   nudge(lambda z: mp.bessely(0, mp.sqrt(z)) - 2 / mp.pi * mp.log(mp.sqrt(z)) * j0(mp.sqrt(z))), 0, 0.5625, 8),
        polynomial("aw_y1_p", "(y1(x) - 2/pi (log(x) j1(x) - 1/x))/x, in z = x^2", nudge(y1_rest), 0, 0.5625, 8),
    ]  # fmt: skip
    for order in (0, 1):
        for which in "pq":
            what = f"{'P' if which == 'p' else 'Q x'} of order {order}, in z = 1/x^2"
            tables.append(polynomial(f"aw_hankel_{which}{order}", what, amplitude(order, which), 1e-30, 1 / 64, 13))
        f = (
            (lambda x: mp.besseli(0, x) * mp.exp(-x))
            if order == 0
            else nudge(lambda x: mp.besseli(1, x) * mp.exp(-x) / x)
        )
        tables.append(pieces(f"aw_i{order}_t", f"i{order}(x) exp(-x){' / x' * order}", f, 0, 8, 16, 12))
        g = far_i(order)
        tables.append(polynomial(f"aw_i{order}_far", f"i{order}(x) exp(-x) sqrt(x), in u = 1/x", g, 1e-30, 1 / 8, 22))
    return tables


def y1_rest(z: mp.mpf) -> mp.mpf:
    """Return y1 without its logarithm and its pole, by x."""
    x = mp.sqrt(z)
    return (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x


def far_i(order: int) -> F:
    """Return i(x) exp(-x) sqrt(x) as a function of 1/x."""

    def value(u: mp.mpf) -> mp.mpf:
        x = 1 / u
        if x < 150:
            return mp.besseli(order, x) * mp.exp(-x) * mp.sqrt(x)
        term, total, k = mp.mpf(1), mp.mpf(0), 0
        while abs(term) > mp.mpf(10) ** -60:
            total += term
            k += 1
            term = -term * (4 * order * order - (2 * k - 1) ** 2) / (k * 8 * x)
        return total / mp.sqrt(2 * mp.pi)

    return value


def main() -> None:
    """Write the header, or say whether the one there is current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if the header would change")
    text = derive()
    if parser.parse_args().check:
        raise SystemExit(HEADER.read_text() != text)
    HEADER.write_text(text)


if __name__ == "__main__":
    main()
