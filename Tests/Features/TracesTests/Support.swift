import AppStoreClient
import JSON
import Platform
import Synchronization
import Telemetry
import Tracing

@testable import Traces

/// Records spans of a tracer that samples everything.
final class Recorder: Sendable {
  let records = Mutex<[SpanRecord]>([])

  /// Records `count` spans; `body` describes each before it ends.
  func spans(_ count: Int = 1, _ body: (RecordedSpan) -> Void = { _ in }) -> [SpanRecord] {
    let tracer = RecordingTracer(sampler: TraceSampler(ratio: 1, followsParent: true)) { [self] record in
      records.withLock { $0.append(record) }
    }
    for _ in 0..<count {
      let span = tracer.startCall("call", continuing: nil)
      body(span)
      span.end()
    }
    return records.withLock { records in
      defer { records = [] }
      return records
    }
  }
}

/// A collector that responds as the test specifies.
final class TestCollector: HTTPExchange {
  private let answers: Mutex<[Result<IncomingResponse, HTTPExchangeError>]>
  private let arrived = Mutex<[OutgoingRequest]>([])

  /// The last answer is that of all further requests.
  init(_ answers: [Result<IncomingResponse, HTTPExchangeError>]) { self.answers = Mutex(answers) }

  var requests: [OutgoingRequest] { arrived.withLock { $0 } }

  /// The number of spans in each request.
  var sizes: [Int] { requests.map { Self.spans($0).count } }

  static func spans(_ request: OutgoingRequest) -> [JSONValue] {
    let body = request.body.withUnsafeBytes { try? gunzip($0, limit: 1 << 24) } ?? request.body
    let resource = (try? JSONValue(parsing: body))?.objectValue?["resourceSpans"]?.arrayValue?.first
    return resource?.objectValue?["scopeSpans"]?.arrayValue?.first?.objectValue?["spans"]?.arrayValue ?? []
  }

  func send(
    _ request: OutgoingRequest, timeout: Duration, limit: Int
  ) async throws(HTTPExchangeError) -> IncomingResponse {
    arrived.withLock { $0.append(request) }
    return try answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }.get()
  }

  static func status(_ status: Int, _ body: String = "{}", _ headers: [(name: String, value: String)] = [])
    -> Result<IncomingResponse, HTTPExchangeError>
  {
    .success(IncomingResponse(status: status, headers: headers, body: Array(body.utf8)))
  }
}
