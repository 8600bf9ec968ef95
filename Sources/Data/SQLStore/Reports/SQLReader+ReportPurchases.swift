internal import AppStore
internal import Reports
internal import Store

extension SQLReader {
  func reportPurchases(
    _ selection: PostingSelection, of appID: String, in environment: Environment, after line: String,
    limit: Int
  ) throws(StoreError) -> [ReportPurchase] {
    let condition = PostingCondition(selection)
    if let positions = try positionsOfFew(condition) {
      return try purchases(
        at: positions, selection, condition, of: appID, in: environment, after: line, limit)
    }
    return try purchasesInOrder(selection, condition, of: appID, in: environment, after: line, limit)
  }

  /// Returns the positions of the rows of a value, from an index alone; `nil` if they are many.
  private func positionsOfFew(_ condition: PostingCondition) throws(StoreError) -> [Int64]? {
    let positions = try rows(
      "SELECT position FROM posting WHERE \(condition.ofIndex) LIMIT ?", Self.mostOfFew + 1
    ) { $0.number(0) }
    return positions.count <= Self.mostOfFew ? positions : nil
  }

  /// The rows up to this number are all read. Of more rows, those of the first purchases are found soon in the order of purchases:
  /// at least two in a hundred of a million rows match.
  private static let mostOfFew = 20_000

  /// Reads all rows of a value.
  private func purchases(
    at positions: [Int64], _ selection: PostingSelection, _ condition: PostingCondition, of appID: String,
    in environment: Environment, after line: String, _ limit: Int
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
        for stored in try PostingRows.stored(row) {
          guard let value = selection.value(of: stored.posting) else { continue }
          let next = ReportPurchase(stored.posting, value)
          purchases[next.line] = purchases[next.line]?.adding(next) ?? next
        }
      }
    }
    let sorted = purchases.values.filter { $0.value != 0 }
      .sorted { $0.line.utf8.lexicographicallyPrecedes($1.line.utf8) }
    return Array(sorted.prefix(limit))
  }

  private static let readTogether = 500

  /// Reads the rows of a value in the order of purchases, up to the last purchase that is returned.
  private func purchasesInOrder(
    _ selection: PostingSelection, _ condition: PostingCondition, of appID: String,
    in environment: Environment, after line: String, _ limit: Int
  ) throws(StoreError) -> [ReportPurchase] {
    var sums = PurchaseSums(limit: limit)
    var last = (line: line, position: Int64.max)
    var size = max(Self.firstRows, 4 * limit)
    while true {
      var count = 0
      _ = try rows(
        """
        SELECT \(PostingRows.columns) FROM posting
        WHERE app = ? AND environment = ? AND (line_id, position) > (?, ?)
          AND \(condition.inOrder)
        ORDER BY line_id, position LIMIT ?
        """, appID, environment, last.line, last.position, size
      ) { row throws(StoreError) in
        count += 1
        guard !sums.isComplete else { return }
        for stored in try PostingRows.stored(row) {
          if let value = selection.value(of: stored.posting) { sums.add(stored.posting, value) }
        }
        last = (row.text(1) ?? "", row.number(0))
      }
      guard count == size, !sums.isComplete else { break }
      // Where few rows have a selected posting, more are read at once: each part can be a round trip.
      size = min(4 * size, Self.mostRows)
    }
    return sums.all
  }

  private static let (firstRows, mostRows) = (1_000, 64_000)
}

/// Adds up the values of purchases whose postings follow each other.
private struct PurchaseSums {
  private let limit: Int
  /// The purchases with a value, without that whose postings may continue.
  private var complete: [ReportPurchase] = []
  private var current: ReportPurchase?

  init(limit: Int) { self.limit = limit }

  var isComplete: Bool { complete.count >= limit }

  /// The first purchases with a value.
  var all: [ReportPurchase] {
    var all = complete
    if let current, current.value != 0 { all.append(current) }
    return Array(all.prefix(limit))
  }

  mutating func add(_ posting: Posting, _ value: Int64) {
    let next = ReportPurchase(posting, value)
    guard let known = current, known.line == next.line else {
      if let current, current.value != 0 { complete.append(current) }
      current = next
      return
    }
    current = known.adding(next)
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
