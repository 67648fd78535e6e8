"""The ground-truth bench: a known lesion is planted in one's own controls, and every measure is asked to find it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
