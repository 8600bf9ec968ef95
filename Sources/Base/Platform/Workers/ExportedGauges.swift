internal import Metrics
internal import Synchronization

/// Records gauges in rounds, and counters of rows. A gauge that a round does not record becomes 0: its app, segment or
/// row may be gone, and its last number would stay.
///
/// A worker keeps it over its restarts, because the metrics of the process last as long.
package final class ExportedGauges: Sendable {
  /// A gauge with its labels.
  private struct Key: Hashable {
    let label: String
    let names: [String]
    let values: [String]

    init(_ label: String, _ labels: [(name: String, value: String)]) {
      self.label = label
      (names, values) = (labels.map(\.name), labels.map(\.value))
    }

    var dimensions: [(String, String)] { Array(zip(names, values)) }

    func record(_ value: Int64) { Gauge(label: label, dimensions: dimensions).record(value) }
  }

  private struct State {
    var before: Set<Key> = []
    var round: Set<Key> = []
    var totals: [Key: Int64] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// Records a gauge in the current round.
  package func record(_ label: String, _ labels: [(name: String, value: String)], _ value: Int64) {
    let key = Key(label, labels)
    state.withLock { _ = $0.round.insert(key) }
    key.record(value)
  }

  /// Raises a counter to the `total` that the store has. The counter of a process begins with that total; a lower
  /// total, as after a rebuild, changes nothing until the earlier one is exceeded.
  ///
  /// - Returns: the number by which the counter was raised.
  @discardableResult
  package func count(_ label: String, _ labels: [(name: String, value: String)], total: Int64) -> Int64 {
    let key = Key(label, labels)
    let added = state.withLock { state in
      let known = state.totals[key] ?? 0
      state.totals[key] = max(known, total)
      return max(0, total - known)
    }
    if added > 0 { Counter(label: label, dimensions: key.dimensions).increment(by: added) }
    return added
  }

  /// Sets the gauges of the previous round that this one did not record to 0, and begins the next round.
  package func endRound() {
    let gone = state.withLock { state in
      defer { (state.before, state.round) = (state.round, []) }
      return state.before.subtracting(state.round)
    }
    for key in gone { key.record(0) }
  }

  /// Sets all gauges to 0, as a replica must that no longer leads. Counters keep their values.
  package func clear() {
    endRound()
    endRound()
  }
}
