internal import Metrics

/// Records gauges in rounds, and counters of rows. A gauge that a round does not record becomes 0: reports have no rows
/// of zeros, so the number of a currency or product without a row would stay that of an earlier day.
struct ExportedGauges {
  /// A gauge with its labels.
  private struct Key: Hashable {
    let label: String
    let names: [String]
    let values: [String]

    func record(_ value: Int64) {
      Gauge(label: label, dimensions: Array(zip(names, values))).record(value)
    }
  }

  private var before: Set<Key> = []
  private var round: Set<Key> = []
  private var totals: [Key: Int64] = [:]

  /// Records a gauge in the current round.
  mutating func record(_ label: String, _ labels: [(name: String, value: String)], _ value: Int64) {
    let key = Key(label: label, names: labels.map(\.name), values: labels.map(\.value))
    round.insert(key)
    key.record(value)
  }

  /// Raises a counter to the `total` that the store has. The counter of a process begins with that total; a lower
  /// total, as after a rebuild, changes nothing until it is exceeded.
  mutating func count(_ label: String, _ labels: [(name: String, value: String)], total: Int64) {
    let key = Key(label: label, names: labels.map(\.name), values: labels.map(\.value))
    let added = total - (totals[key] ?? 0)
    totals[key] = total
    if added > 0 { Counter(label: label, dimensions: Array(zip(key.names, key.values))).increment(by: added) }
  }

  /// Sets the gauges of the previous round that this one did not record to 0, and begins the next round.
  mutating func endRound() {
    for key in before.subtracting(round) { key.record(0) }
    (before, round) = (round, [])
  }

  /// Sets all gauges to 0, as a replica must that no longer leads. Counters keep their values.
  mutating func clear() {
    endRound()
    endRound()
  }
}
