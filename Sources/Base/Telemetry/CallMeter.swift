internal import Synchronization

/// Counts calls of the contract: how many ended how, and how long they took, by method.
///
/// Each event loop has a part of its own, so that counting a call costs two clocks and a few stores, and no loop
/// ever waits for another's cache line. A scrape adds the parts up.
package final class CallMeter: Sendable {
  /// The part of one event loop; or the one for all other threads.
  package final class Shard: Sendable {
    fileprivate let cells: AtomicCells
    private let layout: Layout
    private let isShared: Bool

    fileprivate init(_ layout: Layout, isShared: Bool) {
      self.layout = layout
      self.isShared = isShared
      cells = AtomicCells(count: layout.cellCount)
    }

    /// Counts a call of the method with that index that ended with a status code (0 to 16) after some nanoseconds.
    package func count(_ method: Int, code: Int, nanoseconds: Int64) {
      let base = layout.base(of: method)
      add(1, base + min(max(code, 0), Layout.codes - 1))
      add(1, base + Layout.codes + layout.bucket(of: nanoseconds))
      add(UInt64(max(0, nanoseconds)), base + layout.sumOffset)
    }

    private func add(_ amount: UInt64, _ index: Int) {
      if isShared { cells.add(amount, at: index) } else { cells.addAlone(amount, at: index) }
    }
  }

  fileprivate struct Layout: Sendable {
    /// gRPC has the codes 0 to 16.
    static let codes = 17
    let methods: Int
    let boundsInNanoseconds: [Int64]

    var sumOffset: Int { Self.codes + boundsInNanoseconds.count + 1 }
    var stride: Int { sumOffset + 1 }
    var cellCount: Int { methods * stride }

    func base(of method: Int) -> Int { method * stride }

    /// The first bucket whose bound is not below.
    func bucket(of nanoseconds: Int64) -> Int {
      var index = 0
      while index < boundsInNanoseconds.count, nanoseconds > boundsInNanoseconds[index] { index += 1 }
      return index
    }
  }

  private let methods: [String]
  private let codeNames: [String]
  private let layout: Layout
  private let parts = Mutex<[Shard]>([])

  /// For calls that end away from the event loops.
  package let shared: Shard

  /// A meter for methods in the order of their indices; `codeNames` are the names of the codes 0 to 16.
  package init(methods: [String], codeNames: [String]) {
    self.methods = methods
    self.codeNames = codeNames
    layout = Layout(
      methods: methods.count, boundsInNanoseconds: MetricFamily.callBounds.map { Int64($0 * 1e9 + 0.5) })
    shared = Shard(layout, isShared: true)
  }

  /// A part that one thread writes to.
  package func makePart() -> Shard {
    let part = Shard(layout, isShared: false)
    parts.withLock { $0.append(part) }
    return part
  }
}

extension CallMeter: MetricsSource {
  package func samples() -> [MetricSample] {
    let parts = parts.withLock { $0 } + [shared]
    return methods.indices.flatMap { samples(of: $0, in: parts) }
  }

  /// Nothing for a method that was never called: most are not, and a line for each code and bucket of each would
  /// be a thousand lines.
  private func samples(of method: Int, in parts: [Shard]) -> [MetricSample] {
    let base = layout.base(of: method)
    let totals = (0..<layout.stride).map { offset in
      parts.reduce(0) { $0 &+ $1.cells[base + offset] }
    }
    let label = (name: "method", value: methods[method])
    let codes = totals[..<Layout.codes].enumerated().filter { $0.element > 0 }.map { code, count in
      MetricSample(
        "entitled_grpc_calls_total", labels: [label, (name: "code", value: codeNames[code])], Double(count))
    }
    guard !codes.isEmpty else { return [] }
    let histogram = MetricSample(
      "entitled_grpc_call_seconds", labels: [label],
      .histogram(
        buckets: Array(totals[Layout.codes..<layout.sumOffset]), sum: Double(totals[layout.sumOffset]) / 1e9))
    return codes + [histogram]
  }
}
