"""Apex's fused optimizers (its documentation, `apex.optimizers`), by torch's operators over lists of tensors."""

# pyright: basic
from __future__ import annotations

import torch
from torch.optim import SGD, Optimizer

__all__ = ["FusedAdam", "FusedSGD"]


class FusedAdam(Optimizer):
    """Adam, with decoupled decay (`adam_w_mode`) or decay as a part of the gradient; moments are float32, or float64 for such parameters."""

    def __init__(
        self, params, lr=1e-3, bias_correction=True, betas=(0.9, 0.999), eps=1e-8, adam_w_mode=True, weight_decay=0.0, amsgrad=False,
        set_grad_none=True, capturable=False, master_weights=False,
    ):  # fmt: skip
        if amsgrad:
            raise RuntimeError("FusedAdam does not support the AMSGrad variant.")
        if capturable or master_weights:
            raise NotImplementedError(
                f"FusedAdam: {'capturable' if capturable else 'master_weights'}=True is not served by anywarp"
            )
        super().__init__(
            params,
            {"lr": lr, "bias_correction": bias_correction, "betas": betas, "eps": eps, "weight_decay": weight_decay},
        )
        self.adam_w_mode, self.set_grad_none = adam_w_mode, set_grad_none

    def zero_grad(self, set_to_none: bool | None = None) -> None:
        """Drop the gradients, or set them to zero where the optimizer was made so."""
        super().zero_grad(self.set_grad_none if set_to_none is None else set_to_none)

    @torch.no_grad()
    def step(self, closure=None, grads=None, output_params=None, scale=None, grad_norms=None, grad_scaler=None):
        """Take a step and return the closure's loss; what older versions took besides is refused as there."""
        if any(each is not None for each in (grads, output_params, scale, grad_norms)):
            raise RuntimeError("FusedAdam has been updated; please use other arguments of step than closure no more")
        if grad_scaler is not None:
            raise NotImplementedError("FusedAdam.step: grad_scaler is not served by anywarp")
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            group["step"] = group.get("step", 0) + 1
            for number in group["params"]:
                if number.grad is not None:
                    self._move(number, number.grad, group)
        return loss

    def _move(self, number: torch.Tensor, grad: torch.Tensor, group: dict) -> None:
        if grad.is_sparse:
            raise RuntimeError("FusedAdam does not support sparse gradients, please consider SparseAdam instead")
        state, exact = self.state[number], torch.promote_types(number.dtype, torch.float32)
        if not state:
            state["exp_avg"], state["exp_avg_sq"] = (torch.zeros_like(number, dtype=exact) for _ in range(2))
        mean, square, slope, value = state["exp_avg"], state["exp_avg_sq"], grad.to(exact), number.to(exact)
        (first, second), decay = group["betas"], group["weight_decay"]
        if not self.adam_w_mode:
            slope = slope + decay * value
        mean.mul_(first).add_(slope, alpha=1 - first)
        square.mul_(second).addcmul_(slope, slope, value=1 - second)
        biases = [1 - beta ** group["step"] if group["bias_correction"] else 1.0 for beta in (first, second)]
        change = (mean / biases[0]) / ((square / biases[1]).sqrt() + group["eps"])
        if self.adam_w_mode:
            change = change + decay * value
        number.copy_(value - group["lr"] * change)


class FusedSGD(SGD):
    """Gradient descent with momentum."""

    def __init__(
        self, params, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, wd_after_momentum=False,
        materialize_master_grads=True, set_grad_none=False,
    ):  # fmt: skip
        if wd_after_momentum:
            raise NotImplementedError("FusedSGD: wd_after_momentum=True is not served by anywarp")
        super().__init__(params, lr, momentum, dampening, weight_decay, nesterov)
        self.set_grad_none = set_grad_none

    def zero_grad(self, set_to_none: bool | None = None) -> None:
        """Set the gradients to zero, or drop them where the optimizer was made so."""
        super().zero_grad(self.set_grad_none if set_to_none is None else set_to_none)
