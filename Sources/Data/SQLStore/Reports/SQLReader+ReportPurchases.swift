internal import AppStore
internal import Reports
internal import Store

extension SQLReader {
  func reportPurchases(
    _ selection: PostingSelection, of appID: String, in environment: Environment, after line: String,
    limit: Int, reading rows: Int
  ) throws(StoreError) -> ReportPurchasePage {
    let condition = PostingCondition(selection)
    if let positions = try positionsOfFew(condition, rows) {
      let found = try purchases(at: positions, selection, condition, of: appID, in: environment, after: line)
      return ReportPurchasePage(
        Array(found.prefix(limit)), upTo: found.count > limit ? found[limit - 1].line : nil)
    }
    return try purchasesInOrder(
      selection, condition, of: appID, in: environment, after: line, limit, reading: rows)
  }

  /// Returns the positions of the rows of a value, from the index by time alone; `nil` if they or the entries of the index are
  /// many.
  private func positionsOfFew(_ condition: PostingCondition, _ most: Int) throws(StoreError) -> [Int64]? {
    let beyond = try rows(
      "SELECT 1 FROM posting WHERE \(condition.ofTime) LIMIT 1 OFFSET ?", 50 * most
    ) { _ in true }
    guard beyond.isEmpty else { return nil }
    let positions = try rows("SELECT position FROM posting WHERE \(condition.ofIndex) LIMIT ?", most + 1) {
      $0.number(0)
    }
    return positions.count <= most ? positions : nil
  }

  /// Reads all rows of a value.
  private func purchases(
    at positions: [Int64], _ selection: PostingSelection, _ condition: PostingCondition, of appID: String,
    in environment: Environment, after line: String
  ) throws(StoreError) -> [ReportPurchase] {
    var purchases: [String: ReportPurchase] = [:]
    let select = """
      SELECT \(PostingRows.columns) FROM posting
      WHERE position IN (\(Array(repeating: "?", count: Self.readTogether).joined(separator: ", ")))
        AND app = ? AND environment = ? AND line_id > ?\(condition.ofRow)
      """
    for first in stride(from: 0, to: positions.count, by: Self.readTogether) {
      let page = positions[first..<min(first + Self.readTogether, positions.count)]
      // The text is the same for each page, so that it is prepared once. No row has the position 0.
      var values: [any StatementValue] = page + Array(repeating: 0, count: Self.readTogether - page.count)
      values += [appID, environment, line] as [any StatementValue]
      _ = try rows(select, binding: values) { row throws(StoreError) in
        for posting in try PostingRows.postings(row) {
          guard let value = selection.value(of: posting) else { continue }
          let next = ReportPurchase(posting, value)
          purchases[next.line] = purchases[next.line]?.adding(next) ?? next
        }
      }
    }
    return purchases.values.filter { $0.value != 0 }
      .sorted { $0.line.utf8.lexicographicallyPrecedes($1.line.utf8) }
  }

  private static let readTogether = 500

  /// Reads the rows of a value in the order of purchases, up to the last purchase that is returned.
  private func purchasesInOrder(
    _ selection: PostingSelection, _ condition: PostingCondition, of appID: String,
    in environment: Environment, after line: String, _ limit: Int, reading most: Int
  ) throws(StoreError) -> ReportPurchasePage {
    // The rows of other apps are read, too, so fewer entries of this index are passed.
    let end = try rows(
      "SELECT line_id FROM posting WHERE line_id > ? ORDER BY line_id LIMIT 1 OFFSET ?", line, 20 * most
    ) { $0.text(0) ?? "" }.first
    let upToEnd = end == nil ? "" : " AND line_id <= ?"
    var sums = PurchaseSums(limit: limit)
    var last = (line: line, position: Int64.max)
    var (left, size) = (most, min(most, max(Self.firstRows, 4 * limit)))
    while true {
      let count = try rows(
        """
        SELECT \(PostingRows.columns) FROM posting
        WHERE app = ? AND environment = ? AND (line_id, position) > (?, ?)\(upToEnd)
          AND \(condition.inOrder)
        ORDER BY line_id, position LIMIT ?
        """,
        binding: [appID, environment, last.line, last.position] as [any StatementValue]
          + (end.map { [$0] as [any StatementValue] } ?? []) + [size] as [any StatementValue]
      ) { row throws(StoreError) in
        last = (row.text(1) ?? "", row.number(0))
        sums.begin(last.line)
        guard !sums.isComplete else { return }
        for posting in try PostingRows.postings(row) {
          if let value = selection.value(of: posting) { sums.add(posting, value) }
        }
      }.count
      if sums.isComplete { return ReportPurchasePage(sums.complete, upTo: sums.complete.last?.line) }
      guard count == size else { return ReportPurchasePage(sums.all, upTo: end) }
      left -= count
      if left <= 0, let finished = sums.finished { return ReportPurchasePage(sums.complete, upTo: finished) }
      // Where few rows have a selected posting, more are read at once: each part can be a round trip.
      size = min(4 * size, max(left, Self.firstRows))
    }
  }

  private static let firstRows = 1_000
}

/// Adds up the values of purchases whose rows follow each other.
private struct PurchaseSums {
  private let limit: Int
  /// The purchases with a value, without that whose rows may continue.
  private(set) var complete: [ReportPurchase] = []
  /// The last purchase whose rows do not continue; `nil`: none.
  private(set) var finished: String?
  private var line: String?
  private var current: ReportPurchase?

  init(limit: Int) { self.limit = limit }

  var isComplete: Bool { complete.count >= limit }

  /// The purchases with a value.
  var all: [ReportPurchase] { complete + [current].compactMap(\.self).filter { $0.value != 0 } }

  /// Begins a row.
  mutating func begin(_ next: String) {
    guard next != line else { return }
    (complete, current, finished, line) = (all, nil, line, next)
  }

  /// Adds a posting of the row.
  mutating func add(_ posting: Posting, _ value: Int64) {
    let next = ReportPurchase(posting, value)
    current = current?.adding(next) ?? next
  }
}

extension ReportPurchase {
  fileprivate init(_ posting: Posting, _ value: Int64) {
    self.init(
      line: posting.line, productID: posting.dimensions.productID, storefront: posting.dimensions.storefront,
      currency: posting.currency, reason: posting.reason, effectiveAt: posting.effectiveAt, value: value)
  }

  /// The sum of two parts of the value of one purchase.
  fileprivate func adding(_ other: ReportPurchase) -> ReportPurchase {
    ReportPurchase(
      line: line, productID: max(productID, other.productID), storefront: max(storefront, other.storefront),
      currency: max(currency, other.currency), reason: max(reason, other.reason),
      effectiveAt: max(effectiveAt, other.effectiveAt), value: value &+ other.value)
  }
}
