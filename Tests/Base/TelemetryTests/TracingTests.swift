import Synchronization
import Telemetry
import Testing
import Tracing

@Suite struct TracingTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let sampled = "00-\(trace)-00f067aa0ba902b7-01"
  private static let unsampled = "00-\(trace)-00f067aa0ba902b7-00"

  private final class Spans: Sendable {
    let records = Mutex<[SpanRecord]>([])
    var all: [SpanRecord] { records.withLock { $0 } }
  }

  private func tracer(_ spans: Spans, ratio: Double = 1, followsParent: Bool = true) -> RecordingTracer {
    RecordingTracer(sampler: TraceSampler(ratio: ratio, followsParent: followsParent)) { record in
      spans.records.withLock { $0.append(record) }
    }
  }

  private enum TestError: Error { case failed(String) }

  @Test("A ratio samples its share of the traces, by trace id and by time", arguments: [0, 0.01, 0.25, 1])
  func ratio(_ ratio: Double) {
    let sampler = TraceSampler(ratio: ratio, followsParent: true)
    let (count, start) = (40_000, 1_764_000_000_000_000_000)
    let byID = (0..<count).count { _ in sampler.samples(nil, number: .random(in: .min ... .max)) }
    // Times of calls that follow each other at once.
    let byTime = (0..<count).count { sampler.samples(nil, ticks: Int64(start + $0 * 100)) }
    let tolerance = 6 * (ratio * (1 - ratio) * Double(count)).squareRoot()
    #expect(abs(Double(byID) - ratio * Double(count)) <= tolerance)
    #expect(abs(Double(byTime) - ratio * Double(count)) <= tolerance)
  }

  @Test("Each byte at each place of a traceparent is read as a digit of it, or refuses it")
  func eachByte() throws {
    let valid = Array(Self.sampled.utf8)
    for place in valid.indices where valid[place] != UInt8(ascii: "-") {
      for byte in UInt8.min...UInt8.max {
        var text = valid
        text[place] = byte
        let isDigit = "0123456789abcdef".utf8.contains(byte)
        let parent = text.withUnsafeBytes { TraceParent($0) }
        // A later version may have more members, and so is read as this one (W3C Trace Context, "Versioning").
        #expect((parent != nil) == isDigit, "\(place): \(byte)")
        guard let parent else { continue }
        let fields = String(decoding: text, as: UTF8.self).split(separator: "-")
        #expect(parent.high == UInt64(fields[1].prefix(16), radix: 16))
        #expect(parent.low == UInt64(fields[1].suffix(16), radix: 16))
        #expect(parent.span == UInt64(fields[2], radix: 16))
        #expect(UInt64(fields[3], radix: 16).map { $0 & 1 == 1 } == parent.isSampled)
      }
    }
  }

  @Test("The flag of the caller decides before the ratio, unless the configuration ignores it")
  func parentFlag() throws {
    let (yes, no) = (try #require(TraceParent(Self.sampled)), try #require(TraceParent(Self.unsampled)))
    #expect(TraceSampler(ratio: 0, followsParent: true).samples(yes, number: 0))
    #expect(!TraceSampler(ratio: 1, followsParent: true).samples(no, ticks: 7))
    #expect(!TraceSampler(ratio: 0, followsParent: false).samples(yes, ticks: 7))
    #expect(TraceSampler(ratio: 1, followsParent: false).samples(no, number: .max))
  }

  @Test("Of a stranger's calls the ratio decides alone, whatever flag and trace id the stranger chooses")
  func strangers() throws {
    // The id that each ratio above zero samples.
    let chosen = try #require(TraceParent("00-00000000000000010000000000000000-00f067aa0ba902b7-01"))
    let spans = Spans()
    let never = tracer(spans, ratio: 0).startUnauthenticatedCall("call", continuing: chosen)
    #expect(!never.isRecording && never.trace.traceID == "00000000000000010000000000000000")
    let unsampled = TraceParent(Self.unsampled)
    let always = tracer(spans, ratio: 1).startUnauthenticatedCall("call", continuing: unsampled)
    #expect(always.isRecording && always.trace.traceID == Self.trace)
    let half = tracer(spans, ratio: 0.5)
    let count = (0..<1_000).count { _ in half.startUnauthenticatedCall("call", continuing: chosen).isRecording
    }
    #expect((300...700).contains(count))
  }

  @Test("A call continues the caller's trace, and its operations are its children")
  func children() async throws {
    let spans = Spans()
    let call = tracer(spans).startCall("call", continuing: TraceParent(Self.sampled))
    let outgoing = await call.run { _ in
      await traced("outer", .client) { _ in
        await traced("inner") { _ in TraceContext.current?.traceparent }
      }
    }
    let all = spans.all
    #expect(all.map(\.name) == ["inner", "outer", "call"])
    #expect(Set(all.map(\.trace.traceID)) == [Self.trace])
    #expect(Set(all.map(\.trace.requestID)) == [call.trace.requestID])
    #expect(all[0].parentID == all[1].trace.spanID && all[1].parentID == all[2].trace.spanID)
    #expect(all[2].parentID == "00f067aa0ba902b7" && all[2].hasRemoteParent && !all[1].hasRemoteParent)
    #expect(outgoing == "00-\(Self.trace)-\(all[0].trace.spanID)-01")
    #expect(all.allSatisfy { $0.end >= $0.start })
  }

  @Test("A call that is not sampled records nothing, and its outgoing calls say so")
  func unsampledCall() async {
    let spans = Spans()
    let call = tracer(spans, ratio: 0).startCall("call", continuing: nil)
    let outgoing = await call.run { span in
      #expect(span == nil)
      return await traced("inner") { span in
        #expect(span == nil)
        return TraceContext.current?.traceparent
      }
    }
    #expect(spans.all.isEmpty)
    #expect(outgoing?.hasSuffix("-00") == true)
  }

  @Test("Outside of a call, a root operation starts a new trace, and another operation none")
  func roots() async {
    let spans = Spans()
    await withTracer(tracer(spans)) {
      await traced("alone") { span in #expect(span == nil) }
      await tracedAsRoot("root", .client) { _ in await tracedAsRoot("child") { _ in } }
    }
    #expect(spans.all.map(\.name) == ["child", "root"])
    #expect(spans.all[1].parentID == nil && spans.all[0].parentID == spans.all[1].trace.spanID)
  }

  @Test("A failure is recorded by its kind, without its text")
  func failures() async {
    let spans = Spans()
    let call = tracer(spans).startCall("call", continuing: nil)
    await #expect(throws: TestError.self) {
      try await call.run { _ throws(TestError) in
        try tracedInline("verify") { () throws(TestError) in throw .failed("customer ana") }
      }
    }
    for span in spans.all {
      #expect(span.status?.code == .error && span.attributes.get("error.type") == "failed")
    }
    #expect(spans.all.count == 2)
  }

  private enum WordyError: Error, CustomStringConvertible {
    case away
    var description: String { "the store of customer ana is away" }
  }

  @Test("An error with a custom description is recorded by its type")
  func describedFailures() {
    let spans = Spans()
    let span = tracer(spans).startCall("call", continuing: nil)
    span.fail(WordyError.away)
    span.recordError(WordyError.away)
    span.end()
    #expect(spans.all[0].attributes.get("error.type") == "WordyError")
    #expect(spans.all[0].events[0].attributes.get("exception.type") == "WordyError")
  }

  @Test("Libraries that use swift-distributed-tracing join the trace of the call")
  func libraries() async {
    let spans = Spans()
    let tracer = tracer(spans)
    await withTracer(tracer) {
      await tracer.startCall("call", continuing: nil).run { span in
        await withSpan("library") { _ in await traced("ours") { _ in } }
        span?.addLink(SpanLink(context: span?.context ?? .topLevel, attributes: [:]))
      }
    }
    let all = spans.all
    #expect(all.map(\.name) == ["ours", "library", "call"])
    #expect(all[0].parentID == all[1].trace.spanID && all[1].parentID == all[2].trace.spanID)
    #expect(all[2].links.count == 1)
  }

  @Test("The number of events of a span is limited, and a span ends once")
  func limits() {
    let spans = Spans()
    let span = tracer(spans).startCall("call", continuing: nil)
    for _ in 0..<40 { span.addEvent("event") }
    span.end()
    span.end()
    #expect(spans.all.map(\.events.count) == [32] && spans.all[0].droppedEvents == 8)
  }

  @Test("The context is read from and written to a carrier")
  func carriers() throws {
    struct Carrier: Extractor, Injector {
      func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
      func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
        carrier[key] = value
      }
    }
    let tracer = tracer(Spans())
    var context = ServiceContext.topLevel
    tracer.extract(["traceparent": Self.sampled], into: &context, using: Carrier())
    var carrier: [String: String] = [:]
    tracer.inject(context, into: &carrier, using: Carrier())
    let trace = try #require(context.trace)
    #expect(trace.traceID == Self.trace && trace.isSampled)
    #expect(carrier == ["traceparent": trace.traceparent])
  }
}
