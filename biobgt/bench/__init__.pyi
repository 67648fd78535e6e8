from .folder import run_bench
from .measures import BENCH_MEASURES
from .options import BenchOptions
from .power import power_table

__all__ = ["BENCH_MEASURES", "BenchOptions", "power_table", "run_bench"]
