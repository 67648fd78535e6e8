"""Every figure there is: importing this module fills the register."""

import biobgt.figures.attention
import biobgt.figures.attention_groups
import biobgt.figures.connectivity
import biobgt.figures.groups
import biobgt.figures.hubs
import biobgt.figures.models
import biobgt.figures.module_brains
import biobgt.figures.modules
import biobgt.figures.why_region  # noqa: F401  # each registers its figures
from biobgt.figures.register import FIGURES

__all__ = ["FIGURES"]
