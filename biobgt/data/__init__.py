"""What was measured, on whom, and as which graph: atlases, cohorts, connectivity, quality; and simulated subjects."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
