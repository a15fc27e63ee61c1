"""Numbers as a reader wants them."""

import math

MISSING = "–"


def level(alpha: float) -> str:
    """A false-positive rate as it is spoken of: 0.001 -> '0.1%'."""
    return f"{100 * alpha:g}%"


def decimals_at(alpha: float) -> int:
    """Decimals of the percentages in a table at level `alpha`: one at 10%, two at 1% and 0.1%."""
    return 1 if alpha >= 0.05 else max(2, 1 + math.ceil(-math.log10(100 * alpha) - 1e-9))


def percent(value: float, decimals: int | None = None) -> str:
    """A share as a percentage; two significant digits unless `decimals` is given; nan is '–'."""
    if not math.isfinite(value):
        return MISSING
    shown = places(value) if decimals is None else decimals
    return f"{100 * value:.{shown}f}%"


def percent_up(value: float, decimals: int) -> str:
    """A share as a percentage, rounded up: the least level that does something still does it when
    it is typed in again; a float's last digits do not count."""
    scale = 10.0**decimals
    return f"{math.ceil(100 * value * scale * (1 - 1e-13)) / scale:.{decimals}f}%"


def interval(lower: float, upper: float, decimals: int | None = None) -> str:
    """'[2.9, 3.5]' in percent, or '–' when either end is missing."""
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return MISSING
    shown = max(places(lower), places(upper)) if decimals is None else decimals
    return f"[{100 * lower:.{shown}f}, {100 * upper:.{shown}f}]"


def number(value: float, digits: int = 3) -> str:
    """A plain number with significant digits; nan is '–'."""
    return f"{value:.{digits}g}".replace("-", "−") if math.isfinite(value) else MISSING


def duration(seconds: float) -> str:
    """Seconds as '42 s', '3 min 20 s' or '2 h 5 min'."""
    if not math.isfinite(seconds):
        return MISSING
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def places(value: float) -> int:
    """Decimals that show two significant digits of `value` as a percentage, one from 10% on."""
    size = abs(100 * value)
    if size >= 9.95 or size == 0:
        return 1 if size else 0
    return min(6, 1 - math.floor(math.log10(size)))
