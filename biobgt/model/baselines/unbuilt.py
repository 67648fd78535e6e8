"""Systems of the paper's tables that could not be built from what is published about them here."""

from biobgt.model.baselines.rows import ROWS
from biobgt.model.baselines.system import UnbuiltSystem

UNBUILT = tuple(UnbuiltSystem(row) for row in ROWS.values() if row.why)
