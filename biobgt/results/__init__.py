"""What was measured of a cohort, each result once; where results are kept, and tables of them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
