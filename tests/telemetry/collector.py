"""An OpenTelemetry collector for one test.

It decodes OTLP over HTTP with the protobuf classes of the OpenTelemetry project. The first line that it prints is its
port. Then each request is one line of JSON: its path, its headers, and what was in it. Whatever the decoder does not
know is listed as unknown.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status


def value(any_value):
    kind = any_value.WhichOneof("value")
    if kind == "array_value":
        return [value(item) for item in any_value.array_value.values]
    return getattr(any_value, kind) if kind else None


def attributes(pairs):
    names = [pair.key for pair in pairs]
    assert len(names) == len(set(names)), f"an attribute stands there twice: {names}"
    return {pair.key: value(pair.value) for pair in pairs}


def unknown(message, path=""):
    """Where a message has fields that its definition does not have."""
    found = [f"{path}/{field.field_number}" for field in UnknownFieldSet(message)]
    for field, content in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for item in content if field.is_repeated else [content]:
                found += unknown(item, f"{path}/{field.name}")
    return found


def span(it):
    return {
        "trace": it.trace_id.hex(),
        "id": it.span_id.hex(),
        "parent": it.parent_span_id.hex(),
        "name": it.name,
        "kind": Span.SpanKind.Name(it.kind),
        "start": it.start_time_unix_nano,
        "end": it.end_time_unix_nano,
        "attributes": attributes(it.attributes),
        "events": [
            {"at": event.time_unix_nano, "name": event.name, "attributes": attributes(event.attributes)}
            for event in it.events
        ],
        "status": {"code": Status.StatusCode.Name(it.status.code), "message": it.status.message},
    }


def metric(it):
    kind = it.WhichOneof("data")
    data = getattr(it, kind)
    points = []
    for point in data.data_points:
        told = {
            "since": point.start_time_unix_nano,
            "until": point.time_unix_nano,
            "attributes": attributes(point.attributes),
        }
        if kind == "histogram":
            told.update(
                count=point.count, sum=point.sum, buckets=list(point.bucket_counts), bounds=list(point.explicit_bounds)
            )
        else:
            told.update(sum=point.as_int, monotonic=data.is_monotonic)
        points.append(told)
    return {
        "name": it.name,
        "unit": it.unit,
        "kind": kind,
        "temporality": AggregationTemporality.Name(data.aggregation_temporality),
        "points": points,
    }


def traces(body):
    request = ExportTraceServiceRequest.FromString(body)
    (resource,) = request.resource_spans
    (scope,) = resource.scope_spans
    return {
        "resource": attributes(resource.resource.attributes),
        "scope": {"name": scope.scope.name, "version": scope.scope.version},
        "spans": [span(it) for it in scope.spans],
        "unknown": unknown(request),
    }


def metrics(body):
    request = ExportMetricsServiceRequest.FromString(body)
    (resource,) = request.resource_metrics
    (scope,) = resource.scope_metrics
    return {
        "resource": attributes(resource.resource.attributes),
        "metrics": [metric(it) for it in scope.metrics],
        "unknown": unknown(request),
    }


KNOWN = {
    "/v1/traces": (traces, ExportTraceServiceResponse),
    "/v1/metrics": (metrics, ExportMetricsServiceResponse),
}


class Collector(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        told = {"path": self.path, "headers": {name.lower(): text for name, text in self.headers.items()}}
        try:
            decode, response = KNOWN[self.path]
            told.update(decode(body))
        except Exception as error:
            told["error"] = repr(error)
            print(json.dumps(told), flush=True)
            self.send_error(400)
            return
        print(json.dumps(told), flush=True)
        answer = response().SerializeToString()
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Collector)
print(server.server_port, flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    sys.exit(0)
