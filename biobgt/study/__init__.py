"""A whole study: everybody of a cohort measured, the terms of its design tested at every level, in one folder."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
