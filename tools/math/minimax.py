"""Minimax polynomials with float32 coefficients, for src/math.

In:  the table of functions below (interval, weight, degree, fixed coefficients).
Out: one block of coefficients per function, lowest power first, as C hexadecimal floats, with the
     weighted worst error (as a power of two) before and after rounding the coefficients.

Method: minimax on a Chebyshev grid, the function in mpmath; then the coefficients are rounded to
float32 one after the other, lowest power first, and the remaining ones are fitted again each time
(the later ones repair most of what the rounding of the earlier ones broke).

Run: python3 tools/math/minimax.py [name ...]     (needs mpmath and numpy)
"""

import struct
import sys

import mpmath as mp
import numpy as np

mp.mp.dps = 40
GRID = 1200


def f32(x):
    """x rounded to the nearest float32 (through float64: good to 2^-29 of a half ulp)."""
    return mp.mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def hexf(x):
    """C literal of a float32."""
    mant, exp = mp.frexp(x)
    if mant == 0:
        return "0.0f"
    sign = "-" if mant < 0 else ""
    units = int(abs(mant) * 2**24)  # 24 bits, top one set
    frac = (units - 2**23) * 2
    return f"{sign}0x1.{frac:06x}p{int(exp) - 1:+d}f"


def fit(xs, target, weight, powers):
    """Minimax of |weight * (target - sum c x^p)| over the grid; returns coefficients and error.

    Lawson's iteration: weighted least squares, each point's weight multiplied by its error. Unlike
    the Remez exchange it needs no Haar system, which a polynomial with its constant term already
    fixed is not on an interval that holds 0.
    """
    x = np.array([float(v) for v in xs])
    t = np.array([float(v) for v in target])
    w = np.array([float(v) for v in weight])
    rows = np.stack([x**p for p in powers], axis=1)
    lawson = np.ones_like(x)
    best = None
    for _ in range(400):
        scale = np.sqrt(lawson) * w
        c = np.linalg.lstsq(rows * scale[:, None], t * scale, rcond=None)[0]
        err = np.abs(w * (t - rows @ c))
        worst = err.max()
        if best is None or worst < best[1]:
            best = (c, worst)
        lawson = lawson * (err / worst)
        lawson = np.maximum(lawson / lawson.max(), 1e-12)
    return [mp.mpf(float(v)) for v in best[0]], mp.mpf(float(best[1]))


def solve(name, lo, hi, func, weight, powers, fixed=(), rounded=True, split=False):
    """func(x) ~ sum c_p x^p on [lo, hi]; `fixed` holds (power, value) pairs given in advance."""
    lo, hi = mp.mpf(lo), mp.mpf(hi)
    xs = [lo + (hi - lo) * (1 - mp.cos(mp.pi * (k + mp.mpf(1) / 2) / GRID)) / 2 for k in range(GRID)]
    target = [func(x) for x in xs]
    wts = [abs(weight(x)) for x in xs]
    coef = dict(fixed)
    for p, v in fixed:
        target = [t - v * x**p for t, x in zip(target, xs)]
    free = [p for p in powers if p not in coef]
    c, worst = fit(xs, target, wts, free)
    ideal = worst
    if rounded:
        if split:  # the constant as a sum of two floats
            coef[0], low = hilo(c[0])
            print(f"  x^0 low {hexf(low)}")
            target = [t - coef[0] - low for t in target]
            free.pop(0)
        while free:
            c, worst = fit(xs, target, wts, free)
            p, v = free.pop(0), f32(c[0])
            coef[p] = v
            target = [t - v * x**p for t, x in zip(target, xs)]
        worst = max(w * abs(t) for w, t in zip(wts, target))
    print(f"{name}: on [{mp.nstr(lo, 8)}, {mp.nstr(hi, 8)}] error 2^{mp.nstr(mp.log(ideal, 2), 5)}, "
          f"rounded 2^{mp.nstr(mp.log(worst, 2), 5)}")
    for p in powers:
        print(f"  x^{p:<2d} {hexf(coef[p]):>18s}  {mp.nstr(coef[p], 10)}")
    sys.stdout.flush()


def near0(g, series, eps="1e-9"):
    """g away from zero, a short series near it (differences cancel there)."""
    return lambda x: series(x) if abs(x) < mp.mpf(eps) else g(x)


LN2 = mp.log(2)
CHOICES = [(2, 12)]


def hilo(x):
    hi = f32(x)
    return hi, f32(x - hi)


def erfcx(x):
    with mp.workdps(60):
        return mp.exp(x * x) * mp.erfc(x)


def functions():
    half = LN2 / 2 * mp.mpf("1.0005")
    yield "exp", lambda n: solve(
        n, -half, half, near0(lambda r: (mp.exp(r) - 1 - r) / r**2, lambda r: mp.mpf(1) / 2 + r / 6),
        lambda r: r * r / (mp.exp(r)), range(5))
    yield "expm1", lambda n: solve(
        n, -half, half, near0(lambda r: (mp.exp(r) - 1 - r) / r**2, lambda r: mp.mpf(1) / 2 + r / 6),
        lambda r: r, range(5), fixed=[(0, mp.mpf(1) / 2)])
    yield "exp2", lambda n: solve(
        n, "-0.5005", "0.5005", near0(lambda r: (2**r - 1 - r * LN2) / r**2, lambda r: LN2**2 / 2),
        lambda r: r * r, range(6))
    lo, hi = mp.sqrt(0.5) - 1, mp.sqrt(2) - 1
    yield "log", lambda n: solve(
        n, lo, hi, near0(lambda f: (mp.log1p(f) - f) / f**2, lambda f: -mp.mpf(1) / 2 + f / 3),
        lambda f: f * f / mp.log1p(f), range(9), fixed=[(0, -mp.mpf(1) / 2)])
    yield "log2", lambda n: solve(
        n, lo, hi, near0(lambda f: (mp.log1p(f) - f) / f**2 / LN2,
                         lambda f: (-mp.mpf(1) / 2 + f / 3) / LN2),
        lambda f: f * f / mp.log1p(f) * LN2, range(9))
    yield "atanh", lambda n: solve(
        n, 0, mp.mpf("0.0296"),
        near0(lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2 - 2 * z / 3) / z**2 / LN2,
              lambda z: (mp.mpf(2) / 5 + 2 * z / 7) / LN2, "1e-7"),
        lambda z: z * z, range(3))
    yield "tanh", lambda n: solve(
        n, 0, "0.4", near0(lambda z: (mp.tanh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
                            lambda z: -mp.mpf(1) / 3 + 2 * z / 15), lambda z: z, range(5))
    quarter = (mp.pi / 4 * mp.mpf("1.0005")) ** 2
    yield "sin", lambda n: solve(
        n, 0, quarter, near0(lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
                             lambda z: -mp.mpf(1) / 6 + z / 120), lambda z: z, range(4))
    yield "cos", lambda n: solve(
        n, 0, quarter, near0(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
                             lambda z: mp.mpf(1) / 24 - z / 720, "1e-6"),
        lambda z: z * z / mp.cos(mp.sqrt(z)), range(4))
    twosp = 2 / mp.sqrt(mp.pi)
    # erf(x) = x + x * E(x^2) below 0.92
    yield "erf_small", lambda n: solve(
        n, 0, "0.86", near0(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1,
                            lambda z: twosp * (1 - z / 3) - 1),
        lambda z: 1 / twosp, range(7))
    # erfc(x) = exp(-x - x G(x)) above
    yield "erf_large", lambda n: solve(
        n, "0.9", "3.95", lambda x: -mp.log(mp.erfc(x)) / x - 1,
        lambda x: x * mp.erfc(x) / mp.erf(x), range(8))
    # erfcx(x) (x + c) as a polynomial in q = (x - c) / (x + c)
    # erfcx(x) (x + c) as a polynomial in q = (x - c) / (x + c). A small c keeps the polynomial's values, and so its
    # rounding errors, small where q = -1; a large one needs fewer terms.
    def in_q(n, c, top, deg, func):
        back = lambda q: c * (1 + q) / (1 - q)
        product = lambda q: func(back(q)) * (back(q) + c)
        return solve(n, -1, (top - c) / (top + c), product, lambda q: 1 / product(q), range(deg), split=True)

    for c, deg in CHOICES:
        yield f"erfcx_{c}_{deg}", lambda n, c=c, deg=deg: in_q(n, mp.mpf(c), mp.mpf("10.2"), deg, erfcx)
        # the factor of the Gaussian tail: erfcx(a / sqrt 2) / 2
        yield f"gelu_{c}_{deg}", lambda n, c=c, deg=deg: in_q(
            n, mp.mpf(c), mp.mpf("14.7"), deg, lambda a: erfcx(a / mp.sqrt(2)) / 2)


if __name__ == "__main__":
    names = sys.argv[1:]
    for key, run in functions():
        if not names or key in names:
            run(key)
