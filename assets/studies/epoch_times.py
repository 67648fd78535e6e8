"""Processor seconds of an epoch of every network of the benchmark, for the paper's table of costs.

    python assets/studies/epoch_times.py

Times training steps on one thread, as ``python -m benchmarks model`` does, and writes ``epoch_times.csv`` beside this
script. Seconds are of the machine that it runs on.
"""

from pathlib import Path

import pandas as pd
import torch
from threadpoolctl import threadpool_limits

from benchmarks.model import epoch_costs


def main() -> None:
    """Measure every network."""
    torch.set_num_threads(1)
    with threadpool_limits(1):
        rows = [(system.key, seconds) for system, _, seconds in epoch_costs()]
    table = pd.DataFrame(rows, columns=["model", "seconds"])
    file = Path(__file__).with_suffix(".csv")
    table.to_csv(file, index=False, float_format="%.2f", lineterminator="\n")


if __name__ == "__main__":
    main()
