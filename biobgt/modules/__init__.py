"""Functional modules: found (Louvain, consensus), matched, compared with an atlas, and tested against chance.

Every function takes a symmetric (n, n) array with a zero diagonal or a :class:`biobgt.data.connectivity.BrainGraph`.
A region in no module carries the label 0; see :mod:`biobgt.modules.partition`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
