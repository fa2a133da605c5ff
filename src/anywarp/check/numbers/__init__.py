"""Whether two sets of numbers agree: derived tolerances, measured differences, their likely cause, a verdict.

from anywarp.check.numbers import as_json, page
from anywarp.check.numbers.comparing import compare
from anywarp.check.numbers.judging import judge
from anywarp.check.numbers.language import TopPosition, compare_logits, compare_top, mcnemar
from anywarp.check.numbers.results import Comparison, Layer, Report
from anywarp.check.numbers.statistics import Statistics, compare_statistics, measure
from anywarp.numerics.operation import Operation

as_json.report(report)  # a mapping for json.dumps
page.page(report)  # HTML
"""
