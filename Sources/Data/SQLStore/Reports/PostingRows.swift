internal import AppStore
internal import Reports
internal import Store

/// The columns of `posting`, as they are written and read. A row has the postings of one purchase and instant that became
/// known together.
enum PostingRows {
  static let columns = "position, line_id, effective_at, known_at, cause, postings"

  /// Decodes the columns. The postings of a row have the positions up to that of the row.
  static func stored(_ row: any SQLStatement) throws(StoreError) -> [StoredPosting] {
    let last = row.number(0)
    let knownAt = Instant(millisecondsSince1970: row.number(3))
    let cause = RevisionCause(rawValue: row.text(4) ?? "")
    let postings = try postings(row)
    let first = last - Int64(postings.count) + 1
    return postings.enumerated().map { index, posting in
      StoredPosting(
        position: first + Int64(index), posting: posting, knownAt: knownAt, cause: cause.of(posting))
    }
  }

  /// Decodes the columns to the postings alone.
  static func postings(_ row: any SQLStatement) throws(StoreError) -> [Posting] {
    try PostingPack.decode(
      row.borrowedBytes(5), line: row.text(1) ?? "", at: Instant(millisecondsSince1970: row.number(2)))
  }

  /// Binds product, group, storefront and offer.
  static func bind(
    _ dimensions: Posting.Dimensions, to row: any SQLStatement, at first: CInt
  ) throws(StoreError) {
    try row.bind(first, dimensions.productID)
    try row.bind(first + 1, dimensions.group)
    try row.bind(first + 2, dimensions.storefront)
    try row.bind(first + 3, dimensions.offerKind)
  }
}

extension RevisionCause {
  /// The cause of one of the postings that became known together.
  func of(_ posting: Posting) -> RevisionCause {
    switch (posting.kind, self) {
    case (.refund, .lateNotification), (.refundOfPurchase, .lateNotification),
      (.refundedOut, .lateNotification), (.trialRefunded, .lateNotification):
      .refundLearnedLate
    default: self
    }
  }
}

/// Stands for "of no cohort" in `report_cell`, whose key has no NULL.
let noCohort: Int64 = -1_000_000
