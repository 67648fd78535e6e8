"""Subjects that were never scanned: the demo cohorts, and the simulated Alzheimer's progression.

Every subject made here has ``simulated`` set, and whatever shows it must say so. How they are made and how
far they can be trusted is written in ``docs/simulation.md``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
