"""A whole organisation assessed: many repositories, images and namespaces, and an order in which to move them that says why."""
