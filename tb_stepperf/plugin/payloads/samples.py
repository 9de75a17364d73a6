"""`/samples`: raw rows for download, as CSV or JSON, streamed."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from tb_stepperf.blocks.schema import FLAGS, STEP_TIME_MS
from tb_stepperf.errors import RequestError
from tb_stepperf.plugin.csv_cells import text_cell
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.view import Source, View

MAX_SAMPLES = 1_000_000
"""Most rows of one download."""

_ROWS_PER_CHUNK = 8192


def samples_impl(source: Source, query: Query) -> tuple[Iterator[bytes], str]:
    """Returns the rows that `query` asks for as a stream of bytes, and a file name for them.

    Raises:
        NotFoundError: the run or the member is not there.
        RequestError: the range holds more than `MAX_SAMPLES` rows.
    """
    view = source.view(query, source.outline(query).columns)
    if view.num_rows > MAX_SAMPLES:
        raise RequestError(
            f"the range holds {view.num_rows} rows; at most {MAX_SAMPLES} are allowed: narrow it with start and end",
            "start",
        )
    columns = ordered_columns(view.table.columns)
    chunks = _csv_chunks(view, columns) if query.format == "csv" else _json_chunks(view, columns)
    return chunks, file_name(query.run, view.member.member, query.format)


def ordered_columns(columns: Collection[str]) -> list[str]:
    """Returns the columns with the step time first and the flags last, the others by name."""
    rest = sorted(set(columns) - {STEP_TIME_MS, FLAGS})
    return [name for name in (STEP_TIME_MS, *rest, FLAGS) if name in columns]


def file_name(run: str, member: str, extension: str) -> str:
    """Returns a file name of ASCII letters, digits and `._-` that says which run and member this is."""
    words = [re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:60] for text in (run, member)]
    return "-".join(["stepperf", *filter(None, words)]) + f".{extension}"


def _csv_chunks(view: View, columns: Sequence[str]) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([text_cell(name) for name in ("step", "wall_time_s", *columns)])
    for rows in _chunk_slices(view.num_rows):
        writer.writerows(zip(*_text_columns(view, columns, rows, missing="")))
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode()


def _json_chunks(view: View, columns: Sequence[str]) -> Iterator[bytes]:
    head = {"run": view.query.run, "member": view.member.member, "columns": ["step", "wall_time_s", *columns]}
    yield json.dumps(head, separators=(",", ":"))[:-1].encode() + b',"rows":['
    separator = ""
    for rows in _chunk_slices(view.num_rows):
        steps, *rest = _text_columns(view, columns, rows, missing="null")
        quoted = [f'"{step}"' for step in steps]
        yield (separator + ",".join([f"[{','.join(row)}]" for row in zip(quoted, *rest)])).encode()
        separator = ","
    yield b"]}"


def _chunk_slices(num_rows: int) -> Iterator[slice]:
    for start in range(0, num_rows, _ROWS_PER_CHUNK):
        yield slice(start, start + _ROWS_PER_CHUNK)


def _text_columns(view: View, columns: Sequence[str], rows: slice, missing: str) -> list[list[str]]:
    table = view.table
    texts = [list(map(str, table.steps[rows].tolist())), _texts(table.wall_time_s[rows], missing)]
    return texts + [_texts(table.columns[name][rows], missing) for name in columns]


def _texts(values: np.ndarray, missing: str) -> list[str]:
    """Returns numbers as the shortest text that reads back to the same value of their type."""
    known = np.isfinite(values)
    filled = np.where(known, values, 0)
    if (filled == np.rint(filled)).all() and (np.abs(filled) < 2**53).all():
        texts = list(map(str, filled.astype(np.int64).tolist()))
    elif filled.dtype == np.float64:
        texts = list(map(repr, filled.tolist()))
    else:
        texts = filled.astype("U32").tolist()
    if known.all():
        return texts
    return [text if there else missing for text, there in zip(texts, known.tolist())]
