"""The tables of cuDNN and MIOpen agree with themselves, with the sources and with the pages."""

from pathlib import Path

import pytest

from anywarp.catalogue import cudnn_coverage
from anywarp.catalogue.derive_cudnn import choices, served
from anywarp.catalogue.rocm import CONSTANT_COLUMNS, DATA, TYPE_COLUMNS, load, read

DOCS = Path(__file__).resolve().parents[2] / "docs" / "coverage"


def rows(name, *columns):
    return [row for row, _ in read(DATA / name, columns)]


def test_a_function_is_served_where_the_sources_define_it():
    table = {row["name"]: row["route"] for row in cudnn_coverage.cudnn_rows()}
    assert {name for name, route in table.items() if route == "custom"} == served()


def test_every_function_that_clients_import_is_served_or_absent_with_a_reason():
    wanted = [row for row in cudnn_coverage.cudnn_rows() if int(row["clients"])]
    assert len(wanted) == 115
    assert all(row["reason"] for row in wanted if row["route"] == "absent")
    assert sum(row["route"] == "custom" for row in wanted) >= 102


def test_every_counterpart_is_a_name_of_miopen_with_its_value():
    functions = {
        row["name"]: (row["result"], row["parameters"])
        for row in rows("miopen.tsv", "name", "result", "parameters", "since")
    }
    values = {row["name"]: row["value"] for row in rows("miopen_constants.tsv", "type", "name", "value", "since")}
    for row in cudnn_coverage.cudnn_rows():
        assert not row["target"] or functions[row["target"]] == (row["target_result"], row["target_parameters"])
    for row in rows("cudnn_constants.tsv", *CONSTANT_COLUMNS):
        assert row["target_value"] == (values[row["target"]] if row["target"] else "")


def test_a_constant_of_an_enum_with_a_counterpart_has_its_own_or_a_reason_or_is_a_count():
    paired = {row["name"] for row in rows("cudnn_types.tsv", *TYPE_COLUMNS) if row["conversion"] == "enum"}
    for row in rows("cudnn_constants.tsv", *CONSTANT_COLUMNS):
        assert row["type"] not in paired or row["target"] or row["reason"] or row["name"].endswith("_COUNT"), row[
            "name"
        ]


def test_what_was_chosen_by_hand_is_there():
    names = {row["name"] for row in rows("cudnn_constants.tsv", *CONSTANT_COLUMNS)} | {
        row["name"] for row in cudnn_coverage.cudnn_rows()
    }
    names |= {row["name"] for row in rows("cudnn_types.tsv", *TYPE_COLUMNS)}
    assert not [name for kind, name in choices(DATA / "cudnn_choices.tsv") if kind != "functions" and name not in names]


def test_the_loader_of_all_libraries_reads_these_tables_too():
    assert len(load("cudnn").functions) == 298


@pytest.mark.parametrize(
    ("name", "lines"), [("cudnn.md", cudnn_coverage.cudnn_page), ("nvml_amd.md", cudnn_coverage.nvml_page)]
)
def test_the_pages_are_current(name, lines):
    assert (DOCS / name).read_text(encoding="utf-8") == "\n".join(lines()) + "\n", "run scripts/docs"
