from . import atlas, cohort, connectivity, edits, graph, nulls, quality, result_keys, simulate

__all__ = ["atlas", "cohort", "connectivity", "edits", "graph", "nulls", "quality", "result_keys", "simulate"]
