"""The plugin: routes in, answers out. `*_route` parses and responds; `payloads/` computes."""

from __future__ import annotations

import functools
from typing import Any

from tensorboard import plugin_util
from tensorboard.context import RequestContext
from tensorboard.plugins import base_plugin
from werkzeug.wrappers import Request, Response

from tb_stepperf.blocks import PLUGIN_NAME
from tb_stepperf.plugin import respond
from tb_stepperf.plugin.analyses import Analyses
from tb_stepperf.plugin.cache import RecentlyUsed
from tb_stepperf.plugin.loader import DEFAULT_CACHE_MB
from tb_stepperf.plugin.params import parse
from tb_stepperf.plugin.payloads.bands import bands_impl
from tb_stepperf.plugin.payloads.comparison import comparison_impl
from tb_stepperf.plugin.payloads.conditions import conditions_impl
from tb_stepperf.plugin.payloads.markers import markers_impl
from tb_stepperf.plugin.payloads.marks import marks_impl
from tb_stepperf.plugin.payloads.memory import memory_impl
from tb_stepperf.plugin.payloads.runs import runs_impl
from tb_stepperf.plugin.payloads.samples import samples_impl
from tb_stepperf.plugin.payloads.stages import stages_impl
from tb_stepperf.plugin.payloads.summary import summary_impl
from tb_stepperf.plugin.payloads.throughput import throughput_impl
from tb_stepperf.plugin.payloads.trace import trace_comparison_impl, trace_file_impl, trace_impl, trace_table_impl
from tb_stepperf.plugin.payloads.traces import traces_impl
from tb_stepperf.plugin.static import CONTENT_TYPES, static_response
from tb_stepperf.plugin.traces import Traces, traces_of
from tb_stepperf.plugin.view import Source
from tb_stepperf.store import Store

_IMPLS = {
    "/summary": summary_impl,
    "/bands": bands_impl,
    "/stages": stages_impl,
    "/memory": memory_impl,
    "/throughput": throughput_impl,
    "/marks": marks_impl,
    "/conditions": conditions_impl,
}
"""Routes that answer one JSON object about one member."""

_AXES_SHARE = 4
"""One part in so many of the cache is for positions on the relative and wall axes, the rest for samples."""

_COMPARISON_BYTES = 1 << 24


class StepPerfPlugin(base_plugin.TBPlugin):
    """TensorBoard's tab "Step Performance".

    Args:
        context: TensorBoard's magic container; its data provider must be there.
        store: for tests; made over the context's data provider otherwise.
        analyses: for tests; in the background otherwise.
        traces: for tests; those below the log directories otherwise.
    """

    plugin_name = PLUGIN_NAME

    def __init__(
        self,
        context: base_plugin.TBContext,
        store: Store | None = None,
        analyses: Analyses | None = None,
        traces: Traces | None = None,
    ) -> None:
        flags = context.flags
        cache_mb = getattr(flags, "stepperf_cache_mb", None) or DEFAULT_CACHE_MB
        self._logdir = context.logdir or getattr(flags, "logdir_spec", None) or ""
        max_bytes = cache_mb << 20
        axes_bytes = max_bytes // _AXES_SHARE
        self._store = Store(context.data_provider, max_bytes=max_bytes - axes_bytes) if store is None else store
        self._axes = RecentlyUsed(axes_bytes)
        self._comparisons = RecentlyUsed(_COMPARISON_BYTES)
        self._analyses = analyses or Analyses()
        self._traces = traces or traces_of(flags, context.logdir)

    def get_plugin_apps(self) -> dict[str, respond.WsgiApp]:
        """Returns route to WSGI application; `http_api.md` describes each."""
        handlers: dict[str, Any] = {"/runs": self._runs_route, "/samples": self._samples_route}
        handlers |= {"/markers": self._markers_route, "/comparison": self._comparison_route}
        handlers |= {"/traces": self._traces_route, "/trace": self._trace_route}
        handlers |= {"/trace_comparison": self._trace_comparison_route}
        handlers |= {"/trace_table": self._trace_table_route, "/trace_file": self._trace_file_route}
        handlers |= {route: functools.partial(self._member_route, route) for route in _IMPLS}
        handlers |= {route: functools.partial(self._static_route, route) for route in CONTENT_TYPES}
        return {route: respond.route(handler) for route, handler in handlers.items()}

    def is_active(self) -> bool:
        """Whether there is any step data, or a trace; TensorBoard asks only where its listing does not say so already.

        Traces are searched for in the background: at first there are none.
        """
        return self._store.is_active(RequestContext(), "") or bool(self._traces.finder.ask()[0].traces)

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """Returns the tab's name and its ES module."""
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="Step Performance")

    def data_plugin_names(self) -> tuple[str, ...]:
        """Returns the names under which our data stands in event files."""
        return (PLUGIN_NAME,)

    def _runs_route(self, request: Request) -> Response:
        parse("/runs", request.args)
        source = self._source(request)
        catalog = source.store.catalog(source.ctx, source.experiment_id)
        return respond.json_response(request, runs_impl(catalog, self._logdir))

    def _member_route(self, route: str, request: Request) -> Response:
        query = parse(route, request.args)
        return respond.json_response(request, _IMPLS[route](self._source(request), query))

    def _markers_route(self, request: Request) -> Response:
        query = parse("/markers", request.args)
        return respond.json_response(request, markers_impl(self._source(request), self._analyses, query))

    def _comparison_route(self, request: Request) -> Response:
        query = parse("/comparison", request.args)
        return respond.json_response(request, comparison_impl(self._source(request), self._comparisons, query))

    def _samples_route(self, request: Request) -> Response:
        query = parse("/samples", request.args)
        chunks, file_name = samples_impl(self._source(request), query)
        content_type = respond.CSV_TYPE if query.format == "csv" else respond.JSON_TYPE
        return respond.download_response(request, chunks, content_type, file_name)

    def _traces_route(self, request: Request) -> Response:
        parse("/traces", request.args)
        return respond.json_response(request, traces_impl(self._source(request), self._traces))

    def _trace_route(self, request: Request) -> Response:
        query = parse("/trace", request.args)
        return respond.json_response(request, trace_impl(self._source(request), self._traces, query))

    def _trace_comparison_route(self, request: Request) -> Response:
        query = parse("/trace_comparison", request.args)
        return respond.json_response(request, trace_comparison_impl(self._traces, query))

    def _trace_table_route(self, request: Request) -> Response:
        query = parse("/trace_table", request.args)
        chunks, file_name = trace_table_impl(self._source(request), self._traces, query)
        return respond.download_response(request, chunks, respond.CSV_TYPE, file_name)

    def _trace_file_route(self, request: Request) -> Response:
        chunks, file_name = trace_file_impl(self._traces, parse("/trace_file", request.args))
        return respond.packed_response(chunks, respond.GZIP_TYPE, file_name)

    def _static_route(self, path: str, request: Request) -> Response:
        return static_response(request, path)

    def _source(self, request: Request) -> Source:
        environ = request.environ
        return Source(self._store, plugin_util.context(environ), plugin_util.experiment_id(environ), self._axes)
