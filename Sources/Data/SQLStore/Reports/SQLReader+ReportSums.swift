internal import AppStore
internal import Reports
internal import Store

extension SQLReader {
  func reportSums(
    _ query: ReportQuery, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReportSum] {
    let report = query.report
    let stockDay = query.knowledge == .firstClosed ? "known_day" : "day"
    let range = "day >= \(query.from.number) AND day < \(query.to.number)"
    let first = query.granularity.firstDay(of: query.from)
    var selections = [
      CellSelection(
        kinds: report.stockKinds, day: stockDay,
        condition: "cohort_day = \(noCohort) AND \(stockDay) < \(query.to.number)"),
      CellSelection(
        kinds: report.flowKinds, day: "day",
        condition: "cohort_day = \(noCohort) AND \(range)"
          + (query.knowledge == .firstClosed ? " AND known_day = day" : "")),
      CellSelection(
        kinds: report.cohortKinds, day: noNumber, hasCohorts: true,
        condition:
          "cohort_day >= \(first.number) AND cohort_day < \(query.to.number) AND day < \(query.to.number)"
          + " AND age <> \(ReportCell.ratedAge)"),
    ]
    if query.isConverted {
      selections.append(
        CellSelection(
          kinds: report.stockKinds.union(report.flowKinds), day: "day", hasCohorts: true,
          condition: "cohort_day <> \(noCohort) AND age = \(ReportCell.ratedAge) AND day < \(query.to.number)"
        ))
    }
    let groups = try CellGroups(query, groupBy: query.groupBy, in: self)
    var sums: [ReportSum] = []
    for selection in selections where !selection.kinds.isEmpty {
      let totals = try self.sums(selection, query, groups, appID, environment)
      sums.reserveCapacity(sums.count + totals.count)
      for total in totals {
        let (run, group) = (total.run, groups.all[total.group])
        sums.append(
          ReportSum(
            kind: try kind(run.kind), day: ReportDay(number: run.day), groups: group.values,
            reason: group.reason, currency: group.currency,
            cohortDay: run.cohortDay == noCohort ? nil : ReportDay(number: run.cohortDay), age: run.age,
            sums: total.sums, group: total.group))
      }
    }
    return sums
  }

  func reportChanges(
    _ query: ReportQuery, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReportChange] {
    let report = query.report
    let groups = try CellGroups(query, groupBy: [], in: self)
    let late = "cohort_day = \(noCohort) AND known_day > day"
    let selections = [
      CellSelection(
        kinds: report.stockKinds, day: "day",
        condition: "\(late) AND day < \(query.to.number) AND known_day > \(query.from.number)"),
      CellSelection(
        kinds: report.flowKinds, day: "day",
        condition: "\(late) AND day >= \(query.from.number) AND day < \(query.to.number)"),
    ]
    var changes: [ReportChange] = []
    for selection in selections where !selection.kinds.isEmpty {
      for total in try sums(selection, query, groups, appID, environment, byKnownDay: true) {
        let (run, group) = (total.run, groups.all[total.group])
        changes.append(
          ReportChange(
            day: ReportDay(number: run.day), knownDay: ReportDay(number: run.knownDay),
            sum: ReportSum(
              kind: try kind(run.kind), day: ReportDay(number: run.day), reason: group.reason,
              currency: group.currency, age: run.age, sums: total.sums)))
      }
    }
    return changes
  }

  /// Adds up the cells of a selection. Engines sort to group, which takes longer than adding up here.
  private func sums(
    _ selection: CellSelection, _ query: ReportQuery, _ groups: CellGroups, _ appID: String,
    _ environment: Environment, byKnownDay: Bool = false
  ) throws(StoreError) -> [CellTotals.Total] {
    let kinds = selection.kinds.map { String($0.rawValue) }.sorted().joined(separator: ", ")
    var condition = selection.condition
    if case .whenClosed(let last) = query.knowledge { condition += " AND known_day <= \(last.number)" }
    // Days before the first one count together, unless each has its exchange rate.
    let keepsDays = byKnownDay || selection.day == noNumber || query.isConverted
    let earliest = keepsDays ? Int64.min : query.from.number - 1
    let marked = Set(selection.kinds.filter(\.isMarked).map(\.rawValue))
    let mark = Int64(1) << query.granularity.rawValue
    var totals = CellTotals(groupCount: groups.all.count)
    // Most of the time is that of reading, so columns that are the same in all rows are not read.
    let (hasCohorts, hasAmounts) = (selection.hasCohorts, query.report.hasAmounts)
    let hasAges = hasCohorts || !marked.isEmpty
    _ = try rows(
      """
      SELECT kind, \(selection.day), key_id, units, \(hasCohorts ? "cohort_day" : noNumber),
        \(hasAges ? "age" : noNumber), \(hasAmounts ? "amount, proceeds" : "\(noNumber), \(noNumber)"),
        \(byKnownDay ? "known_day" : noNumber)
      FROM report_cell WHERE app = ? AND environment = ? AND kind IN (\(kinds)) AND \(condition)
      """, appID, environment
    ) { row in
      guard let group = groups.index[row.number(2)] else { return }
      var run = CellTotals.Run(
        kind: row.number(0), day: max(row.number(1), earliest), knownDay: byKnownDay ? row.number(8) : 0,
        cohortDay: hasCohorts ? row.number(4) : noCohort, age: hasAges ? row.number(5) : 0)
      if !marked.isEmpty, marked.contains(run.kind) {
        guard run.age & mark != 0 else { return }
        run.age = mark
      }
      var sums = ReportCell.Sums(count: row.number(3))
      if hasAmounts { (sums.amount, sums.proceeds) = (row.number(6), row.number(7)) }
      totals.add(sums, to: run, group)
    }
    return totals.all
  }

  func add(to durations: inout ProductDurations) throws(StoreError) {
    let keys = try rows("SELECT product_id, reason FROM report_key WHERE reason LIKE 'P%'") {
      ($0.text(0) ?? "", $0.text(1) ?? "")
    }
    for (productID, reason) in keys { durations.add(reason, of: productID) }
  }

  private func kind(_ number: Int64) throws(StoreError) -> Posting.Kind {
    guard let kind = Posting.Kind(rawValue: number) else { throw .corrupt("a cell has an unknown kind") }
    return kind
  }
}

/// The expression of a column that a sum does not need.
private let noNumber = "CAST(0 AS BIGINT)"

/// Cells that one statement selects.
private struct CellSelection {
  let kinds: Set<Posting.Kind>
  /// The column of ``ReportSum/day``.
  let day: String
  /// Whether the cells are of cohorts, or have the day of a rate in their place.
  var hasCohorts = false
  let condition: String
}

/// The groups of a query, and which keys of cells belong to each.
private struct CellGroups {
  struct Group: Hashable {
    let values: [String]
    let reason: String
    let currency: String
  }

  private(set) var all: [Group] = []
  /// By `key_id`; a key that the query's filters exclude has none.
  private(set) var index: [Int64: Int] = [:]

  init(
    _ query: ReportQuery, groupBy: [ReportQuery.Dimension], in session: some SQLSession
  ) throws(StoreError) {
    let keys = try session.rows(
      """
      SELECT key_id, product_id, subscription_group, storefront, offer_kind, reason, currency FROM report_key
      ORDER BY key_id
      """
    ) { row in
      (
        id: row.number(0),
        dimensions: Posting.Dimensions(
          productID: row.text(1) ?? "", group: row.text(2) ?? "", storefront: row.text(3) ?? "",
          offerKind: row.text(4) ?? ""), reason: row.text(5) ?? "", currency: row.text(6) ?? ""
      )
    }
    var durations = query.durations
    if groupBy.contains(.duration) {
      for key in keys { durations.add(key.reason, of: key.dimensions.productID) }
    }
    var known: [Group: Int] = [:]
    index.reserveCapacity(keys.count)
    for key in keys where query.allows(key.dimensions) {
      let group = Group(
        values: groupBy.isEmpty ? [] : query.groups(key.dimensions, key.reason, durations),
        reason: key.reason, currency: key.currency)
      if let number = known[group] {
        index[key.id] = number
        continue
      }
      known[group] = all.count
      index[key.id] = all.count
      all.append(group)
    }
  }
}
