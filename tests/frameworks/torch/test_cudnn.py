"""cuDNN: what programs ask of it has true answers, and nothing warns."""

import warnings

import pytest
import torch

pytestmark = pytest.mark.torch


def test_recurrent_layers_do_not_warn_of_a_missing_cudnn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layer = torch.nn.LSTM(3, 4, num_layers=2).cuda()
        layer(torch.ones(2, 1, 3, device="cuda"))


def test_cudnn_is_absent_and_says_so() -> None:
    assert not torch.backends.cudnn.is_available()
    assert torch.backends.cudnn.version() is None
    assert not torch.backends.cudnn.is_acceptable(torch.ones(1, device="cuda"))
