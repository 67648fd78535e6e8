from . import atlas, cohort, connectivity, corruptions, cortex, edits, graph, quality, simulate

__all__ = ["atlas", "cohort", "connectivity", "corruptions", "cortex", "edits", "graph", "quality", "simulate"]
