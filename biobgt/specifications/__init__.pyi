from .curve import SpecificationCurve
from .run import specification_curve

__all__ = ["SpecificationCurve", "specification_curve"]
