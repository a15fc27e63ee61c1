"""A block's log-likelihood ratios and standardised scores in few passes over memory."""

from dataclasses import dataclass

import numpy as np

from mia_audit.stats.blocks import VARIANCE_FLOOR, Block, ClassSums, rows


def is_regular(block: Block) -> bool:
    """Whether both classes of every record vary, and leave two shadows to whoever is left out."""
    return all(class_is_regular(sums) for sums in (block.sums_in, block.sums_out))


def class_is_regular(sums: ClassSums) -> bool:
    """The same of one class."""
    return bool(sums.count.min() >= 3 and sums.variance().min() > VARIANCE_FLOOR)


def write_log_likelihood_ratio(block: Block, out: np.ndarray) -> None:
    """log N(φ; in) − log N(φ; out) of a block that `is_regular`, into `out` [M, w].

    ½·(log(var_out/var_in) + z_out² − z_in²), leave-one-out, with one logarithm an entry. The
    variances come divided by f² for the class an entry is of, which the last terms make good.
    """
    classes = [_Rows.of(sums) for sums in (block.sums_in, block.sums_out)]
    stretch_in, stretch_out = (2 * np.log(rows_of.stretch) for rows_of in classes)
    stretch_both = stretch_in + stretch_out
    memory = None
    for part in rows(*block.centred.shape):
        scores = block.centred[part]
        if memory is None or memory.shape[1] != len(scores):
            memory = np.empty((5, *scores.shape))  # reused: new arrays cost as much as the sums
        own, ratio, var_out, z_in, var_in = memory
        np.copyto(own, block.members[part])
        _left_out(scores, own, classes[0], z_in, var_in)
        np.subtract(1.0, own, out=own)
        _left_out(scores, own, classes[1], ratio, var_out)
        ratio -= z_in
        var_out /= var_in
        ratio += np.log(var_out, out=var_out)
        own *= stretch_both
        own -= stretch_in
        ratio += own
        np.multiply(ratio, 0.5, out=ratio)
        out[part] = ratio


def standardised_out(block: Block) -> np.ndarray:
    """z = (φ − μ_out)/σ_out of a block with a regular out class, float64 [M, w]."""
    of = _Rows.of(block.sums_out)
    z = np.empty_like(block.centred)
    memory = np.empty((2, 1, z.shape[1]))
    for part in rows(*z.shape):
        if memory.shape[1] != part.stop - part.start:
            memory = np.empty((2, part.stop - part.start, z.shape[1]))
        own, variance = memory
        np.logical_not(block.members[part], out=own)
        np.subtract(block.centred[part], of.mean, out=z[part])
        np.square(z[part], out=variance)
        _left_out_variance(variance, own, of)
        z[part] /= np.sqrt(variance, out=variance)
    return z


@dataclass(frozen=True, eq=False)
class _Rows:
    """Of one class, what an entry's z² and variance are made of, [w] each.

    With q the squared deviation from the full mean an own entry has the variance (SS − q·f)/(n−2)
    and z² = q·f²/variance, the others SS/(n−1) and q/variance; f = n/(n−1) is by how much an entry
    is further from its class's mean once it is left out. The variance of own entries is taken over
    f², so that z² is q over it in both cases: plain + own·(shift + slope·q).
    """

    mean: np.ndarray
    stretch: np.ndarray
    plain: np.ndarray
    shift: np.ndarray
    slope: np.ndarray
    floor: np.ndarray

    @classmethod
    def of(cls, sums: ClassSums) -> "_Rows":
        stretch, freedom, plain = sums.count / (sums.count - 1), sums.count - 2, sums.variance()
        return cls(
            mean=sums.mean,
            stretch=stretch,
            plain=plain,
            shift=sums.squares / (freedom * stretch**2) - plain,
            slope=-1 / (freedom * stretch),
            floor=VARIANCE_FLOOR / stretch**2,
        )


def _left_out(
    scores: np.ndarray, own: np.ndarray, of: _Rows, square: np.ndarray, variance: np.ndarray
) -> None:
    """z² into `square`, variance into `variance`, of entries under one class; `own` is 1.0 for
    those that leave themselves out. (A choice an entry would be slow.)
    """
    np.subtract(scores, of.mean, out=square)
    np.square(square, out=square)
    np.copyto(variance, square)
    _left_out_variance(variance, own, of)
    square /= variance


def _left_out_variance(square: np.ndarray, own: np.ndarray, of: _Rows) -> None:
    """Squared deviations from the full mean → variances over f², in place."""
    square *= of.slope
    square += of.shift
    square *= own
    square += of.plain
    if square.min() < VARIANCE_FLOOR:
        np.maximum(square, of.floor, out=square)
