from . import atlas, cohort, connectivity, edits, graph, nulls, quality, simulate

__all__ = ["atlas", "cohort", "connectivity", "edits", "graph", "nulls", "quality", "simulate"]
