import torch
import pynvml
x = torch.cuda.get_device_capability()
