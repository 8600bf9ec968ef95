package import AppStore

/// What one renewal info reports about the renewal after a period.
package struct RenewalReport: Sendable {
  /// The start of the period that it describes.
  package let periodStart: Instant
  /// The first instant at which it counts.
  package let inForceFrom: Instant
  /// Whether auto-renew is off.
  package let isOff: Bool
  /// Whether the customer has not answered a price increase that needs consent.
  package let awaitsConsent: Bool
  /// The product of the next period; `nil` if Apple did not send it.
  package let nextProductID: String?
}

extension CustomerFacts {
  /// The renewal infos of a line in the order of their signatures, without repetitions; none if all report that the
  /// subscription renews as it is.
  package func renewalReports(ofLine originalTransactionID: String) -> [RenewalReport] {
    guard let history = renewalHistory(ofLine: originalTransactionID),
      renewalHistories[history].contents.contains(where: \.mayChangeRenewal)
    else { return [] }
    var reports: [RenewalReport] = []
    var examined: Int?
    for index in renewalHistories[history].signatures.indices {
      let content = renewalHistories[history].signatures[index].content
      let hasDate = renewalHistories[history].contents[content].renewalDate != nil
      guard content != examined || !hasDate else { continue }
      examined = content
      guard let described = period(describedBy: index, of: history) else { continue }
      reports.append(
        RenewalReport(
          periodStart: transactions[described].purchaseDate,
          inForceFrom: renewalHistories[history].signatures[index].inForceFrom,
          isOff: renewalHistories[history].contents[content].renewalStatus == .off,
          awaitsConsent: renewalHistories[history].contents[content].priceIncreaseStatus == .pending,
          nextProductID: renewalHistories[history].contents[content].autoRenewProductID))
    }
    return reports
  }
}

extension RenewalFact {
  /// Whether it reports anything but a renewal as before.
  fileprivate var mayChangeRenewal: Bool {
    renewalStatus == .off || priceIncreaseStatus == .pending
      || (autoRenewProductID.map { $0 != productID } ?? false)
  }
}
