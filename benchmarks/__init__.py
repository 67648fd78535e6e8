"""Timings, as ratios; run with ``python -m benchmarks``."""
