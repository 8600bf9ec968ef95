import AppStore
import AppStoreReports
import ReportReconciliation
import Reports
import Testing

/// The products that the operator's catalog has.
private let products: Set<String> = ["weekly", "monthly", "coins"]

func instant(_ text: String) -> Instant { Instant(rfc3339: text)! }

/// A charge or a refund, by default of 9.99 USD for a monthly subscription in the USA;
/// `share` percent of it are proceeds.
func moneyPosting(
  _ id: String, _ time: String, _ kind: Posting.Kind = .charge, price: Int64 = 9_990,
  product: String = "monthly", country: String = "USA", share: Int64 = 70, reason: String = "SUBSCRIPTION",
  knownAt: String? = nil
) -> KnownPosting {
  var posting = Posting(
    kind, at: instant(time), line: id, transactionID: id,
    Posting.Dimensions(productID: product, group: "pro", storefront: country))
  let sign: Int64 = kind == .charge ? 1 : -1
  (posting.count, posting.amount) = (1, sign * price)
  posting.proceeds = sign * price * share / 100
  (posting.currency, posting.reason) = ("USD", kind == .charge ? reason : "FULL")
  return KnownPosting(posting, knownAt: instant(knownAt ?? time))
}

/// A posting of `kind` that counts one subscription in the USA.
func flowPosting(
  _ kind: Posting.Kind, _ id: String, _ time: String, offer: String = "", product: String = "monthly"
) -> KnownPosting {
  var posting = Posting(
    kind, at: instant(time), line: id, transactionID: id,
    Posting.Dimensions(productID: product, group: "pro", storefront: "USA", offerKind: offer))
  posting.count = 1
  return KnownPosting(posting, knownAt: instant(time))
}

/// A row of the Subscriber report: by default a charge of 9.99 USD in the USA.
func subscriberRow(
  _ day: String, price: String = "9.99", proceeds: String = "6.99", units: String = "1",
  refund: String = "", product: String = "monthly", country: String = "US", reason: String = ""
) -> [String: String] {
  [
    "Event Date": day, "Subscription Name": product, "Subscription Apple ID": "1\(product.utf8.count)",
    "Customer Price": price, "Customer Currency": "USD", "Developer Proceeds": proceeds,
    "Proceeds Currency": "USD", "Proceeds Reason": reason, "Country": country, "Subscriber ID": "77",
    "Refund": refund, "Units": units,
  ]
}

/// A row of the Subscription Event report.
func eventRow(
  _ name: String, _ day: String, quantity: Int = 1, offer: String = "", product: String = "monthly"
) -> [String: String] {
  [
    "Event Date": day, "Event": name, "Subscription Name": product, "Country": "US",
    "Subscription Offer Type": offer, "Quantity": "\(quantity)",
  ]
}

/// Compares a report of `rows`, and reports without rows of `emptyDays`, with `postings` in Pacific Time.
func reconcile(
  _ kind: AppStoreReport, _ rows: [[String: String]], _ postings: [KnownPosting],
  name: String = "2026-10-24.txt", emptyDays: [String] = [], appleID: String? = nil
) throws -> ReconciliationResult {
  var table = TabularText(columns: kind.columns)
  for row in rows { table.append(row) }
  let document = try ReportDocument(name: name, text: table.text)
  #expect(document.kind == kind)
  let names = ProductNames(given: [:], known: products, learnedFrom: [document])
  let empty = TabularText(columns: kind.columns).text
  let others = try emptyDays.map { try ReportDocument(name: "\($0).txt", text: empty) }
  return try ReportComparison([document] + others, products: names, appleID: appleID, zone: .pacific)
    .result(postings)
}
