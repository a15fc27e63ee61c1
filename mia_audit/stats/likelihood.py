"""The kernel of online LiRA: a block's log-likelihood ratios in few passes over memory."""

import numpy as np

from mia_audit.stats.blocks import VARIANCE_FLOOR, Block, ClassSums, rows


def is_regular(block: Block) -> bool:
    """Whether both classes of every record vary, and leave two shadows to whoever is left out."""
    return all(
        sums.count.min() >= 3 and sums.variance().min() > VARIANCE_FLOOR
        for sums in (block.sums_in, block.sums_out)
    )


def write_log_likelihood_ratio(block: Block, out: np.ndarray) -> None:
    """log N(φ; in) − log N(φ; out) of a block that `is_regular`, into `out` [M, w].

    ½·(log(var_out/var_in) + z_out² − z_in²), leave-one-out, with one logarithm an entry. The
    variances come divided by f² for the class an entry is of, which the last terms make good.
    """
    stretch_in, stretch_out = (2 * np.log(_stretch(s)) for s in (block.sums_in, block.sums_out))
    for part in rows(*block.centred.shape):
        scores = block.centred[part]
        own = block.members[part].astype(np.float64)
        z_in, var_in = _left_out(scores, own, block.sums_in)
        np.subtract(1.0, own, out=own)
        ratio, var_out = _left_out(scores, own, block.sums_out)
        ratio -= z_in
        var_out /= var_in
        ratio += np.log(var_out, out=var_out)
        own *= stretch_out + stretch_in
        own -= stretch_in
        ratio += own
        ratio *= 0.5
        out[part] = ratio


def _stretch(sums: ClassSums) -> np.ndarray:
    """f = n/(n−1): how much further an entry is from its class's mean once it is left out."""
    return sums.count / (sums.count - 1)


def _left_out(
    scores: np.ndarray, own: np.ndarray, sums: ClassSums
) -> tuple[np.ndarray, np.ndarray]:
    """z² and variance of entries under one class, `own` 1.0 for those that leave themselves out.

    With q the squared deviation from the full mean an own entry has the variance (SS − q·f)/(n−2)
    and z² = q·f²/variance, the others SS/(n−1) and q/variance. The variance of own entries is
    returned over f², so that z² is q over it in both cases, and built as that of the others plus
    own times the difference: a choice an entry would be slow.
    """
    freedom, stretch, plain = sums.count - 2, _stretch(sums), sums.variance()
    square = scores - sums.mean
    np.square(square, out=square)
    variance = square * (-1 / (freedom * stretch))
    variance += sums.squares / (freedom * stretch**2) - plain
    variance *= own
    variance += plain
    np.maximum(variance, VARIANCE_FLOOR / stretch**2, out=variance)
    square /= variance
    return square, variance
