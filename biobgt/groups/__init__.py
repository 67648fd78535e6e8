"""Groups of a measured cohort: how two of them differ, and where each person stands.

What is compared is a measure of every subject, such as the model's attention, connectivity, hubs or modules; the tests
are those of :mod:`biobgt.inference`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
