internal import Synchronization

/// Counts completed calls and their durations by method.
///
/// Each event loop has its own shard, so that counting costs a few stores and no contention for cache lines. A scrape
/// adds the shards up.
package final class CallMeter: Sendable {
  /// The counters of one event loop, or of all other threads.
  package final class Shard: Sendable {
    fileprivate let cells: AtomicCells
    private let layout: Layout
    private let isShared: Bool

    fileprivate init(_ layout: Layout, isShared: Bool) {
      self.layout = layout
      self.isShared = isShared
      cells = AtomicCells(count: layout.cellCount)
    }

    /// Counts a completed call of the method with this index; `code` is its gRPC status code (0 to 16).
    package func count(_ method: Int, code: Int, nanoseconds: Int64) {
      let base = layout.base(of: method)
      add(1, base + min(max(code, 0), Layout.codes - 1))
      add(1, base + Layout.codes + layout.bucket(of: nanoseconds))
      add(UInt64(max(0, nanoseconds)), base + layout.sumOffset)
    }

    private func add(_ amount: UInt64, _ index: Int) {
      if isShared { cells.add(amount, at: index) } else { cells.addUnshared(amount, at: index) }
    }
  }

  fileprivate struct Layout: Sendable {
    /// The number of gRPC status codes.
    static let codes = 17
    let methods: Int
    let boundsInNanoseconds: [Int64]

    var sumOffset: Int { Self.codes + boundsInNanoseconds.count + 1 }
    var stride: Int { sumOffset + 1 }
    var cellCount: Int { methods * stride }

    func base(of method: Int) -> Int { method * stride }

    /// The index of the first bucket whose bound is not below `nanoseconds`.
    func bucket(of nanoseconds: Int64) -> Int {
      var index = 0
      while index < boundsInNanoseconds.count, nanoseconds > boundsInNanoseconds[index] { index += 1 }
      return index
    }
  }

  private let methods: [String]
  private let codeNames: [String]
  private let layout: Layout
  private let shards = Mutex<[Shard]>([])

  /// The shard for calls that end on other threads than the event loops.
  package let shared: Shard

  /// A meter for `methods`, whose positions are the indices; `codeNames` are the names of the codes 0 to 16.
  package init(methods: [String], codeNames: [String]) {
    self.methods = methods
    self.codeNames = codeNames
    layout = Layout(
      methods: methods.count, boundsInNanoseconds: MetricFamily.callBounds.map { Int64($0 * 1e9 + 0.5) })
    shared = Shard(layout, isShared: true)
  }

  /// Returns a new shard, which only one thread may write.
  package func makeShard() -> Shard {
    let shard = Shard(layout, isShared: false)
    shards.withLock { $0.append(shard) }
    return shard
  }
}

extension CallMeter: MetricsSource {
  /// The sums over all event loops; methods without calls are omitted.
  package func samples() -> [MetricSample] {
    let shards = shards.withLock { $0 } + [shared]
    return methods.indices.flatMap { samples(of: $0, in: shards) }
  }

  /// Returns no samples for a method that was never called, because all methods together have a thousand lines.
  private func samples(of method: Int, in shards: [Shard]) -> [MetricSample] {
    let base = layout.base(of: method)
    let totals = (0..<layout.stride).map { offset in
      shards.reduce(0) { $0 &+ $1.cells[base + offset] }
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

/// Counters in one block of memory, readable from any thread.
// Unchecked, because the memory is accessed only through atomics and freed with the last reference.
final class AtomicCells: @unchecked Sendable {
  private let cells: UnsafeMutablePointer<Atomic<UInt64>>
  let count: Int

  init(count: Int) {
    self.count = count
    cells = .allocate(capacity: count)
    for index in 0..<count { (cells + index).initialize(to: Atomic(0)) }
  }

  deinit {
    cells.deinitialize(count: count)
    cells.deallocate()
  }

  /// Adds to a cell that only one thread writes: a load and a store instead of a locked instruction.
  func addUnshared(_ amount: UInt64, at index: Int) {
    let value = cells[index].load(ordering: .relaxed)
    cells[index].store(value &+ amount, ordering: .relaxed)
  }

  /// Adds to a cell that several threads write.
  func add(_ amount: UInt64, at index: Int) { cells[index].wrappingAdd(amount, ordering: .relaxed) }

  subscript(index: Int) -> UInt64 { cells[index].load(ordering: .relaxed) }
}
