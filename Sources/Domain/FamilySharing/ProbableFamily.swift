package import AppStore
package import Entitlements

/// A customer who probably shares purchases with the queried one. A hint for support staff; it never decides
/// access, because Apple provides no link between family members.
package struct ProbableFamilyMember: Hashable, Sendable {
  package let customerID: String
  /// The `originalTransactionId` of the strongest match.
  package let originalTransactionID: String
  /// That customer's relation to the purchase.
  package let ownership: InAppOwnershipType
  /// From 0.05 to 0.95; never 1, because dates can agree by chance.
  package let confidence: Double
  /// The evidence for and against, as English sentences.
  package let grounds: [String]
}

/// A customer who might be in the family.
package struct FamilyCandidate: Hashable, Sendable {
  package let customerID: String
  package let facts: CustomerFacts

  package init(customerID: String, facts: CustomerFacts) {
    self.customerID = customerID
    self.facts = facts
  }
}

/// Returns the `candidates` who probably share purchases with the customer of `facts`, most probable first.
///
/// A family member's transactions have the product and the dates of the purchaser's. So two customers match
/// if one has as `FAMILY_SHARED` what the other has too, for periods that start and end at the same instant,
/// in the same storefront. A family has at most six members and a purchase one purchaser; more matches lower
/// the confidence of each.
package func probableFamily(
  of facts: CustomerFacts, among candidates: [FamilyCandidate]
) -> [ProbableFamilyMember] {
  let similarities = candidates.compactMap { candidate in
    Similarity.strongest(between: facts, and: candidate.facts).map { (candidate.customerID, $0) }
  }
  let purchasers = similarities.count { $0.1.theirs.ownership == .purchased }
  return similarities.map { id, similarity in
    similarity.member(
      id, rivals: similarity.theirs.ownership == .purchased ? purchasers : 1, of: similarities.count)
  }
  .sorted { (-$0.confidence, $0.customerID) < (-$1.confidence, $1.customerID) }
}

/// A match of two lines of two customers that may be one purchase.
private struct Similarity {
  let theirs: TransactionFact
  private var confidence = 0.0
  private var grounds: [String] = []

  static func strongest(between own: CustomerFacts, and other: CustomerFacts) -> Similarity? {
    let theirs = Dictionary(grouping: other.transactions.filter(\.canBeShared), by: \.originalTransactionID)
    let ours = Dictionary(grouping: own.transactions.filter(\.canBeShared), by: \.originalTransactionID)
    return ours.values.flatMap { our in theirs.values.compactMap { Similarity(our, $0) } }
      .max {
        ($0.confidence, $1.theirs.originalTransactionID) < ($1.confidence, $0.theirs.originalTransactionID)
      }
  }

  /// `nil` if no periods match, or if both lines are of one Apple account.
  private init?(_ ours: [TransactionFact], _ others: [TransactionFact]) {
    let pairs = ours.flatMap { our in
      others.filter { $0.productID == our.productID && $0.sharedInstant == our.sharedInstant }.map {
        (our, $0)
      }
    }
    guard let (our, their) = pairs.last, our.ownership == .familyShared || their.ownership == .familyShared,
      our.originalTransactionID != their.originalTransactionID,
      our.details.hasDifferentAccount(from: their.details)
    else { return nil }
    theirs = their
    add(
      0.6 + min(0.15, 0.05 * Double(pairs.count - 1)),
      "\(pairs.count == 1 ? "One period" : "\(pairs.count) periods") of \(their.productID) "
        + "\(their.expiresDate == nil ? "start" : "end")\(pairs.count == 1 ? "s" : "") at the same time.")
    add(0, "One customer has it as \(our.ownership.rawValue), the other as \(their.ownership.rawValue).")
    if their.expiresDate != nil, our.purchaseDate == their.purchaseDate {
      add(0.1, "The latest one also starts at the same time.")
    }
    if let country = their.details.storefront, let ourCountry = our.details.storefront {
      let isSame = country == ourCountry
      add(
        isSame ? 0.1 : -0.4,
        isSame
          ? "Both use the storefront \(country)." : "The storefronts differ: \(ourCountry) and \(country).")
    }
  }

  private mutating func add(_ weight: Double, _ ground: String) {
    confidence += weight
    grounds.append(ground)
  }

  /// The member with the confidence that is left when `rivals` purchasers match and `count` customers do:
  /// between 0.05 and 0.95, because it is never certain.
  func member(_ id: String, rivals: Int, of count: Int) -> ProbableFamilyMember {
    var (confidence, grounds) = (confidence, grounds)
    if rivals > 1 {
      confidence /= Double(rivals)
      grounds.append("\(rivals) purchasers match, but a purchase has only one purchaser.")
    }
    if count > 5 {
      confidence *= 5 / Double(count)
      grounds.append("\(count) customers match, but a family has at most five other members.")
    }
    return ProbableFamilyMember(
      customerID: id, originalTransactionID: theirs.originalTransactionID, ownership: theirs.ownership,
      confidence: min(0.95, max(0.05, confidence)), grounds: grounds)
  }
}

extension TransactionFact {
  /// Whether Family Sharing applies: to subscriptions and non-consumables, not to seats.
  package var canBeShared: Bool {
    (type == .autoRenewableSubscription || type == .nonConsumable) && ownership != .assigned
  }

  /// The instant that is equal in all shared copies of a purchase: the end of the period, or the purchase
  /// date.
  package var sharedInstant: Instant { expiresDate ?? purchaseDate }
}

extension TransactionDetails {
  /// Whether the `appTransactionId`s do not show the same Apple account.
  fileprivate func hasDifferentAccount(from other: TransactionDetails) -> Bool {
    appTransactionID == nil || appTransactionID != other.appTransactionID
  }
}
