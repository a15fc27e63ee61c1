"""K multilayer perceptrons as one tensor program: batched products, hand-written backward.

All parameters lie in one flat buffer, layer after layer, so that an optimiser is one fused
kernel; each layer's weights are a contiguous view of it, which the batched product needs.
The last layer is stored and computed transposed: a softmax over few classes is fast only when
the rows of a batch are the innermost axis.

Letters: K models, B rows of a batch, N records, F features, C classes.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import torch


class StackedMLP:
    """K perceptrons of the same shape with ReLU between layers.

    sizes: (F, hidden …, C).
    parameters, gradient: flat buffers; `weights[l]`, `biases[l]` and `weight_gradients[l]`,
    `bias_gradients[l]` are views: hidden layers [K, in, out] and [K, 1, out], the last layer
    [K, C, in] and [K, C, 1].
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        num_models: int,
        batch_rows: int,
        *,
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.sizes, self.num_models = sizes, num_models
        shapes = layer_shapes(sizes, num_models)
        count = sum(math.prod(weight) + math.prod(bias) for weight, bias in shapes)
        self.parameters = torch.zeros(count, device=device, dtype=dtype)
        self.gradient = torch.zeros_like(self.parameters)
        self.weights, self.biases = _views(self.parameters, shapes)
        self.weight_gradients, self.bias_gradients = _views(self.gradient, shapes)
        self._allocate(batch_rows)

    def _allocate(self, rows: int) -> None:
        """Buffers of one step: inputs, then each layer's output and signal."""

        device, dtype = self.parameters.device, self.parameters.dtype

        def empty(*shape: int) -> torch.Tensor:
            return torch.empty((self.num_models, *shape), device=device, dtype=dtype)

        hidden, classes = self.sizes[1:-1], self.sizes[-1]
        self.inputs = [empty(rows, width) for width in self.sizes[:-1]]
        self.signals = [empty(rows, width) for width in hidden] + [empty(classes, rows)]
        self.logits = empty(classes, rows)
        # Views made once: making them anew costs as much as a small product.
        self.gathered = self.inputs[0].view(-1, self.sizes[0])
        self.inputs_t = [value.mT for value in self.inputs]
        self.last_signal_t = self.signals[-1].mT
        self.weights_t = [weight.mT for weight in self.weights]
        self.minus_one = empty(1, rows).fill_(-1)

    def initialise(self, generators: list[torch.Generator], slots: np.ndarray) -> None:
        """Draw the parameters of the models in `slots` as torch.nn.Linear does, layer after layer,
        weights [out, in] before biases, each from its slot's generator; the others stay zero."""
        for slot in slots:
            self._initialise_one(int(slot), generators[slot])

    def _initialise_one(self, model: int, generator: torch.Generator) -> None:
        for layer, (width, out) in enumerate(itertools.pairwise(self.sizes)):
            bound = 1 / math.sqrt(width)
            weight = torch.empty(out, width).uniform_(-bound, bound, generator=generator)
            bias = torch.empty(out).uniform_(-bound, bound, generator=generator)
            self.linear_weight(layer, model).copy_(weight)
            self.biases[layer][model].view(-1).copy_(bias)

    def linear_weight(self, layer: int, model: int) -> torch.Tensor:
        """One model's weights of one layer as torch.nn.Linear has them, a view [out, in]."""
        weight = self.weights[layer][model]
        return weight if layer == len(self.weights) - 1 else weight.T

    def forward(self, records: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        """Logits [K, C, B] of rows `index` (int64 [K·B]) of `records` [N, F]."""
        self.gather(records, index)
        return self.forward_inputs()

    def gather(self, records: torch.Tensor, index: torch.Tensor) -> None:
        """Put rows `index` (int64 [K·B]) of `records` [N, F] into `inputs[0]`."""
        torch.index_select(records, 0, index, out=self.gathered)

    def forward_inputs(self, factors: Sequence[torch.Tensor] = ()) -> torch.Tensor:
        """Logits [K, C, B] of what `inputs[0]` [K, B, F] holds.

        factors: for each hidden layer what its outputs are multiplied by, [K, B, width].
        """
        inputs, last = self.inputs, len(self.weights) - 1
        for layer in range(last):
            output = inputs[layer + 1]
            torch.baddbmm(self.biases[layer], inputs[layer], self.weights[layer], out=output)
            output.relu_()
            if factors:
                output.mul_(factors[layer])
        return torch.baddbmm(
            self.biases[last], self.weights[last], self.inputs_t[last], out=self.logits
        )

    def set_loss_signal(self, targets: torch.Tensor, weights: torch.Tensor | None) -> None:
        """Derivative of Σ weight · cross-entropy by the logits: weight · (softmax − one-hot).

        targets: int64 [K, 1, B]; weights: [K, 1, B], None for 1.
        """
        signal = self.signals[-1]
        torch.softmax(self.logits, 1, out=signal)
        signal.scatter_add_(1, targets, self.minus_one)
        if weights is not None:
            signal.mul_(weights)

    def propagate_signals(self) -> None:
        """Signals of every hidden layer from the last layer's."""
        last = len(self.weights) - 1
        for layer in range(last - 1, -1, -1):
            signal = self.signals[layer]
            if layer == last - 1:
                torch.bmm(self.last_signal_t, self.weights[last], out=signal)
            else:
                torch.bmm(self.signals[layer + 1], self.weights_t[layer + 1], out=signal)
            torch.ops.aten.threshold_backward.grad_input(
                signal, self.inputs[layer + 1], 0, grad_input=signal
            )

    def collect_gradient(self) -> None:
        """The gradient of every layer from its inputs and signals."""
        last = len(self.weights) - 1
        for layer in range(last):
            signal = self.signals[layer]
            torch.bmm(self.inputs_t[layer], signal, out=self.weight_gradients[layer])
            torch.sum(signal, 1, keepdim=True, out=self.bias_gradients[layer])
        torch.bmm(self.signals[last], self.inputs[last], out=self.weight_gradients[last])
        torch.sum(self.signals[last], 2, keepdim=True, out=self.bias_gradients[last])

    def predict(self, records: torch.Tensor, *, chunk: int = 512) -> np.ndarray:
        """Logits of every model on every record, [K, N, C]."""
        num_records, num_models = len(records), self.num_models
        logits = torch.empty(
            num_models, num_records, self.sizes[-1], dtype=records.dtype, device=records.device
        )
        for start in range(0, num_records, chunk):
            part = records[start : start + chunk]
            value = part.expand(num_models, *part.shape)
            for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
                value = torch.baddbmm(bias, value, weight).relu_()
            head = torch.baddbmm(self.biases[-1], self.weights[-1], value.mT)
            logits[:, start : start + chunk] = head.mT
        return logits.cpu().numpy()


def layer_shapes(
    sizes: tuple[int, ...], num_models: int
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Shapes of (weights, biases) of every layer; the last one is transposed."""
    pairs = list(itertools.pairwise(sizes))
    hidden = [((num_models, a, b), (num_models, 1, b)) for a, b in pairs[:-1]]
    width, classes = pairs[-1]
    return [*hidden, ((num_models, classes, width), (num_models, classes, 1))]


def _views(
    flat: torch.Tensor, shapes: list[tuple[tuple[int, ...], tuple[int, ...]]]
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    sizes = [math.prod(shape) for pair in shapes for shape in pair]
    parts = flat.split(sizes)
    weights = [parts[2 * i].view(pair[0]) for i, pair in enumerate(shapes)]
    biases = [parts[2 * i + 1].view(pair[1]) for i, pair in enumerate(shapes)]
    return weights, biases
