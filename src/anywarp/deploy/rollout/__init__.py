"""Moving traffic from one pool to another, stage by stage, with gates that may stop it."""
