internal import AppStoreReports

/// The product ids behind the names and numbers of reports.
package struct ProductNames: Sendable {
  private var byAppleID: [String: String]
  private let known: Set<String>

  /// - given: product ids by Apple's number, as the operator states them.
  /// - known: the product ids of the app.
  package init(given: [String: String], known: Set<String>, learnedFrom documents: [ReportDocument]) {
    self.known = known
    byAppleID = [:]
    for document in documents where document.kind == .sales {
      for row in document.table.rows {
        byAppleID[document.table.value("Apple Identifier", in: row)] = document.table.value("SKU", in: row)
      }
    }
    byAppleID.merge(given) { _, given in given }
  }

  /// The product id of a row; `nil` if it is unknown.
  func productID(appleID: String, name: String, isProductID: Bool) -> String? {
    let productID = isProductID ? name : byAppleID[appleID] ?? name
    return known.contains(productID) ? productID : nil
  }
}
