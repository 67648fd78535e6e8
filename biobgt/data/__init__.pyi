from . import atlas, cohort, connectivity, cortex, edits, graph, quality, simulate

__all__ = ["atlas", "cohort", "connectivity", "cortex", "edits", "graph", "quality", "simulate"]
