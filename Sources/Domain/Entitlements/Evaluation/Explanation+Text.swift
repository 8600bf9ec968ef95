internal import AppStore

// The names and sentences of intervals in explanations.
extension AccessInterval {
  /// Whether both are the same access by the same fact. A period can have two grace periods, with auto-renew off in
  /// between.
  func isSame(as other: AccessInterval) -> Bool {
    let isSameSource =
      switch (source, other.source) {
      case (.transaction(let left), .transaction(let right)), (.grant(let left), .grant(let right)),
        (.appTransaction(let left), .appTransaction(let right)):
        left == right
      default: false
      }
    return isSameSource && kind == other.kind && level == other.level && start == other.start
      && end == other.end
  }

  /// Returns the reason of an early end, as a clause; `nil` without one.
  func cutReason(_ facts: borrowing CustomerFacts) -> String? {
    if isEndedByConsent { return "a parent or guardian withdrew the consent" }
    if case .appTransaction(let install) = source {
      return facts.appTransactions[install].document(endingAccessAt: end).revocationDate.flatMap { revoked in
        revoked <= end ? "Apple revoked the purchase of the app on \(revoked)" : nil
      }
    }
    guard let index = transaction else { return nil }
    if kind == .replaced { return "an upgrade replaced it before it began" }
    if facts.transactions[index].earlierSeatTimes.contains(where: { $0.upperBound == end }) {
      return "earlier claims had all seats from \(end) on"
    }
    if let revoked = facts.transactions[index].revocationDate, revoked <= end {
      guard let percentage = facts.transactions[index].details.revocationPercentage else {
        return "Apple revoked it on \(revoked)"
      }
      return "Apple revoked it on \(revoked) and refunded \(percentage / 1000) %"
    }
    guard [.subscription, .renewalSlack, .grace, .operatorGrace].contains(kind) else { return nil }
    if let next = facts.nextInLine(after: index), facts.transactions[next].purchaseDate == end {
      return "transaction \(facts.transactions[next].transactionID) of the same purchase replaced it"
    }
    guard facts.transactions[index].upgradedBy == end else { return nil }
    return "Apple reported by then that it was upgraded, and the transaction of the upgrade is not known"
  }
}

extension AccessInterval {
  /// The fact itself; of the states of a grant, the one whose access starts here, and of the documents about an app install
  /// the one that ends it.
  func fact(_ facts: borrowing CustomerFacts) -> AnyFact {
    switch source {
    case .transaction(let index): .transaction(facts.transactions[index])
    case .grant(let index): .grant(facts.grants[index].state(from: start))
    case .appTransaction(let index):
      .appTransaction(facts.appTransactions[index].document(endingAccessAt: end))
    }
  }
}

extension AccessInterval.Source {
  /// The id of the fact and the product or entitlement it concerns.
  func name(_ facts: borrowing CustomerFacts, from start: Instant) -> (id: String, product: String) {
    switch self {
    case .transaction(let index):
      (facts.transactions[index].transactionID, facts.transactions[index].productID)
    case .grant(let index): facts.grants[index].state(from: start).name
    case .appTransaction(let index):
      ("", "version \(facts.appTransactions[index].originalApplicationVersion)")
    }
  }
}

extension GrantFact {
  /// The id and the entitlement; for a purchase in another store its product, store, id and revision.
  fileprivate var name: (id: String, product: String) {
    guard let external else { return (grantID, entitlement) }
    let product = external.productID.isEmpty ? entitlement : external.productID
    return (
      grantID,
      "\(product) (\(external.source) purchase \(external.externalID), revision \(external.revision))"
    )
  }
}

extension AccessInterval.Kind {
  /// The rule code of the steps, part of the API.
  var rule: String {
    switch self {
    case .subscription, .replaced: "PERIOD"
    case .renewalSlack: "RENEWAL_SLACK"
    case .grace: "GRACE_PERIOD"
    case .operatorGrace: "OPERATOR_GRACE_PERIOD"
    case .nonRenewing: "NON_RENEWING_PERIOD"
    case .nonConsumable: "OWNERSHIP"
    case .trial: "TRIAL"
    case .boughtBefore: "BOUGHT_BEFORE_VERSION"
    case .grant: "GRANT"
    case .external: "EXTERNAL_PURCHASE"
    case .nonEntitling: "TYPE"
    case .sharingDenied: "FAMILY_SHARING"
    }
  }

  /// The subject of the sentence.
  var text: String {
    switch self {
    case .subscription, .replaced: "The paid period"
    case .renewalSlack: "The time for a late report of the renewal"
    case .grace: "The billing grace period"
    case .operatorGrace: "The operator's grace period"
    case .nonRenewing: "The non-renewing period"
    case .nonConsumable: "The purchase"
    case .trial: "The trial"
    case .boughtBefore: "The app install"
    case .grant: "The operator's grant"
    case .external: "The purchase in another store"
    case .nonEntitling: "The product type"
    case .sharingDenied: "The shared purchase"
    }
  }
}

extension RenewalOutlook {
  /// The contents of the renewal info as a sentence.
  var sentence: String {
    let product = productID.map { " to \($0)" } ?? ""
    let price = price.map { " for \($0) milliunits of \(currency ?? "the currency")" } ?? ""
    let consent = needsPriceConsent ? " A price increase needs consent." : ""
    switch willRenew {
    case true?: return "The subscription renews\(product)\(price).\(consent)"
    case false?: return "The subscription does not renew.\(consent)"
    case nil: return "Apple did not report whether the subscription renews.\(consent)"
    }
  }
}
