package import AppStore

/// Facts that cannot all be true, or that conflict with the catalog. The evaluation still gives an answer;
/// the operator should investigate.
package struct Contradiction: Hashable, Sendable {
  /// The kind of contradiction. The raw values are returned by the API and label a metric: never change one.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Two own subscriptions of one group are in force, and neither replaced the other. Both grant access.
    case twoActiveInGroup = "TWO_ACTIVE_IN_GROUP"
    /// A transaction ends before it begins. Its period is empty.
    case expiryBeforePurchase = "EXPIRY_BEFORE_PURCHASE"
    /// A transaction was revoked before it began, and not as a renewal that was charged early. It grants nothing.
    case revocationBeforePurchase = "REVOCATION_BEFORE_PURCHASE"
    /// Renewal info has no transaction of its purchase. It grants nothing.
    case renewalWithoutTransaction = "RENEWAL_WITHOUT_TRANSACTION"
    /// The catalog does not define the product of a transaction. It grants nothing.
    case unknownProduct = "UNKNOWN_PRODUCT"
    /// Apple states another product type than the catalog. Apple's type applies.
    case typeDiffersFromCatalog = "TYPE_DIFFERS_FROM_CATALOG"
    /// This version does not know the product type. The catalog's type applies, if there is one.
    case unknownType = "UNKNOWN_TYPE"
    /// The original application version of an app install is not numeric. No rule about versions applies.
    case unreadableVersion = "UNREADABLE_VERSION"
  }

  package let kind: Kind
  /// The `transactionId` or `originalTransactionId` concerned; empty if there is none.
  package let transactionID: String
  /// An English sentence: the problem and how evaluation handles it.
  package let sentence: String

  /// Returns all contradictions in `facts` at `now`.
  package static func all(
    _ facts: borrowing CustomerFacts, in app: borrowing AppDefinition, at now: Instant
  ) -> [Contradiction] {
    var found: [Contradiction] = []
    for index in facts.transactions.indices { found += of(facts.transactions[index], app) }
    for renewal in facts.renewals {
      let line = renewal.originalTransactionID
      guard facts.range(ofLine: line).isEmpty else { continue }
      found.append(
        Contradiction(
          kind: .renewalWithoutTransaction, transactionID: line,
          sentence: "Renewal info of \(line) arrived without any of its transactions; it grants nothing."))
    }
    for appInstall in facts.appTransactions where AppVersion(appInstall.originalApplicationVersion) == nil {
      found.append(
        Contradiction(
          kind: .unreadableVersion, transactionID: "",
          sentence: "The original application version is not numeric; no legacy version rule applies to it."
        ))
    }
    return found + twoActive(facts, app, now)
  }

  /// The contradictions of one transaction, in itself and with the catalog.
  private static func of(
    _ transaction: TransactionFact, _ app: borrowing AppDefinition
  ) -> [Contradiction] {
    var found: [Contradiction] = []
    let id = transaction.transactionID
    func add(_ kind: Kind, _ sentence: String) {
      found.append(Contradiction(kind: kind, transactionID: id, sentence: sentence))
    }
    if transaction.isContradictory, !transaction.isSharedDuringRetry {
      add(.expiryBeforePurchase, "Transaction \(id) expires before its purchase date; its period is empty.")
    }
    if let revoked = transaction.revocationDate, revoked < transaction.purchaseDate,
      !transaction.isRefundedBetweenChargeAndStart
    {
      add(
        .revocationBeforePurchase,
        "Transaction \(id) was revoked before its purchase date; it grants nothing.")
    }
    if case .unrecognized(let word) = transaction.type {
      let effect =
        app.products[transaction.productID].map { "the catalog's \($0.type.rawValue) applies" }
        ?? "it grants nothing"
      add(
        .unknownType, "The product type \(word) of transaction \(id) is unknown to this version; \(effect).")
    }
    guard let product = app.products[transaction.productID] else {
      add(
        .unknownProduct,
        "The catalog has no product \(transaction.productID) of transaction \(id); it grants nothing."
      )
      return found
    }
    if case .unrecognized = transaction.type { return found }
    if product.type != transaction.type {
      add(
        .typeDiffersFromCatalog,
        "Apple sold \(transaction.productID) as \(transaction.type.rawValue), but the catalog defines it as "
          + "\(product.type.rawValue); Apple's type applies.")
    }
    return found
  }

  /// At most one own subscription of a group can be active, besides those that were replaced: Apple does not
  /// document that a migration to Advanced Commerce, or a change between a subscription and a bundle, ends the
  /// period that is paid for.
  private static func twoActive(
    _ facts: borrowing CustomerFacts, _ app: borrowing AppDefinition, _ now: Instant
  ) -> [Contradiction] {
    let facts = facts.purchases(in: app)
    let groups = SubscriptionGroups(facts, in: app)
    var active: [String: [String]] = [:]
    var replacedLines: Set<String> = []
    for index in facts.transactions.indices where !facts.transactions[index].isShared {
      guard let group = groups.group(of: facts.transactions[index]),
        !facts.transactions[index].isUpgraded, facts.transactions[index].purchaseDate <= now,
        now < facts.paidEnd(index, facts.nextInLine(after: index))
      else { continue }
      let line = facts.transactions[index].originalTransactionID
      if let replaced = facts.transactions[index].inDetails(\.previousOriginalTransactionID) {
        replacedLines.insert(replaced)
      }
      if active[group]?.contains(line) != true { active[group, default: []].append(line) }
    }
    return active.mapValues { $0.filter { !replacedLines.contains($0) } }
      .filter { $0.value.count > 1 }.sorted { $0.key < $1.key }.map { group, lines in
        Contradiction(
          kind: .twoActiveInGroup, transactionID: lines[0],
          sentence: "Subscriptions \(lines.joined(separator: " and ")) of the group \(group) are active at "
            + "the same time; both grant access.")
      }
  }
}

extension TransactionFact {
  /// Whether it may be of a member or the holder of a seat who joined while the App Store retried the purchaser's payment.
  fileprivate var isSharedDuringRetry: Bool {
    guard isShared, let expiresDate else { return false }
    return purchaseDate.milliseconds(since: expiresDate) <= billingRetryLength
  }

  /// Whether it may be a renewal that was charged before its period began, and refunded in these hours.
  fileprivate var isRefundedBetweenChargeAndStart: Bool {
    guard isSubscription, let revoked = revocationDate, details.transactionReason != .purchase else {
      return false
    }
    return (0...CustomerFacts.longestChargeLead).contains(purchaseDate.milliseconds(since: revoked))
  }
}
