"""TensorFlow on the GPU: operators, and training steps of a convolutional and a recurrent Keras network, as its CPU device has them."""

import numpy as np
import tensorflow
from checked import check, end
from tensorflow import keras

assert len(tensorflow.config.list_physical_devices("GPU")) == 1, tensorflow.config.list_physical_devices()
tensorflow.config.experimental.enable_tensor_float_32_execution(False)
rng = np.random.default_rng(0)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def on(place, compute):
    with tensorflow.device(f"/{place}:0"):
        return compute()


def both(name, compute, bound):
    check(name, lambda: on("GPU", compute).numpy(), on("CPU", compute).numpy(), bound)


a, b = normal(48, 64), normal(64, 32)
check("product", lambda: on("GPU", lambda: tensorflow.matmul(a, b)).numpy(), a.astype(np.float64) @ b, 1e-6)
half = [each.astype(np.float16) for each in (a, b)]
check(
    "product of f16",
    lambda: on("GPU", lambda: tensorflow.matmul(*half)).numpy(),
    half[0].astype(np.float64) @ half[1].astype(np.float64),
    2e-3,
)
images, kernels = normal(2, 12, 12, 3), normal(3, 3, 3, 8)
both("convolution", lambda: tensorflow.nn.conv2d(images, kernels, 1, "SAME"), 1e-5)
both("pooling", lambda: tensorflow.nn.max_pool2d(images, 2, 2, "VALID"), 0)
both("softmax", lambda: tensorflow.nn.softmax(a), 1e-6)
both("sums", lambda: tensorflow.reduce_sum(a, 0), 1e-5)
both("Cholesky", lambda: tensorflow.linalg.cholesky(a @ a.T + 64 * np.eye(48, dtype=np.float32)), 1e-5)
check(
    "FFT",
    lambda: on("GPU", lambda: tensorflow.signal.fft(a.astype(np.complex64))).numpy(),
    np.fft.fft(a.astype(np.float64)),
    1e-6,
)
both("gather", lambda: tensorflow.gather(a, [5, 1, 1, 40]), 0)
both("sums by segment", lambda: tensorflow.math.unsorted_segment_sum(a, np.arange(48) % 5, 5), 1e-5)


def steps(make, x, y):
    """Return the losses of three steps and the weights after them, from the same first weights on either device."""

    def train():
        keras.utils.set_random_seed(0)
        net, chosen = make(), keras.optimizers.SGD(0.1, momentum=0.9)
        net.build(x.shape)
        weights = np.random.default_rng(1)
        net.set_weights([0.2 * weights.standard_normal(each.shape) for each in net.get_weights()])
        loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

        @tensorflow.function
        def step():
            with tensorflow.GradientTape() as tape:
                loss = loss_of(y, net(x, training=True))
            chosen.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
            return loss

        losses = [float(step()) for _ in range(3)]
        return np.concatenate([losses, *(each.ravel() for each in net.get_weights())])

    return train


def convolutional():
    layers = keras.layers
    return keras.Sequential(
        [
            layers.Conv2D(8, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(16, 3, strides=2, use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10),
        ]
    )


def recurrent():
    layers = keras.layers
    return keras.Sequential([layers.LSTM(24, return_sequences=True), layers.GRU(16), layers.Dense(10)])


labels = rng.integers(0, 10, 8)
for name, make, x in (
    ("convolutional", convolutional, normal(8, 16, 16, 3)),
    ("recurrent", recurrent, normal(8, 12, 6)),
):
    train = steps(make, x, labels)
    check(f"training, {name}", lambda train=train: on("GPU", train), on("CPU", train), 1e-4)
end()
