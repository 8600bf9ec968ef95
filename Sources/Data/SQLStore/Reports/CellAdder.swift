internal import Reports
internal import Store

/// Adds up the selected cells of a query.
struct CellAdder {
  private let selection: CellSelection
  /// By kind; a set takes longer for each cell.
  private let isMarked: [Bool]
  /// The bit of ``Posting/marks`` of the query's buckets.
  private let mark: Int64

  init(_ selection: CellSelection, _ query: ReportQuery) {
    self.selection = selection
    let last = selection.kinds.map(\.rawValue).reduce(0, max)
    var isMarked = [Bool](repeating: false, count: Int(last) + 1)
    for kind in selection.kinds where kind.isMarked { isMarked[Int(kind.rawValue)] = true }
    self.isMarked = isMarked
    mark = 1 << query.granularity.rawValue
  }

  /// Adds a cell, if it is selected.
  ///
  /// - Returns: `false` without effect if the key of the cell is unknown.
  func add(_ cell: StoredCell, to totals: inout CellTotals, _ groups: inout CellGroups) -> Bool {
    guard selection.selects(cell) else { return true }
    var age = cell.age
    if isMarked[Int(cell.kind)] {
      guard age & mark != 0 else { return true }
      age = mark
    }
    guard let number = groups.number(ofKey: cell.keyID) else { return false }
    guard number != CellGroups.excluded else { return true }
    let run = CellTotals.Run(
      kind: cell.kind, day: selection.day(of: cell), knownDay: selection.isOfRevisions ? cell.knownDay : 0,
      cohortDay: selection.cohortDay(of: cell), age: age)
    totals.add(
      ReportCell.Sums(count: cell.units, amount: cell.amount, proceeds: cell.proceeds), to: run, number)
    return true
  }
}

/// The groups of a query, and which keys of cells belong to each.
struct CellGroups {
  /// Stands for a group in the numbers of keys that the query's filters exclude.
  static let excluded = -1
  private static let notMet: Int32 = -2

  private(set) var all: [ReportSums.Group] = []
  private let query: ReportQuery
  private let isGrouped: Bool
  private let durations: ProductDurations
  private var keys: ReportKeys
  /// By the number of a key: that of its group, ``excluded`` or ``notMet``. Most reports meet few of the keys.
  private var numbers: [Int32]
  private var known: [ReportSums.Group: Int] = [:]

  init(
    _ query: ReportQuery, groupBy: [ReportQuery.Dimension], in reader: SQLReader
  ) throws(StoreError) {
    self.query = query
    isGrouped = !groupBy.isEmpty
    var durations = query.durations
    if groupBy.contains(.duration) { try reader.addObservedDurations(to: &durations) }
    self.durations = durations
    let cached = reader.reportKeys.keys
    keys = try cached.all.isEmpty ? reader.reportKeys.read(from: reader) : cached
    numbers = Array(repeating: Self.notMet, count: keys.all.count)
  }

  /// Reads the keys of the reader's snapshot. The groups keep their numbers.
  mutating func readKeys(of reader: SQLReader) throws(StoreError) {
    keys = try reader.reportKeys.read(from: reader)
    numbers = Array(repeating: Self.notMet, count: keys.all.count)
  }

  /// The number in ``all`` of the group of a key, or ``excluded``; `nil` if the key is unknown.
  mutating func number(ofKey id: Int64) -> Int? {
    guard let key = keys.number(of: id) else { return nil }
    if numbers[key] == Self.notMet { numbers[key] = Int32(clamping: group(of: keys.all[key])) }
    return Int(numbers[key])
  }

  private mutating func group(of key: ReportKey) -> Int {
    guard query.allows(key.dimensions) else { return Self.excluded }
    let group = ReportSums.Group(
      values: isGrouped ? query.groups(key.dimensions, key.reason, durations) : [], reason: key.reason,
      currency: key.currency)
    if let number = known[group] { return number }
    known[group] = all.count
    all.append(group)
    return all.count - 1
  }
}
