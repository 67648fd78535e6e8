"""Would a finding survive? The same finding measured in all reasonable ways, and what the whole curve says."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
