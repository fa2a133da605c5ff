"""segment-anything: a small random model behind its predictor and its automatic mask generator.

The predictor moves pictures to the model's device by itself; the generator adds sorting, run-length coding and nms.
"""

# pyright: basic
from __future__ import annotations

import sys

from driver import Place, digest, run


def body(place: Place) -> dict[str, object]:
    """Compare embeddings, mask scores, and the number of masks found."""
    sys.path.insert(0, str(place.copy("segment-anything")))
    import numpy
    import torch
    from segment_anything import SamAutomaticMaskGenerator, SamPredictor
    from segment_anything.build_sam import _build_sam

    torch.manual_seed(1)
    model = _build_sam(encoder_embed_dim=32, encoder_depth=2, encoder_num_heads=2, encoder_global_attn_indexes=[1])
    model.to(device=place.device)
    picture = numpy.random.default_rng(5).integers(0, 256, (96, 128, 3), dtype=numpy.uint8)
    predictor = SamPredictor(model)
    predictor.set_image(picture)
    points = {"point_coords": numpy.array([[40, 30], [90, 70]]), "point_labels": numpy.array([1, 0])}
    _, scores, low = predictor.predict(**points, multimask_output=True)
    boxed, _, _ = predictor.predict(box=numpy.array([10, 10, 80, 60]), multimask_output=False)
    generator = SamAutomaticMaskGenerator(model, points_per_side=3, pred_iou_thresh=-9.0, stability_score_thresh=-1.0)
    masks = generator.generate(picture)
    return {
        "embedding": digest(predictor.get_image_embedding()),
        "scores": scores.tolist(),
        "low": digest(torch.as_tensor(low)),
        "box area ~": float(boxed.mean()),
        "masks": len(masks),
    }


if __name__ == "__main__":
    run(body)
