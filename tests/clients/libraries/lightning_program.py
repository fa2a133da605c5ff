"""Lightning: Trainer(accelerator="gpu") over a module with accumulated gradients, a schedule, a checkpoint and Fabric, against double precision on the host."""

import copy
import tempfile
import warnings

import lightning
import torch
from checked import check, end
from lightning.pytorch.callbacks import ModelCheckpoint

warnings.filterwarnings("ignore", category=UserWarning)
torch.manual_seed(0)
RATE, DECAY = 0.2, 0.5
base = torch.nn.Sequential(torch.nn.Linear(10, 20), torch.nn.Tanh(), torch.nn.Linear(20, 3))
given, target = torch.randn(32, 10), torch.randn(32, 3)


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net, self.devices = copy.deepcopy(base), set()

    def training_step(self, batch, _):
        self.devices.add(batch[0].device.type)
        loss = torch.nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log("loss", loss, on_epoch=True, on_step=False)
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.net.parameters(), lr=RATE)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, DECAY)]


def flat(net):
    return torch.cat([each.detach().cpu().double().flatten() for each in net.parameters()])


def by_hand(epochs):
    """Plain gradient descent over pairs of batches of four, the rate halved after each epoch; also the mean loss of the last."""
    net = copy.deepcopy(base).double()
    for epoch in range(epochs):
        losses = []
        for pair in range(4):
            batches = [slice(8 * pair + 4 * at, 8 * pair + 4 * at + 4) for at in (0, 1)]
            parts = [torch.nn.functional.mse_loss(net(given[rows].double()), target[rows].double()) for rows in batches]
            slopes = torch.autograd.grad(sum(parts) / 2, list(net.parameters()))
            losses += [float(each) for each in parts]
            with torch.no_grad():
                for number, slope in zip(net.parameters(), slopes):
                    number -= RATE * DECAY**epoch * slope
    return flat(net), sum(losses) / len(losses)


def trainer(folder, epochs, **more):
    quiet = {"enable_progress_bar": False, "enable_model_summary": False, "logger": False}
    return lightning.Trainer(
        accelerator="gpu",
        devices=1,
        max_epochs=epochs,
        accumulate_grad_batches=2,
        default_root_dir=folder,
        **quiet,
        **more,
    )


loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(given, target), batch_size=4)
with tempfile.TemporaryDirectory() as folder:
    module = Module()
    keeper = ModelCheckpoint(dirpath=folder, filename="after", save_last=False)
    first = trainer(folder, 2, callbacks=[keeper])
    first.fit(module, loader)
    wanted, loss = by_hand(2)
    check("two epochs", lambda: flat(module.net), wanted, 1e-5)
    check("the mean loss", lambda: float(first.callback_metrics["loss"]), loss, 1e-5)
    check("where batches were", lambda: float(module.devices == {"cuda"}), 1.0, 0)
    again = Module()
    trainer(folder, 3, enable_checkpointing=False).fit(again, loader, ckpt_path=keeper.best_model_path)
    check("a third epoch from the checkpoint", lambda: flat(again.net), by_hand(3)[0], 1e-5)
    half = Module()
    trainer(folder, 2, precision="bf16-mixed", enable_checkpointing=False).fit(half, loader)
    check("two epochs in mixed precision", lambda: flat(half.net), wanted, 2e-2)

fabric = lightning.Fabric(accelerator="gpu", devices=1)
net = copy.deepcopy(base)
net, optimizer = fabric.setup(net, torch.optim.SGD(net.parameters(), lr=RATE))
loss = torch.nn.functional.mse_loss(net(fabric.to_device(given)), fabric.to_device(target))
fabric.backward(loss)
exact = copy.deepcopy(base).double()
torch.nn.functional.mse_loss(exact(given.double()), target.double()).backward()
slopes = torch.cat([each.grad.flatten() for each in exact.parameters()])
check(
    "gradients by Fabric",
    lambda: torch.cat([each.grad.cpu().double().flatten() for each in net.parameters()]),
    slopes,
    1e-5,
)
end()
