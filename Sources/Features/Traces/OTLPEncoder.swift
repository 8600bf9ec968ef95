internal import JSON
package import Telemetry
internal import Tracing

/// Encodes spans as `ExportTraceServiceRequest` in OTLP's JSON encoding (OTLP 1.5, "JSON Protobuf Encoding"): ids in
/// hexadecimal, 64-bit integers as texts, enumerations as numbers.
package struct OTLPEncoder: Sendable {
  /// Of a span, an event or a link; the others are dropped and counted.
  private static let maxAttributes = 64
  /// In characters.
  private static let maxTextLength = 512
  /// SpanFlags: the parent's remoteness is known, and whether it is remote.
  private static let knowsRemote = 0x100
  private static let isRemote = 0x200

  private let resource: TraceResource

  /// Encodes spans of the service that `resource` names.
  package init(_ resource: TraceResource) { self.resource = resource }

  /// The body of one request, uncompressed. The caller bounds the number of spans.
  package func encode(_ spans: [SpanRecord]) -> [UInt8] {
    let request: JSONObject = [
      "resourceSpans": [
        [
          "resource": ["attributes": .array(resource.attributes)],
          "scopeSpans": [
            [
              "scope": ["name": "entitled", "version": .string(resource.version)],
              "spans": .array(spans.map { .object(Self.span($0)) }),
            ]
          ],
        ]
      ]
    ]
    return request.serialized()
  }

  private static func span(_ span: SpanRecord) -> JSONObject {
    let flags = 1 | knowsRemote | (span.hasRemoteParent ? isRemote : 0)
    var object: JSONObject = [
      "traceId": .string(span.trace.traceID), "spanId": .string(span.trace.spanID),
      "flags": .number(JSONNumber(Int64(flags))), "name": .string(text(span.name)),
      "kind": .number(JSONNumber(kind(span.kind))), "startTimeUnixNano": .string(String(span.start)),
      "endTimeUnixNano": .string(String(span.end)),
    ]
    object["parentSpanId"] = span.parentID.map(JSONValue.string)
    add(span.attributes, to: &object)
    if !span.events.isEmpty { object["events"] = .array(span.events.map { .object(event($0)) }) }
    if span.droppedEvents > 0 { object["droppedEventsCount"] = count(span.droppedEvents) }
    let links = span.links.compactMap(link)
    if !links.isEmpty { object["links"] = .array(links.map(JSONValue.object)) }
    if span.droppedLinks > 0 { object["droppedLinksCount"] = count(span.droppedLinks) }
    if let status = span.status { object["status"] = .object(self.status(status)) }
    return object
  }

  private static func count(_ number: Int) -> JSONValue { .number(JSONNumber(Int64(number))) }

  /// `SpanKind` of OTLP.
  private static func kind(_ kind: SpanKind) -> Int64 {
    switch kind {
    case .internal: 1
    case .server: 2
    case .client: 3
    case .producer: 4
    case .consumer: 5
    }
  }

  private static func status(_ status: SpanStatus) -> JSONObject {
    var object: JSONObject = ["code": .number(JSONNumber(Int64(status.code == .ok ? 1 : 2)))]
    object["message"] = status.message.map { .string(text($0)) }
    return object
  }

  private static func event(_ event: SpanEvent) -> JSONObject {
    var object: JSONObject = [
      "timeUnixNano": .string(String(event.nanosecondsSinceEpoch)), "name": .string(text(event.name)),
    ]
    add(event.attributes, to: &object)
    return object
  }

  /// `nil` for a link to a context without a trace.
  private static func link(_ link: SpanLink) -> JSONObject? {
    guard let trace = link.context.trace else { return nil }
    var object: JSONObject = ["traceId": .string(trace.traceID), "spanId": .string(trace.spanID)]
    add(link.attributes, to: &object)
    return object
  }

  /// Adds the attributes by name, so that the same span has the same bytes.
  private static func add(_ attributes: SpanAttributes, to object: inout JSONObject) {
    guard !attributes.isEmpty else { return }
    var values: [(name: String, value: JSONValue)] = []
    attributes.forEach { name, attribute in values.append((name, value(attribute))) }
    values.sort { $0.name < $1.name }
    object["attributes"] = .array(
      values.prefix(maxAttributes).map { ["key": .string(text($0.name)), "value": $0.value] })
    if values.count > maxAttributes { object["droppedAttributesCount"] = count(values.count - maxAttributes) }
  }

  /// `AnyValue` of OTLP.
  private static func value(_ attribute: SpanAttribute) -> JSONValue {
    func array(_ values: [SpanAttribute]) -> JSONValue {
      ["arrayValue": ["values": .array(values.map(value))]]
    }
    return switch attribute {
    case .int32(let number): ["intValue": .string(String(number))]
    case .int64(let number): ["intValue": .string(String(number))]
    case .double(let number):
      number.isFinite
        ? ["doubleValue": JSONValue(floatLiteral: number)] : ["stringValue": .string("\(number)")]
    case .bool(let flag): ["boolValue": .bool(flag)]
    case .string(let string): ["stringValue": .string(text(string))]
    case .int32Array(let numbers): array(numbers.map(SpanAttribute.int32))
    case .int64Array(let numbers): array(numbers.map(SpanAttribute.int64))
    case .doubleArray(let numbers): array(numbers.map(SpanAttribute.double))
    case .boolArray(let flags): array(flags.map(SpanAttribute.bool))
    case .stringArray(let strings): array(strings.map(SpanAttribute.string))
    case .stringConvertible(let value): ["stringValue": .string(text("\(value)"))]
    case .stringConvertibleArray(let values): array(values.map { .string("\($0)") })
    default: ["stringValue": ""]
    }
  }

  /// Long texts are cut, and words that look like a secret are replaced, as in the log.
  private static func text(_ text: String) -> String { Redaction.cleaned(String(text.prefix(maxTextLength))) }
}

/// The service as traces name it (OpenTelemetry semantic conventions, "Service").
package struct TraceResource: Hashable, Sendable {
  /// The attribute `service.name`.
  package let service: String
  /// The attribute `service.version`, also that of the instrumentation scope.
  package let version: String
  /// The attribute `service.instance.id`, which differs between the processes of one service.
  package let instance: String

  /// Names a process of the service.
  package init(service: String, version: String, instance: String) {
    self.service = service
    self.version = version
    self.instance = instance
  }

  /// The attributes in OTLP's form.
  var attributes: [JSONValue] {
    [("service.name", service), ("service.version", version), ("service.instance.id", instance)].map {
      ["key": .string($0.0), "value": ["stringValue": .string($0.1)]]
    }
  }
}
