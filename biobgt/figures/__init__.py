"""Figures: each is one object, made of what was measured and of options; it draws itself for the screen and paper."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
