from . import autosave, measured, store, studies, tables

__all__ = ["autosave", "measured", "store", "studies", "tables"]
