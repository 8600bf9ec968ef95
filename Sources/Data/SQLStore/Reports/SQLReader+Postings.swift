internal import AppStore
internal import Reports
internal import Store

// Postings page by page.
extension SQLReader {
  func postings(
    after position: Int64, of appID: String, in environment: Environment, limit: Int
  ) throws(StoreError) -> [StoredPosting] {
    try rows(
      """
      SELECT \(PostingRows.columns), position, known_at, cause, line_id FROM posting
      WHERE position > ? AND app = ? AND environment = ? ORDER BY position LIMIT ?
      """, position, appID, environment, limit, decode: Self.storedPosting)
  }

  func postings(
    in span: Range<Instant>, after last: StoredPosting?, of appID: String, in environment: Environment,
    limit: Int
  ) throws(StoreError) -> [StoredPosting] {
    let first = last?.posting.effectiveAt ?? span.lowerBound
    return try rows(
      """
      SELECT \(PostingRows.columns), position, known_at, cause, line_id FROM posting
      WHERE effective_at >= ? AND effective_at < ? AND (effective_at > ? OR position > ?)
        AND app = ? AND environment = ?
      ORDER BY effective_at, position LIMIT ?
      """, first, span.upperBound, first, last?.position ?? 0, appID, environment, limit,
      decode: Self.storedPosting)
  }

  private static func storedPosting(_ row: any SQLStatement) throws(StoreError) -> StoredPosting {
    let next = PostingRows.count
    return StoredPosting(
      position: row.number(next), posting: try PostingRows.posting(row, ofLine: row.text(next + 3) ?? ""),
      knownAt: Instant(millisecondsSince1970: row.number(next + 1)),
      cause: RevisionCause(rawValue: row.text(next + 2) ?? ""))
  }

  func openingStocks(
    of day: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) -> [Posting] {
    let kinds = Posting.Kind.allCases.filter(\.isStock).map { String($0.rawValue) }.joined(separator: ", ")
    return try rows(
      """
      SELECT CAST(sum(units) AS BIGINT), CAST(sum(amount) AS BIGINT), CAST(sum(proceeds) AS BIGINT), kind,
        product_id, subscription_group, storefront, offer_kind, currency, reason
      FROM report_cell JOIN report_key USING (key_id)
      WHERE app = ? AND environment = ? AND kind IN (\(kinds)) AND cohort_day = \(noCohort) AND day < ?
      GROUP BY 4, 5, 6, 7, 8, 9, 10 ORDER BY 4, 5, 6, 7, 8, 9, 10
      """, appID, environment, day.number
    ) { row throws(StoreError) in
      var posting = Posting(
        try PostingRows.kind(row, 3), at: day.start, line: "", transactionID: "",
        Posting.Dimensions(
          productID: row.text(4) ?? "", group: row.text(5) ?? "", storefront: row.text(6) ?? "",
          offerKind: row.text(7) ?? ""))
      (posting.count, posting.amount, posting.proceeds) = (row.number(0), row.number(1), row.number(2))
      (posting.currency, posting.reason) = (row.text(8) ?? "", row.text(9) ?? "")
      return posting
    }.filter { $0.count != 0 || $0.amount != 0 || $0.proceeds != 0 }
  }
}
