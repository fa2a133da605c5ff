"""A local web page over what was kept: assessments, verifications, measurements, costs, and rollouts in progress."""
