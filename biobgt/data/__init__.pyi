from . import atlas, cohort, connectivity, edits, graph, quality, simulate

__all__ = ["atlas", "cohort", "connectivity", "edits", "graph", "quality", "simulate"]
