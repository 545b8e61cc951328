"""The par sheet: what a pay table is worth, in a form to file."""

from taisai.study.par.sheet import Family, ParSheet, Signature, par_sheet

__all__ = ["Family", "ParSheet", "Signature", "par_sheet"]
