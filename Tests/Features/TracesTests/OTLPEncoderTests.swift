import JSON
import Telemetry
import Testing
import Tracing

@testable import Traces

@Suite struct OTLPEncoderTests {
  private let encoder = OTLPEncoder(TraceResource(service: "shop", version: "1.2", instance: "a"))

  private func encoded(_ spans: [SpanRecord]) throws -> JSONObject {
    try #require(try JSONValue(parsing: encoder.encode(spans)).objectValue)
  }

  private func first(_ spans: [SpanRecord]) throws -> JSONObject {
    let resource = try #require(try encoded(spans)["resourceSpans"]?.arrayValue?.first?.objectValue)
    let scope = try #require(resource["scopeSpans"]?.arrayValue?.first?.objectValue)
    return try #require(scope["spans"]?.arrayValue?.first?.objectValue)
  }

  @Test("A request names the service, its version and the process")
  func resource() throws {
    let resource = try #require(
      try encoded(Recorder().spans())["resourceSpans"]?.arrayValue?.first?.objectValue)
    #expect(
      resource["resource"] == [
        "attributes": [
          ["key": "service.name", "value": ["stringValue": "shop"]],
          ["key": "service.version", "value": ["stringValue": "1.2"]],
          ["key": "service.instance.id", "value": ["stringValue": "a"]],
        ]
      ])
  }

  @Test("A span has ids in hexadecimal, times as texts and numbers for enumerations")
  func span() throws {
    let records = Recorder().spans { span in
      span.attributes = ["b": 7, "a": "text", "c": true]
      span.addEvent("event")
      span.setStatus(SpanStatus(code: .error, message: "why"))
    }
    let span = try first(records)
    #expect(span["traceId"]?.stringValue == records[0].trace.traceID)
    #expect(span["spanId"]?.stringValue == records[0].trace.spanID)
    #expect(span["parentSpanId"] == nil && span["kind"] == 2)
    #expect(span["startTimeUnixNano"]?.stringValue == String(records[0].start))
    #expect(
      span["attributes"] == [
        ["key": "a", "value": ["stringValue": "text"]], ["key": "b", "value": ["intValue": "7"]],
        ["key": "c", "value": ["boolValue": true]],
      ])
    #expect(span["events"]?.arrayValue?.first?.objectValue?["name"] == "event")
    #expect(span["status"] == ["code": 2, "message": "why"])
  }

  @Test("Long texts are cut, secrets replaced, and attributes over the limit counted")
  func limits() throws {
    let token = "eyJhbGciOiJFUzI1NiIsIng1YyI6WyJNSUl"
    let span = try first(
      Recorder().spans { span in
        span.set("a1", .string(String(repeating: "x", count: 2_000)))
        span.set("a2", .string(token))
        for number in 0..<70 { span.set("b\(number)", .int(Int64(number))) }
      })
    let values = try #require(span["attributes"]?.arrayValue)
    let attributes = values.compactMap(\.objectValue)
    #expect(attributes.count == 64 && span["droppedAttributesCount"] == 8)
    #expect(attributes[0]["value"]?.objectValue?["stringValue"]?.stringValue?.count == 512)
    #expect(attributes[1]["value"]?.objectValue?["stringValue"] == "[withheld]")
  }
}
