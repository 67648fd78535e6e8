"""What everything stands on: errors, options, references, files, limits, and work on many cores."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
