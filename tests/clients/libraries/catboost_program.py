"""CatBoost on the GPU: regression, also with empty values, and two classes, against its own training on the host.

Settings that the two choose differently by themselves are given, so that both grow the same trees.
"""

import numpy as np
from catboost import CatBoostClassifier, CatBoostRegressor, Pool
from checked import check, end

SAME = {
    "iterations": 15, "depth": 4, "learning_rate": 0.3, "random_seed": 1, "boosting_type": "Plain", "bootstrap_type": "No", "random_strength": 0,
    "border_count": 64, "feature_border_type": "GreedyLogSum", "leaf_estimation_iterations": 1, "leaf_estimation_method": "Gradient",
    "score_function": "L2", "boost_from_average": False, "thread_count": 1, "verbose": False, "allow_writing_files": False,
}  # fmt: skip
rng = np.random.default_rng(0)
x = rng.standard_normal((3000, 10)).astype(np.float32)
y = (x[:, 0] * 2 + np.sin(x[:, 1] * 3) + (x[:, 2] > 0)).astype(np.float32)


def scores(kind, target, where, data=x, **more):
    model = kind(task_type=where, **SAME, **more)
    model.fit(Pool(data, target))
    raw = np.asarray(model.predict(data, prediction_type="RawFormulaVal"))
    return (
        raw if raw.ndim == 1 else raw - raw[:, -1:]
    )  # of several classes only differences count; on the GPU the last has 0


cases = {
    "regression": (CatBoostRegressor, y, {}),
    "regression with empty values": (CatBoostRegressor, y, {"data": np.where(rng.random(x.shape) < 0.1, np.nan, x)}),
    "two classes": (CatBoostClassifier, (y > 0.5).astype(int), {}),
}
for name, (kind, target, more) in cases.items():
    check(
        name,
        lambda kind=kind, target=target, more=more: scores(kind, target, "GPU", **more),
        scores(kind, target, "CPU", **more),
        1e-4,
    )
end()
