internal import AppStore
internal import Reports
internal import Store

/// The columns of `posting`, as they are written and read.
enum PostingRows {
  static let columns = """
    kind, effective_at, transaction_id, product_id, subscription_group, storefront, offer_kind, reason,
    cohort_day, cohort_product_id, cohort_group, cohort_storefront, cohort_offer_kind, cohort_age,
    marks, units, amount, proceeds, currency, charged_on
    """
  static let count: CInt = 20

  /// Binds the columns to the parameters from `first` on.
  static func bind(_ posting: Posting, to row: any SQLStatement, at first: CInt) throws(StoreError) {
    try row.bind(first, posting.kind.rawValue)
    try row.bind(first + 1, posting.effectiveAt.millisecondsSince1970)
    try row.bind(first + 2, posting.transactionID)
    try bind(posting.dimensions, to: row, at: first + 3)
    try row.bind(first + 7, posting.reason)
    try row.bind(first + 8, posting.cohort?.day.number)
    try bind(posting.cohort?.dimensions ?? Posting.Dimensions(productID: ""), to: row, at: first + 9)
    try row.bind(first + 13, posting.cohort?.age ?? 0)
    try row.bind(first + 14, posting.marks)
    try row.bind(first + 15, posting.count)
    try row.bind(first + 16, posting.amount)
    try row.bind(first + 17, posting.proceeds)
    try row.bind(first + 18, posting.currency)
    try row.bind(first + 19, posting.chargedOn?.number)
  }

  /// Decodes the columns from the first one on.
  static func posting(_ row: any SQLStatement, ofLine lineID: String) throws(StoreError) -> Posting {
    var posting = Posting(
      try kind(row, 0), at: Instant(millisecondsSince1970: row.number(1)), line: lineID,
      transactionID: row.text(2) ?? "", dimensions(row, 3))
    posting.reason = row.text(7) ?? ""
    if !row.isNull(8) {
      posting.cohort = Posting.Cohort(
        day: ReportDay(number: row.number(8)), dimensions: dimensions(row, 9), age: row.number(13))
    }
    posting.marks = row.number(14)
    posting.count = row.number(15)
    posting.amount = row.number(16)
    posting.proceeds = row.number(17)
    posting.currency = row.text(18) ?? ""
    if !row.isNull(19) { posting.chargedOn = ReportDay(number: row.number(19)) }
    return posting
  }

  static func kind(_ row: any SQLStatement, _ column: CInt) throws(StoreError) -> Posting.Kind {
    guard let kind = Posting.Kind(rawValue: row.number(column)) else {
      throw .corrupt("a posting has an unknown kind")
    }
    return kind
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

  private static func dimensions(_ row: any SQLStatement, _ first: CInt) -> Posting.Dimensions {
    Posting.Dimensions(
      productID: row.text(first) ?? "", group: row.text(first + 1) ?? "",
      storefront: row.text(first + 2) ?? "",
      offerKind: row.text(first + 3) ?? "")
  }
}

/// Stands for "of no cohort" in `report_cell`, whose key has no NULL.
let noCohort: Int64 = -1_000_000
