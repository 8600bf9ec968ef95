/// Why the simulated App Store did not do what a tester asked. Each names what there is instead.
package enum ActionError: Error, Hashable, Sendable, CustomStringConvertible {
  case malformedJSON(String)
  case missingMember(String)
  case unknownMember(String, known: [String])
  case wrongType(member: String, expected: String)
  case unknownApp(String, known: [String])
  case unknownProduct(String, known: [String])
  case unknownTransaction(String)
  /// Something else that was named is not there.
  case unknown(what: String, name: String, known: [String])
  case invalidAppAccountToken
  case invalidQuantity(allowed: ClosedRange<Int64>)
  case purchaseDateInFuture
  /// Something was asked for that only subscriptions have.
  case notASubscription(String)
  /// The offer is not for this customer; the text says why.
  case notEligible(offer: String, reason: String)
  /// The signature of the offer is not that of a registered key.
  case invalidOfferSignature(String)
  /// What was bought is not in a state in which this can happen.
  case notPossible(String)

  /// A code for machines.
  package var code: String {
    switch self {
    case .malformedJSON: "MALFORMED_JSON"
    case .missingMember: "MISSING_MEMBER"
    case .unknownMember: "UNKNOWN_MEMBER"
    case .wrongType: "WRONG_TYPE"
    case .unknownApp: "UNKNOWN_APP"
    case .unknownProduct: "UNKNOWN_PRODUCT"
    case .unknownTransaction: "UNKNOWN_TRANSACTION"
    case .unknown: "UNKNOWN_NAME"
    case .invalidAppAccountToken: "INVALID_APP_ACCOUNT_TOKEN"
    case .invalidQuantity: "INVALID_QUANTITY"
    case .purchaseDateInFuture: "PURCHASE_DATE_IN_FUTURE"
    case .notASubscription: "NOT_A_SUBSCRIPTION"
    case .notEligible: "NOT_ELIGIBLE"
    case .invalidOfferSignature: "INVALID_OFFER_SIGNATURE"
    case .notPossible: "NOT_POSSIBLE"
    }
  }

  /// A sentence for people.
  package var description: String {
    switch self {
    case .malformedJSON(let detail): "the body is not a JSON object: \(detail)"
    case .missingMember(let name): "\(name) is missing"
    case .unknownMember(let name, let known):
      "there is no member \(name.debugDescription); there are \(known.joined(separator: ", "))"
    case .wrongType(let member, let expected): "\(member) is not \(expected)"
    case .unknownApp(let id, let known):
      "there is no app \(id.debugDescription); there are: \(known.joined(separator: ", "))"
    case .unknownProduct(let id, let known):
      "there is no product \(id.debugDescription); there are: \(known.joined(separator: ", "))"
    case .unknownTransaction(let id): "there is no transaction \(id.debugDescription)"
    case .unknown(let what, let name, let known):
      "there is no \(what) \(name.debugDescription); there are: \(known.joined(separator: ", "))"
    case .invalidAppAccountToken: "appAccountToken is not a UUID"
    case .invalidQuantity(let allowed):
      "quantity is not \(allowed.lowerBound == allowed.upperBound ? "1" : "1 to \(allowed.upperBound)")"
    case .purchaseDateInFuture: "purchaseDate is later than now"
    case .notASubscription(let id): "\(id) is no subscription, and only subscriptions have this"
    case .notEligible(let offer, let reason): "the offer \(offer) is not for this customer: \(reason)"
    case .invalidOfferSignature(let reason): "the offer's signature does not count: \(reason)"
    case .notPossible(let reason): reason
    }
  }
}
