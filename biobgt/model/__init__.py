"""BioBGT, the biologically plausible brain graph transformer (ICLR 2025), and the simple models beside it.

Cards and group results are read without torch, which takes seconds to import; what needs it is imported when asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
