internal import Reports

/// Adds cells up by kind, days, age and group.
///
/// Mostly the cells of one kind and day follow each other: a table of the groups of the current kind and day finds a sum
/// without hashing. A kind and day that comes again, such as one with late evidence, has a dictionary from then on.
struct CellTotals {
  /// The identity of a sum besides its group.
  struct Run: Hashable {
    let kind: Int64
    let day: Int64
    let knownDay: Int64
    let cohortDay: Int64
    let age: Int64
  }

  /// Their groups are indices of ``CellGroups/all``.
  private(set) var all: [ReportSums.Total] = []
  private(set) var runs: [Run] = []
  private var numbers: [Run: Int] = [:]
  /// By run: the index in ``all`` of its first sum.
  private var starts: [Int] = []
  /// By run: the indices in ``all`` by group, once it came again.
  private var tables: [[Int: Int]?] = []
  private var current = -1
  /// By group: the index in ``all`` of the sum that was added to last, of whatever run.
  private var last: [Int] = []

  mutating func add(_ sums: ReportCell.Sums, to run: Run, _ group: Int) {
    if current < 0 || runs[current] != run { select(run) }
    while last.count <= group { last.append(-1) }
    if let index = index(of: group) {
      last[group] = index
      all[index].sums += sums
      return
    }
    tables[current]?[group] = all.count
    last[group] = all.count
    all.append(ReportSums.Total(run: current, group: group, sums: sums))
  }

  /// The index of the sum of a group in the current run; `nil` without one.
  private func index(of group: Int) -> Int? {
    let index = last[group]
    if index >= 0, Int(all[index].run) == current { return index }
    return tables[current]?[group]
  }

  private mutating func select(_ run: Run) {
    guard let known = numbers[run] else {
      current = runs.count
      numbers[run] = current
      runs.append(run)
      starts.append(all.count)
      tables.append(nil)
      return
    }
    current = known
    guard tables[known] == nil else { return }
    // Until now, the sums of the run follow each other.
    var table: [Int: Int] = [:]
    var index = starts[known]
    while index < all.count, Int(all[index].run) == known {
      table[Int(all[index].group)] = index
      index += 1
    }
    tables[known] = table
  }
}
