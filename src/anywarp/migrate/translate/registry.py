"""The rules and rewriters of the translator, in the order in which they are asked: the one list to add a line to.

The first rule to claim a piece of text has it, so what is special comes before what is general; names are last.
"""

from __future__ import annotations

from functools import cache

from anywarp.migrate.translate import (
    rules_arch,
    rules_calls,
    rules_cases,
    rules_cub,
    rules_device,
    rules_foreign,
    rules_hazards,
    rules_headers,
    rules_launches,
    rules_names,
    rules_pasting,
    rules_pointers,
    rules_ptx,
    rules_rtc,
    rules_unknown,
    rules_versions,
    rules_warps,
)
from anywarp.migrate.translate.build_cmake import CMakeRewriter
from anywarp.migrate.translate.build_make import MakeRewriter
from anywarp.migrate.translate.build_other import BazelReporter, MesonReporter
from anywarp.migrate.translate.build_setup import SetupRewriter
from anywarp.migrate.translate.rules import Rewriter, Rule


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules for sources; those of one subject in one module, which lists them as `RULES`."""
    return (
        *rules_launches.RULES,
        *rules_ptx.RULES,
        *rules_arch.RULES,
        *rules_warps.RULES,
        *rules_hazards.RULES,
        *rules_cub.RULES,
        *rules_device.RULES,
        *rules_foreign.RULES,
        *rules_versions.RULES,
        *rules_pasting.RULES,
        *rules_rtc.RULES,
        *rules_cases.RULES,
        *rules_calls.RULES,
        *rules_pointers.RULES,
        *rules_headers.RULES,
        *rules_names.RULES,
        *rules_unknown.RULES,
    )


@cache
def rewriters() -> tuple[Rewriter, ...]:
    """Return the rewriters for files that are no sources, such as build files."""
    return (CMakeRewriter(), MakeRewriter(), SetupRewriter(), BazelReporter(), MesonReporter())
