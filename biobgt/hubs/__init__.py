"""Hubs: which regions matter most, by node entanglement and by the classical measures, and whether they agree."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
