internal import Reports

/// Adds cells up by kind, days, age and group.
///
/// SQLite returns cells in the order of their key, so the cells of one kind and day follow each other: a table of the groups of
/// the current kind and day finds a sum without hashing. If an engine returns them in another order, a dictionary takes over.
struct CellTotals {
  /// The identity of a sum besides its group.
  struct Run: Hashable {
    let kind: Int64
    let day: Int64
    let knownDay: Int64
    let cohortDay: Int64
    var age: Int64
  }

  struct Total {
    let run: Run
    /// An index of ``CellGroups/all``.
    let group: Int
    var sums: ReportCell.Sums
  }

  private struct Key: Hashable {
    let run: Run
    let group: Int
  }

  private(set) var all: [Total] = []
  private var current: Run?
  /// The index in ``all`` of the first sum of ``current``.
  private var start = 0
  /// By group: the index in ``all`` of its last sum; before ``start``, that of another run.
  private var last: [Int]
  private var runs: Set<Run> = []
  /// The indices in ``all``, once a run continued after another one.
  private var indices: [Key: Int]?

  init(groupCount: Int) { last = Array(repeating: -1, count: groupCount) }

  mutating func add(_ sums: ReportCell.Sums, to run: Run, _ group: Int) {
    if indices == nil, run != current { begin(run) }
    if let index = indices == nil ? last[group] : indices?[Key(run: run, group: group)], index >= start {
      all[index].sums += sums
      return
    }
    if indices == nil {
      last[group] = all.count
    } else {
      indices?[Key(run: run, group: group)] = all.count
    }
    all.append(Total(run: run, group: group, sums: sums))
  }

  private mutating func begin(_ run: Run) {
    guard runs.insert(run).inserted else {
      start = 0
      indices = Dictionary(
        uniqueKeysWithValues: all.enumerated().map { (Key(run: $1.run, group: $1.group), $0) })
      return
    }
    (current, start) = (run, all.count)
  }
}
