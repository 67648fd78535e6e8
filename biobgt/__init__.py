"""BioBGT Explorer: hubs, functional modules and transformer attention in brain networks.

``import biobgt`` takes milliseconds: what it offers is listed in ``__init__.pyi`` and loaded when first used. So are
its packages, and ``biobgt.hubs.hub_table`` needs no further import.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.1.0"
