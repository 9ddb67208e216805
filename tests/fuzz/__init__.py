"""Fuzzing by coverage: `checks.py` says what must hold, `fuzz.py` looks for inputs that break it, `found/` keeps them."""
