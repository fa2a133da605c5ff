"""The report of a rollout: `facts.py` gathers, `page.py` draws."""
