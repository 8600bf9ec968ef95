"""An OpenTelemetry collector for tests: decodes requests with the messages of OpenTelemetry's own package."""

import base64
import gzip
import json

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from receiver import Receiver

_IDS = ("traceId", "spanId", "parentSpanId")


def decoded(request):
    """The message of one request. OTLP's JSON has ids in hexadecimal, where protobuf's has base64."""
    assert request.headers["content-type"] == "application/json"
    assert request.headers["content-encoding"] == "gzip"
    document = json.loads(gzip.decompress(request.body))
    for span in (s for r in document["resourceSpans"] for c in r["scopeSpans"] for s in c["spans"]):
        for part in [span, *span.get("links", [])]:
            part.update({name: base64.b64encode(bytes.fromhex(part[name])).decode() for name in _IDS if name in part})
    return ParseDict(document, ExportTraceServiceRequest())


def attributes(owner):
    """The attributes of a span, event or resource by name."""
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in owner.attributes}


class Collector(Receiver):
    """Records spans; `answer(request)` is that of a receiver."""

    @property
    def endpoint(self):
        return self.url.replace("/hooks", "/v1/traces")

    @property
    def messages(self):
        return [decoded(request) for request in self.accepted]

    @property
    def spans(self):
        return [span for m in self.messages for r in m.resource_spans for s in r.scope_spans for span in s.spans]

    def trace(self, trace_id):
        """The spans of a trace by name; several of one name are a list in the order of their start."""
        spans = sorted((s for s in self.spans if s.trace_id.hex() == trace_id), key=lambda s: s.start_time_unix_nano)
        found = {}
        for span in spans:
            found.setdefault(span.name, []).append(span)
        return found

    def wait_for(self, trace_id, *names):
        """Waits for spans of a trace; returns all of it by name."""
        self.wait(lambda c: set(names) <= set(c.trace(trace_id)))
        return self.trace(trace_id)
