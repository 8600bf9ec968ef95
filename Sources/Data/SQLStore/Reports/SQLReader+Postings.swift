internal import AppStore
internal import Reports
internal import Store

// Postings page by page.
extension SQLReader {
  func postings(
    after position: Int64, of appID: String, in environment: Environment, limit: Int
  ) throws(StoreError) -> [StoredPosting] {
    try page(
      """
      SELECT \(PostingRows.columns) FROM posting
      WHERE position > ? AND app = ? AND environment = ? ORDER BY position LIMIT ?
      """, [position, appID, environment, limit], limit
    ) { $0.position > position }
  }

  func postings(
    in span: Range<Instant>, after last: StoredPosting?, of appID: String, in environment: Environment,
    limit: Int
  ) throws(StoreError) -> [StoredPosting] {
    let (first, position) = (last?.posting.effectiveAt ?? span.lowerBound, last?.position ?? 0)
    return try page(
      """
      SELECT \(PostingRows.columns) FROM posting
      WHERE effective_at >= ? AND effective_at < ? AND (effective_at > ? OR position > ?)
        AND app = ? AND environment = ?
      ORDER BY effective_at, position LIMIT ?
      """, [first, span.upperBound, first, position, appID, environment, limit], limit
    ) { $0.posting.effectiveAt > first || $0.position > position }
  }

  /// Returns the first postings of some rows that belong to a page, which may begin and end within a row.
  private func page(
    _ sql: String, _ values: [any StatementValue], _ limit: Int, where belongs: (StoredPosting) -> Bool
  ) throws(StoreError) -> [StoredPosting] {
    var page: [StoredPosting] = []
    _ = try rows(sql, binding: values) { row throws(StoreError) in
      guard page.count < limit else { return }
      page += try PostingRows.stored(row).filter(belongs)
    }
    return Array(page.prefix(limit))
  }

  func openingStocks(
    of day: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) -> [Posting] {
    struct Key: Hashable {
      let kind: Int64
      let keyID: Int64
    }
    var sums: [Key: ReportCell.Sums] = [:]
    var scan = CellScan(
      appID: appID, environment: environment, kinds: Set(Posting.Kind.allCases.filter(\.isStock)))
    scan.monthsBefore = day.number
    try forEachCell(in: scan) { cell in
      guard cell.cohortDay == noCohort, cell.day < day.number else { return }
      sums[Key(kind: cell.kind, keyID: cell.keyID), default: ReportCell.Sums()] += ReportCell.Sums(
        count: cell.units, amount: cell.amount, proceeds: cell.proceeds)
    }
    var stocks: [Posting] = []
    for (keyID, template) in try openingKeys(of: day) {
      for kind in Posting.Kind.allCases where kind.isStock {
        guard let sum = sums[Key(kind: kind.rawValue, keyID: keyID)], sum != ReportCell.Sums() else {
          continue
        }
        var posting = template
        posting.kind = kind
        (posting.count, posting.amount, posting.proceeds) = (sum.count, sum.amount, sum.proceeds)
        stocks.append(posting)
      }
    }
    return stocks
  }

  /// Returns a posting with the dimensions, the reason and the currency of each key.
  private func openingKeys(of day: ReportDay) throws(StoreError) -> [(id: Int64, posting: Posting)] {
    try rows(
      """
      SELECT key_id, product_id, subscription_group, storefront, offer_kind, currency, reason FROM report_key
      ORDER BY 2, 3, 4, 5, 6, 7
      """
    ) { row in
      var posting = Posting(
        .active, at: day.start, line: "", transactionID: "",
        Posting.Dimensions(
          productID: row.text(1) ?? "", group: row.text(2) ?? "", storefront: row.text(3) ?? "",
          offerKind: row.text(4) ?? ""))
      (posting.currency, posting.reason) = (row.text(5) ?? "", row.text(6) ?? "")
      return (row.number(0), posting)
    }
  }
}
