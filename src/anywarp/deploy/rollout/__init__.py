"""A staged move of traffic from one pool of servers to another: plan, durable state, gates with error control, drivers, report."""
