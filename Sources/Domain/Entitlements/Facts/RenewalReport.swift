package import AppStore

/// The contents of one renewal info about the renewal after a period.
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
  /// The price of the next period in milliunits of ``currency``; `nil` if Apple did not send it.
  package let renewalPrice: Int64?
  /// The time that the offer of the next period is paid for up front, such as `P6M`; `nil` for other offers.
  package let offerPeriod: String?
  /// The billing plan of the next period; `nil` if Apple did not send it.
  package let billingPlan: BillingPlanType?
  /// ISO 4217.
  package let currency: String?
}

extension CustomerFacts {
  /// The renewal infos of a line in the order of their signatures, without repetitions; none if all report that the
  /// subscription renews as it is, at its price.
  package func renewalReports(ofLine originalTransactionID: String) -> [RenewalReport] {
    guard let history = renewalHistory(ofLine: originalTransactionID),
      mayChangeRenewal(history) || mayChangePrice(history)
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
          nextProductID: renewalHistories[history].contents[content].autoRenewProductID,
          renewalPrice: renewalHistories[history].contents[content].details.renewalPrice,
          offerPeriod: renewalHistories[history].contents[content].inDetails { $0.offerPeriod },
          billingPlan: renewalHistories[history].contents[content].inDetails { $0.billingPlanType },
          currency: renewalHistories[history].contents[content].details.currency))
    }
    return reports
  }

  /// Whether a renewal info reports anything but a renewal as before.
  private func mayChangeRenewal(_ history: Int) -> Bool {
    // By index, because an element has a dozen reference counts.
    renewalHistories[history].contents.indices.contains {
      renewalHistories[history].contents[$0].mayChangeRenewal
    }
  }

  /// Whether a renewal info has another price than the first or the last period of the line. A price between them that both do
  /// not have was announced by a renewal info, too.
  private func mayChangePrice(_ history: Int) -> Bool {
    let line = range(ofLine: renewalHistories[history].originalTransactionID)
    guard let first = line.first, let last = line.last else { return false }
    let (one, other) = (
      transactions[first].inDetails { $0.price }, transactions[last].inDetails { $0.price }
    )
    return renewalHistories[history].contents.indices.contains { index in
      guard let price = renewalHistories[history].contents[index].inDetails({ $0.renewalPrice }) else {
        return false
      }
      return price != one || price != other
    }
  }
}

extension RenewalFact {
  /// Whether it reports anything but a renewal as before.
  fileprivate var mayChangeRenewal: Bool {
    renewalStatus == .off || priceIncreaseStatus == .pending
      || (autoRenewProductID.map { $0 != productID } ?? false)
  }
}
