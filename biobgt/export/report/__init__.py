"""The report of a study: one HTML file that opens offline, with every figure and the numbers behind it."""

from biobgt.export.report.page import write_report

__all__ = ["write_report"]
