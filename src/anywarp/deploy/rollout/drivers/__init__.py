"""What moves the traffic: one file per way, behind one protocol (`driver.py`)."""
