"""L-BFGS on many small smooth convex problems at once, each deciding for itself.

Column j of every array is problem j. A problem that has converged is frozen, and no number of
one column enters another, so that a solution does not depend on what is solved beside it.

Letters: P parameters, m problems, h pairs remembered.
"""

from collections import deque
from collections.abc import Callable

import torch

Gradient = Callable[[torch.Tensor], torch.Tensor]


def minimise(
    gradient_at: Gradient,
    start: torch.Tensor,
    *,
    tolerance: float = 1e-6,
    iterations: int = 500,
    memory: int = 10,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Minimise m strictly convex functions of P parameters (Nocedal & Wright 2006, alg. 7.4).

    gradient_at: [P, m] → [P, m], the gradients; a Hessian near the identity lets the first step
        be a whole one, so callers scale their problem.
    start: [P, m]. tolerance: on the Euclidean norm of a problem's gradient.
    Returns the minimisers [P, m] and which problems converged, bool [m].
    """
    point = start.clone()
    gradient = gradient_at(point)
    steps: deque[torch.Tensor] = deque(maxlen=memory)
    changes: deque[torch.Tensor] = deque(maxlen=memory)
    for _ in range(iterations):
        active = gradient.norm(dim=0) > tolerance
        if not active.any():
            break
        direction = _direction(gradient, steps, changes) * active
        moved, new_gradient = _line_search(gradient_at, point, gradient, direction)
        steps.append(moved - point)
        changes.append(new_gradient - gradient)
        point, gradient = moved, new_gradient
    return point, gradient.norm(dim=0) <= tolerance


def _direction(
    gradient: torch.Tensor, steps: deque[torch.Tensor], changes: deque[torch.Tensor]
) -> torch.Tensor:
    """Two-loop recursion from an identity: −(inverse Hessian) · gradient, [P, m]."""
    direction = -gradient
    pairs: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]] = []
    for step, change in zip(reversed(steps), reversed(changes), strict=True):
        curvature = (step * change).sum(0)
        # A frozen problem did not move and remembers nothing of this pair.
        inverse = torch.where(curvature > 0, 1 / curvature, torch.zeros_like(curvature))
        share = inverse * (step * direction).sum(0)
        direction = direction - share * change
        pairs.append((step, change, inverse, share))
    for step, change, inverse, share in reversed(pairs):
        direction = direction + (share - inverse * (change * direction).sum(0)) * step
    return direction


def _line_search(
    gradient_at: Gradient, point: torch.Tensor, gradient: torch.Tensor, direction: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Halve each problem's step until it does not overshoot: the slope there at most half as
    steep upwards as it was downwards. On a convex function slopes say all that values would,
    and stay exact near the minimum, where differences of values are rounding."""
    slope = (gradient * direction).sum(0)
    size = torch.ones_like(slope)
    for _ in range(60):
        moved = point + size * direction
        new_gradient = gradient_at(moved)
        overshoots = (new_gradient * direction).sum(0) > -0.5 * slope
        if not overshoots.any():
            break
        size = torch.where(overshoots, size / 2, size)
    return moved, new_gradient
