"""Judging a bundle: what is legal OKF, what is well kept."""
