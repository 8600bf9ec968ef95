internal import AppStore

// The names and words that an explanation has for intervals.
extension AccessInterval {
  /// Whether both are the same access by the same fact.
  func isSame(as other: AccessInterval) -> Bool {
    let isSameSource =
      switch (source, other.source) {
      case (.transaction(let left), .transaction(let right)), (.grant(let left), .grant(let right)),
        (.appTransaction(let left), .appTransaction(let right)):
        left == right
      default: false
      }
    return isSameSource && kind == other.kind && level == other.level
  }

  /// Why it ends before it would have; `nil` if it does not.
  func cutReason(_ facts: borrowing CustomerFacts) -> String? {
    guard let index = transaction else { return nil }
    if let revoked = facts.transactions[index].accessRevokedAt, revoked <= end {
      guard let percentage = facts.transactions[index].details.revocationPercentage else {
        return "Apple took it back on \(revoked)"
      }
      return "Apple took it back on \(revoked) and gave back \(percentage / 1000) %"
    }
    guard kind == .subscription || kind == .grace || kind == .operatorGrace else { return nil }
    if let next = facts.nextInLine(after: index), facts.transactions[next].purchaseDate == end {
      return "transaction \(facts.transactions[next].transactionID) of its line took over"
    }
    return facts.transactions[index].isUpgraded ? "it was upgraded" : nil
  }
}

extension AccessInterval.Source {
  /// The fact itself.
  func fact(_ facts: borrowing CustomerFacts) -> AnyFact {
    switch self {
    case .transaction(let index): .transaction(facts.transactions[index])
    case .grant(let index): .grant(facts.grants[index])
    case .appTransaction(let index): .appTransaction(facts.appTransactions[index])
    }
  }

  /// The number of the fact, and what it is about.
  func name(_ facts: borrowing CustomerFacts) -> (id: String, product: String) {
    switch self {
    case .transaction(let index):
      (facts.transactions[index].transactionID, facts.transactions[index].productID)
    case .grant(let index): (facts.grants[index].grantID, facts.grants[index].entitlement)
    case .appTransaction(let index):
      ("", "version \(facts.appTransactions[index].originalApplicationVersion)")
    }
  }
}

extension AccessInterval.Kind {
  /// What the rule is called.
  var rule: String {
    switch self {
    case .subscription: "PERIOD"
    case .grace: "GRACE_PERIOD"
    case .operatorGrace: "OPERATOR_GRACE_PERIOD"
    case .nonRenewing: "NON_RENEWING_PERIOD"
    case .nonConsumable: "OWNERSHIP"
    case .trial: "TRIAL"
    case .boughtBefore: "BOUGHT_BEFORE_VERSION"
    case .grant: "GRANT"
    case .nonEntitling: "TYPE"
    case .sharingDenied: "FAMILY_SHARING"
    }
  }

  /// What it is, at the beginning of a sentence.
  var text: String {
    switch self {
    case .subscription: "The paid period"
    case .grace: "The billing grace period"
    case .operatorGrace: "The operator's grace"
    case .nonRenewing: "The non-renewing period"
    case .nonConsumable: "The purchase"
    case .trial: "The trial"
    case .boughtBefore: "Getting the app"
    case .grant: "The operator's grant"
    case .nonEntitling: "The type"
    case .sharingDenied: "A family member's share"
    }
  }
}

extension RenewalOutlook {
  /// What Apple said, in a sentence.
  var sentence: String {
    let product = productID.map { " to \($0)" } ?? ""
    let price = price.map { " for \($0) thousandths of \(currency ?? "the currency")" } ?? ""
    let consent = needsPriceConsent ? " A price increase waits for consent." : ""
    switch willRenew {
    case true?: return "Apple says that it renews\(product)\(price).\(consent)"
    case false?: return "Apple says that it does not renew.\(consent)"
    case nil: return "Apple does not say whether it renews.\(consent)"
    }
  }
}
