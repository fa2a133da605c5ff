"""A program to be recorded: a small model on the device and with the seed that it is told; `stop` ends it by a signal in its second call."""

import os
import signal
import sys

import torch
from torch import nn

device, seed, *more = sys.argv[1:]
torch.manual_seed(int(seed))
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4)).eval().to(device)
if "broken" in more:
    linear = model[2]
    linear.forward = lambda x: nn.functional.linear(x, linear.weight, linear.bias) * 1.01
torch.manual_seed(99)
for number in range(3):
    if "stop" in more and number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    with torch.no_grad():
        print(tuple(model(torch.randn(2 + ("larger" in more), 8).to(device)).shape))
