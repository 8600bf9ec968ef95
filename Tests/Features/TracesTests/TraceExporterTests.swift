import AppStoreClient
import Logging
import Synchronization
import Telemetry
import Testing

@testable import Traces

@Suite struct TraceExporterTests {
  /// Sleeps end at once and are recorded; a limit of calls ends the test if the exporter does not.
  private final class Clock: Sendable {
    let sleeps = Mutex<[Duration]>([])
    var all: [Duration] { sleeps.withLock { $0 } }

    func sleep(_ duration: Duration) async throws {
      sleeps.withLock { $0.append(duration) }
      await Task.yield()
      try Task.checkCancellation()
    }
  }

  private func exporter(
    _ queue: SpanQueue, _ collector: TestCollector, _ clock: Clock,
    headers: ExportHeaders = ExportHeaders(file: nil)
  ) -> TraceExporter {
    TraceExporter(
      queue, to: "http://127.0.0.1/v1/traces",
      resource: TraceResource(service: "s", version: "v", instance: "i"),
      headers: headers, exchange: collector, logger: Logger(label: "test"), sleep: clock.sleep)
  }

  private func filled(_ count: Int, capacity: Int = 4_096) -> SpanQueue {
    let queue = SpanQueue(capacity: capacity, batch: TraceExporter.batchSize)
    for span in Recorder().spans(count) { queue.add(span) }
    return queue
  }

  /// Runs the exporter until the queue is empty and `condition` holds.
  private func run(_ exporter: TraceExporter, until condition: @escaping @Sendable () -> Bool) async {
    let task = Task { await exporter.run() }
    while !condition() { await Task.yield() }
    task.cancel()
    await task.value
  }

  @Test("Spans are exported in batches")
  func batches() async {
    let (queue, collector) = (filled(1_100), TestCollector([TestCollector.status(200)]))
    await run(exporter(queue, collector, Clock())) { collector.sizes.reduce(0, +) == 1_100 }
    #expect(collector.sizes == [512, 512, 76])
    let fields = Dictionary(uniqueKeysWithValues: collector.requests[0].headers.map { ($0.name, $0.value) })
    #expect(fields["content-type"] == "application/json" && fields["content-encoding"] == "gzip")
  }

  @Test("A full queue discards new spans")
  func fullQueue() {
    let queue = filled(600, capacity: 550)
    #expect(queue.count == 550)
    queue.close()
    for span in Recorder().spans() { queue.add(span) }
    #expect(queue.count == 0)
  }

  @Test("A batch that the collector does not accept now is tried again, after the time it names")
  func retries() async {
    let collector = TestCollector([
      TestCollector.status(503), .failure(.timedOut), TestCollector.status(429, "", [("retry-after", "7")]),
      TestCollector.status(200),
    ])
    let (queue, clock) = (filled(3), Clock())
    await run(exporter(queue, collector, clock)) { collector.requests.count == 4 }
    #expect(collector.sizes == [3, 3, 3, 3])
    #expect(clock.all.contains(.seconds(2)) && clock.all.contains(.seconds(7)))
  }

  @Test(
    "A batch is discarded after five attempts, or if the collector refuses it",
    arguments: [(503, 5), (400, 1)])
  func discards(status: Int, attempts: Int) async {
    let collector = TestCollector(
      Array(repeating: TestCollector.status(status), count: attempts) + [TestCollector.status(200)])
    let queue = filled(2)
    let exporter = exporter(queue, collector, Clock())
    let more = Mutex<SpanRecord?>(Recorder().spans(1)[0])
    await run(exporter) {
      if collector.requests.count == attempts, let span = more.withLock({ $0.take() }) { queue.add(span) }
      return collector.sizes.last == 1
    }
    #expect(collector.sizes.prefix(attempts).allSatisfy { $0 == 2 })
  }

  @Test("The flush exports the rest, and discards what comes later")
  func flush() async {
    let (queue, collector) = (filled(600), TestCollector([TestCollector.status(200)]))
    let exporter = TraceExporter(
      queue, to: "http://127.0.0.1/v1/traces",
      resource: TraceResource(service: "s", version: "v", instance: "i"), headers: ExportHeaders(file: nil),
      exchange: collector, logger: Logger(label: "test"))
    await exporter.flush(within: .seconds(60))
    #expect(collector.sizes == [512, 88])
    for span in Recorder().spans() { queue.add(span) }
    #expect(queue.count == 0)
  }
}
