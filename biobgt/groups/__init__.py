"""Group attention, module tables, and statistics between groups.

Arrays in, tables out: what the model's attention (or connectivity, or any measure a subject) is in each group, by
functional module; whether two groups differ once motion, age, sex and site are accounted for; and any term of a design
tested in features or in the edges of networks.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
