internal import AppStoreClient
internal import CommandSupport
internal import Configuration
internal import Foundation
internal import Logging
internal import Platform
internal import Telemetry
internal import Traces

/// The tracer of the process, and the worker that sends its spans to the configured collector.
struct TraceExport: Sendable {
  /// Records the spans of sampled calls.
  let tracer: RecordingTracer
  /// The worker that sends them.
  let exporter: TraceExporter

  /// The longest time for the last spans of a process that ends.
  private static let flushLimit = Duration.seconds(3)

  /// `nil` without a section `traces`.
  ///
  /// - Throws: ``Failure`` if the file of header fields cannot be used.
  init?(_ configuration: TraceConfiguration?, replica: String) throws {
    guard let configuration else { return nil }
    let headers = try Self.headers(configuration)
    let queue = SpanQueue(capacity: configuration.maxQueuedSpans, batch: TraceExporter.batchSize)
    tracer = RecordingTracer(
      sampler: TraceSampler(ratio: configuration.sampleRatio, followsParent: configuration.followsParent),
      record: queue.add)
    exporter = TraceExporter(
      queue, to: configuration.endpoint,
      resource: TraceResource(
        service: configuration.serviceName, version: Version.current,
        instance: "\(replica)/\(UUID().uuidString.lowercased())"), headers: headers,
      exchange: CurlExchange.shared, logger: Logger(label: "entitled.traces"))
  }

  /// The header fields of the collector, after a first check of their file.
  static func headers(_ configuration: TraceConfiguration) throws -> ExportHeaders {
    let headers = ExportHeaders(file: configuration.headersFile)
    do throws(ExportHeadersError) { _ = try headers.fields() } catch { throw Failure(error.description) }
    return headers
  }

  /// Sends the last spans, after the calls have ended.
  func flush() async { await exporter.flush(within: Self.flushLimit) }
}
