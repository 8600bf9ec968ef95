package import AppStore
package import Entitlements

/// Somebody who probably shares purchases with the customer who was asked about. It is a hint for people in
/// support; it never decides about access, since Apple gives no link between the two.
package struct ProbableFamilyMember: Hashable, Sendable {
  /// Who.
  package let customerID: String
  /// Apple's number of the line that speaks for it.
  package let originalTransactionID: String
  /// How that customer came to it.
  package let ownership: InAppOwnershipType
  /// From 0 to 1; never 1, since dates can agree by chance.
  package let confidence: Double
  /// What speaks for it and against it, in sentences.
  package let grounds: [String]
}

/// Somebody who might be of the family, and all that is known of them.
package struct FamilyCandidate: Hashable, Sendable {
  /// Who.
  package let customerID: String
  /// What is known of them.
  package let facts: CustomerFacts

  /// A candidate by its parts.
  package init(customerID: String, facts: CustomerFacts) {
    self.customerID = customerID
    self.facts = facts
  }
}

/// Who of the `candidates` probably shares purchases with the customer who has `facts`: the most probable
/// first.
///
/// A family member's transactions have the product and the dates of the purchaser's. So two customers are
/// taken to be of one family if one has as `FAMILY_SHARED` what the other has too, for periods that begin and
/// end at the same instant, in the same storefront. A family has six members at most and each purchase one
/// purchaser; where there are more who fit, each is the less probable.
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

/// Two lines of two customers that may be one purchase.
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

  /// `nil` if nothing speaks for it, or if both are of the same Apple account.
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
      "\(pairs.count == 1 ? "A period" : "\(pairs.count) periods") of \(their.productID) "
        + "\(their.expiresDate == nil ? "begin" : "end")\(pairs.count == 1 ? "s" : "") at the same moment.")
    add(0, "One has it as \(our.ownership.rawValue), the other as \(their.ownership.rawValue).")
    if their.expiresDate != nil, our.purchaseDate == their.purchaseDate {
      add(0.1, "The last of them begins at the same moment too.")
    }
    if let country = their.details.storefront, let ourCountry = our.details.storefront {
      let isSame = country == ourCountry
      add(
        isSame ? 0.1 : -0.4,
        isSame ? "Both bought in \(country)." : "One is in \(ourCountry), the other in \(country).")
    }
  }

  private mutating func add(_ weight: Double, _ ground: String) {
    confidence += weight
    grounds.append(ground)
  }

  func member(_ id: String, rivals: Int, of count: Int) -> ProbableFamilyMember {
    var (confidence, grounds) = (confidence, grounds)
    if rivals > 1 {
      confidence /= Double(rivals)
      grounds.append("\(rivals) customers who bought it fit, and a purchase has one purchaser.")
    }
    if count > 5 {
      confidence *= 5 / Double(count)
      grounds.append("\(count) customers fit, and a family has five others at most.")
    }
    return ProbableFamilyMember(
      customerID: id, originalTransactionID: theirs.originalTransactionID, ownership: theirs.ownership,
      confidence: min(0.95, max(0.05, confidence)), grounds: grounds)
  }
}

extension TransactionFact {
  /// Families share subscriptions and non-consumables; seats are another matter.
  package var canBeShared: Bool {
    (type == .autoRenewableSubscription || type == .nonConsumable) && ownership != .assigned
  }

  /// The instant that all who share it have in common: the end of the period, or when it was bought.
  package var sharedInstant: Instant { expiresDate ?? purchaseDate }
}

extension TransactionDetails {
  /// Whether nothing says that both are of one Apple account.
  fileprivate func hasDifferentAccount(from other: TransactionDetails) -> Bool {
    appTransactionID == nil || appTransactionID != other.appTransactionID
  }
}
