internal import AppStore
internal import AppStoreReports

/// Turns the rows of reports into buckets.
struct ReportReader {
  private(set) var items: [ReportedItem] = []
  private(set) var proceeds: [ReportedProceeds] = []
  private(set) var finance: [FinanceRow] = []
  private(set) var notes: [String: ReportNote] = [:]
  /// The days that each report covers.
  private(set) var days: [AppStoreReport: Set<CalendarDay>] = [:]
  /// The names of the files with rows of a day, or of the day.
  private(set) var files: [BucketMatching.DayKey: Set<String>] = [:]
  /// The rows with an unknown event, product or country, as `FILE:LINE`.
  private(set) var unknownRows: [BucketMatching.DayKey: Set<String>] = [:]
  private let products: ProductNames
  private let appleID: String?
  private var total = ReportTotal()

  init(_ documents: [ReportDocument], _ products: ProductNames, appleID: String?) throws(ReportError) {
    self.products = products
    self.appleID = appleID
    for document in documents {
      if document.kind != .finance { document.days.forEach { cover($0, document) } }
      for column in document.unknownColumns {
        note(.unknownColumn, "\(document.kind.rawValue) \(column)", 0)
      }
      for (index, row) in document.table.rows.enumerated() {
        try read(ReportRow(document: document, values: row, line: index + 2))
      }
    }
  }

  private mutating func note(_ code: ReportNote.Code, _ text: String, _ quantity: Int64) {
    let first = ReportNote(code: code, text: text, quantity: 0)
    notes["\(code.rawValue) \(text)", default: first].quantity += quantity
  }

  private mutating func cover(_ day: CalendarDay, _ document: ReportDocument) {
    days[document.kind, default: []].insert(day)
    files[BucketMatching.DayKey(report: document.kind, day: day), default: []].insert(document.name)
  }

  /// Notes a number of a row.
  private mutating func note(
    _ code: ReportNote.Code, _ text: String, _ quantity: Int64, of row: ReportRow
  ) throws(ReportError) {
    try total.add(quantity, of: row)
    note(code, text, quantity)
  }

  private mutating func noteUnknown(
    _ code: ReportNote.Code, _ text: String, _ quantity: Int64, _ day: CalendarDay, _ row: ReportRow
  ) throws(ReportError) {
    try note(code, text, quantity, of: row)
    unknownRows[BucketMatching.DayKey(report: row.document.kind, day: day), default: []].insert(
      "\(row.document.name):\(row.line)")
  }

  /// Reads a row by the kind of its report; rows of other apps are left out.
  private mutating func read(_ row: ReportRow) throws(ReportError) {
    if let appleID, !row["App Apple ID"].isEmpty, row["App Apple ID"] != appleID { return }
    switch row.document.kind {
    case .subscription: try readStocks(row)
    case .subscriptionEvent: try readEvent(row)
    case .subscriber: try readCharge(row)
    case .sales: try readSale(row)
    case .finance: try readFinance(row)
    }
  }

  /// The bucket of a row without its subject; `nil`, with a note, for an unknown product or country.
  private mutating func bucket(
    _ row: ReportRow, _ day: CalendarDay, country column: String, _ subject: ReconciliationBucket.Subject,
    quantity: Int64
  ) throws(ReportError) -> ReconciliationBucket? {
    cover(day, row.document)
    let isSale = row.document.kind == .sales
    let appleID = row[isSale ? "Apple Identifier" : "Subscription Apple ID"]
    let name = row[isSale ? "SKU" : "Subscription Name"]
    guard let productID = products.productID(appleID: appleID, name: name, isProductID: isSale) else {
      let text = "\(name) (\(appleID))"
      // The Sales report has the products of all apps.
      if isSale, self.appleID != nil {
        try note(.otherProduct, text, quantity, of: row)
      } else {
        try noteUnknown(.unknownProduct, text, quantity, day, row)
      }
      return nil
    }
    guard let country = Countries.threeLetters(row[column]) else {
      try noteUnknown(.unknownCountry, row[column], quantity, day, row)
      return nil
    }
    return ReconciliationBucket(
      report: row.document.kind, day: day, productID: productID, country: country, subject: subject)
  }

  private mutating func add(
    _ bucket: ReconciliationBucket, _ quantity: Int64, _ row: ReportRow
  ) throws(ReportError) {
    guard quantity != 0 else { return }
    try total.add(quantity, of: row)
    items.append(
      ReportedItem(bucket: bucket, quantity: quantity, file: row.document.name, line: row.line))
  }

  // MARK: Reports

  /// Reads the numbers of subscriptions at the end of a day, one for each column that is not 0.
  private mutating func readStocks(_ row: ReportRow) throws(ReportError) {
    guard let day = row.document.day else { return }
    let columns = SubscriptionColumn.allCases.map(\.rawValue) + ["Billing Retry", "Grace Period"]
    for column in columns where row.document.table.position(of: column) != nil {
      let quantity = try row.number(column)
      guard quantity != 0,
        let bucket = try bucket(row, day, country: "Country", .stock(column), quantity: quantity)
      else { continue }
      try add(bucket, quantity, row)
      if column == SubscriptionColumn.standard.rawValue { try addRecurring(bucket, quantity, row) }
    }
    if row["Subscribers"].isEmpty { note(.privacy, "Subscribers is blank", 1) }
    guard var bucket = try bucket(row, day, country: "Country", .stock("price"), quantity: 0) else { return }
    bucket.setPrice(try row.amount("Customer Price"), of: row)
    try addProceeds(bucket, 1, row)
  }

  /// The recurring revenue of subscriptions at the standard price, in thousandths a year.
  private mutating func addRecurring(
    _ bucket: ReconciliationBucket, _ quantity: Int64, _ row: ReportRow
  ) throws(ReportError) {
    guard let perYear = Self.periodsPerYear[row["Standard Subscription Duration"].lowercased()] else {
      return
    }
    let recurring = bucket.with {
      $0.subject = .stock(recurringRevenue)
      $0.currency = row["Customer Currency"]
    }
    let price = try row.amount("Customer Price")
    try add(recurring, ReportTotal.product(of: price, perYear, quantity, in: row), row)
  }

  private static let periodsPerYear: [String: Int64] = [
    "7 days": 52, "1 week": 52, "1 month": 12, "2 months": 6, "3 months": 4, "6 months": 2, "1 year": 1,
  ]

  /// Reads events of subscriptions. One of an unknown type is noted, so that a new type of Apple does not
  /// fail the comparison.
  private mutating func readEvent(_ row: ReportRow) throws(ReportError) {
    let quantity = try row.number("Quantity")
    let day = try row.day("Event Date")
    guard let flow = SubscriptionFlow(appleEvent: row["Event"]) else {
      cover(day, row.document)
      return try noteUnknown(.unknownEvent, row["Event"], quantity, day, row)
    }
    guard var bucket = try bucket(row, day, country: "Country", .flow(flow), quantity: quantity) else {
      return
    }
    bucket.offer = row["Subscription Offer Type"].uppercased().replacing(" ", with: "_")
    try add(bucket, quantity, row)
  }

  private mutating func readCharge(_ row: ReportRow) throws(ReportError) {
    let (units, price) = (try row.number("Units"), try row.amount("Customer Price"))
    let isRefund = price < 0 || units < 0 || row["Refund"].lowercased().hasPrefix("y")
    try addMoney(row, try row.day("Event Date"), country: "Country", units, price, isRefund: isRefund)
  }

  /// Reads a sale or a refund. A refund has negative units or a negative price.
  private mutating func readSale(_ row: ReportRow) throws(ReportError) {
    let type = row["Product Type Identifier"].uppercased()
    let (units, price) = (try row.number("Units"), try row.amount("Customer Price"))
    // IA3 is a restored purchase. Other types are downloads and updates of apps.
    guard type.hasPrefix("IA"), type != "IA3" else { return }
    try addMoney(
      row, try row.day("Begin Date"), country: "Country Code", units, price,
      isRefund: units < 0 || price < 0)
  }

  /// Adds charges or refunds of one price, in thousandths of the currency unit.
  private mutating func addMoney(
    _ row: ReportRow, _ day: CalendarDay, country: String, _ units: Int64, _ price: Int64, isRefund: Bool
  ) throws(ReportError) {
    // A refund of a part of the price has no unit.
    let quantity = max(1, abs(units))
    guard
      var bucket = try bucket(row, day, country: country, isRefund ? .refund : .charge, quantity: quantity)
    else { return }
    guard price != 0 else { return try note(.notCompared, "free of charge", quantity, of: row) }
    bucket.setPrice(price, of: row)
    // Several rows are compared by their sum, too.
    try total.add(ReportTotal.product(of: price, quantity, in: row), of: row)
    try add(bucket, quantity, row)
    try addProceeds(bucket, quantity, row)
  }

  /// Adds the developer's share of a bucket with a price for the check of its rate. Shares in another currency than the
  /// price are not compared.
  private mutating func addProceeds(
    _ bucket: ReconciliationBucket, _ quantity: Int64, _ row: ReportRow
  ) throws(ReportError) {
    let price = abs(try row.amount("Customer Price"))
    guard
      row[row.document.kind == .sales ? "Currency of Proceeds" : "Proceeds Currency"]
        == row["Customer Currency"]
    else { return try note(.notCompared, "proceeds in another currency", quantity, of: row) }
    try total.add(quantity, of: row)
    proceeds.append(
      ReportedProceeds(
        bucket: bucket, quantity: quantity, price: price, proceeds: abs(try row.amount("Developer Proceeds")),
        line: row.line, file: row.document.name))
  }

  /// Reads a line of a financial report. Returns have negative quantities and shares here.
  private mutating func readFinance(_ row: ReportRow) throws(ReportError) {
    let isReturn = row["Sale or Return"].uppercased() == "R"
    let (quantity, share) = (abs(try row.number("Quantity")), abs(try row.amount("Extended Partner Share")))
    try total.add(quantity, of: row)
    try total.add(share, of: row)
    finance.append(
      FinanceRow(
        first: try row.day("Start Date"), last: try row.day("End Date"), productID: row["Vendor Identifier"],
        country: Countries.threeLetters(row["Country Of Sale"]) ?? row["Country Of Sale"],
        currency: row["Partner Share Currency"], quantity: isReturn ? -quantity : quantity,
        share: isReturn ? -share : share))
  }
}

extension ReconciliationBucket {
  /// Sets the price of one piece, in thousandths of the currency unit, and the rate of the row. The price of a refund is
  /// negative in reports, and positive in buckets.
  fileprivate mutating func setPrice(_ price: Int64, of row: ReportRow) {
    self.price = (abs(price) + 5) / 10
    currency = row["Customer Currency"]
    isAfterOneYear = row["Proceeds Reason"].lowercased() == rateAfterOneYear.lowercased()
  }
}
