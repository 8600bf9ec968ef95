package import AppStoreClient
internal import JSON
package import Logging
internal import Platform
internal import Synchronization
internal import Telemetry

/// Sends recorded spans to an OpenTelemetry collector in batches: OTLP over HTTP, JSON, compressed.
///
/// A batch that the collector does not accept now is tried again with growing delays; meanwhile the queue fills up and
/// discards, and calls are not delayed. Each discarded span is counted with its reason.
package final class TraceExporter: Worker {
  package let name = "traces"

  /// The number of spans in one request.
  package static let batchSize = 512
  /// The longest time that a span waits for the next request to a collector that responds.
  private static let interval = Duration.seconds(1)
  /// The time limit of one request.
  private static let timeout = Duration.seconds(10)
  /// The attempts for a batch before it is discarded.
  private static let maxAttempts = 5
  /// The longest pause between two attempts; a longer `Retry-After` is cut to it.
  private static let maxDelay = Duration.seconds(30)
  /// In bytes.
  private static let maxResponseSize = 65_536

  private let url: String
  private let queue: SpanQueue
  private let encoder: OTLPEncoder
  private let headers: ExportHeaders
  private let exchange: any HTTPExchange
  private let logger: Logger
  private let sleep: @Sendable (Duration) async throws -> Void
  /// Whether the last request failed, so that a collector that is away is logged once.
  private let hasFailed = Mutex(false)

  /// Exports the spans of `queue` to `url`. `sleep` is the clock of intervals and retries; tests replace it.
  package init(
    _ queue: SpanQueue, to url: String, resource: TraceResource, headers: ExportHeaders,
    exchange: any HTTPExchange, logger: Logger,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.queue = queue
    self.url = url
    encoder = OTLPEncoder(resource)
    self.headers = headers
    self.exchange = exchange
    self.logger = logger
    self.sleep = sleep
  }

  /// Exports until the task is cancelled. ``flush(within:)`` exports the rest.
  package func run() async {
    while !Task.isCancelled {
      await waitForBatch()
      TraceMetrics.record(queued: queue.count)
      while !Task.isCancelled {
        let spans = queue.take(Self.batchSize)
        guard !spans.isEmpty else { break }
        await export(spans, attempts: Self.maxAttempts)
      }
    }
  }

  /// Exports what is left after the worker has ended, one attempt for each batch, and discards the rest after `limit`.
  /// The queue is closed afterwards, so that later spans are discarded and counted. The program calls it at its end.
  package func flush(within limit: Duration) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [self] in
        while !Task.isCancelled {
          let spans = queue.take(Self.batchSize)
          guard !spans.isEmpty else { return }
          await export(spans, attempts: 1)
        }
      }
      group.addTask { [sleep] in try? await sleep(limit) }
      _ = await group.next()
      group.cancelAll()
    }
    queue.close()
  }

  /// Waits for a complete batch, at most for the interval.
  private func waitForBatch() async {
    let batches = queue.listen()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in batches { return } }
      group.addTask { [sleep] in try? await sleep(Self.interval) }
      _ = await group.next()
      group.cancelAll()
    }
  }

  /// Exports a batch, or discards and counts it after the last attempt. When the task is cancelled, the spans return to
  /// the queue.
  private func export(_ spans: [SpanRecord], attempts: Int) async {
    let body = encoder.encode(spans)
    var delay = Duration.seconds(1)
    for attempt in 1...attempts {
      switch await send(body) {
      case .accepted(let rejected):
        let discarded = min(max(rejected, 0), spans.count)
        TraceMetrics.export(spans.count - discarded)
        if discarded > 0 { TraceMetrics.drop(discarded, .rejected) }
        if hasFailed.withLock({ exchangeValue(&$0, with: false) }) {
          logger.notice("trace export works again")
        }
        return
      case .refused(let problem):
        report(problem)
        TraceMetrics.drop(spans.count, .rejected)
        return
      case .failed(let problem, let retryAfter):
        guard !Task.isCancelled else { return queue.putBack(spans) }
        report(problem)
        guard attempt < attempts else { return TraceMetrics.drop(spans.count, .unreachable) }
        guard (try? await sleep(min(retryAfter ?? delay, Self.maxDelay))) != nil else {
          return queue.putBack(spans)
        }
        delay *= 2
      }
    }
  }

  /// Logs the first of several failures in a row.
  private func report(_ problem: String) {
    guard !hasFailed.withLock({ exchangeValue(&$0, with: true) }) else { return }
    logger.warning("trace export failed", metadata: ["url": "\(url)", "error": "\(problem)"])
  }

  /// Returns the old value, so that one lock compares and sets.
  private func exchangeValue(_ value: inout Bool, with new: Bool) -> Bool {
    defer { value = new }
    return value
  }
}

// One request.
extension TraceExporter {
  private enum Outcome {
    /// Accepted, except a number of spans.
    case accepted(rejected: Int)
    /// A retry cannot succeed.
    case refused(String)
    case failed(String, retryAfter: Duration?)
  }

  private func send(_ body: [UInt8]) async -> Outcome {
    var fields: [(name: String, value: String)] = [
      ("content-type", "application/json"), ("user-agent", "entitled"),
    ]
    do throws(ExportHeadersError) { fields += try headers.fields() } catch {
      return .failed(error.description, retryAfter: nil)
    }
    let compressed = gzip(body)
    if compressed != nil { fields.append(("content-encoding", "gzip")) }
    let request = OutgoingRequest(method: "POST", url: url, headers: fields, body: compressed ?? body)
    do throws(HTTPExchangeError) {
      return Self.outcome(
        of: try await exchange.send(request, timeout: Self.timeout, limit: Self.maxResponseSize))
    } catch {
      return .failed(error.description, retryAfter: nil)
    }
  }

  /// The outcome of a response (OTLP/HTTP, "OTLP/HTTP Response"): 2xx is accepted, perhaps without some spans; 429,
  /// 502, 503 and 504 may be retried; any other status discards the batch. `Retry-After` as a date is not read.
  private static func outcome(of response: IncomingResponse) -> Outcome {
    switch response.status {
    case 200..<300:
      let partial = (try? JSONValue(parsing: response.body))?.objectValue?["partialSuccess"]?.objectValue
      let rejected = partial?["rejectedSpans"].flatMap {
        $0.int64Value ?? $0.stringValue.flatMap { Int64($0) }
      }
      return .accepted(rejected: Int(rejected ?? 0))
    case 429, 502, 503, 504:
      let seconds = response.header("retry-after").flatMap { Int64($0) }
      return .failed("HTTP \(response.status)", retryAfter: seconds.map { .seconds(max(1, $0)) })
    default: return .refused("HTTP \(response.status)")
    }
  }
}
