"""Statistics over people: designs and their formulas, permutation tests, effects in features and in edges.

Arrays and tables of phenotypes in, tables out; nothing here knows of brains beyond their edges.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
