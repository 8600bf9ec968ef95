/// Why an order cannot be filled. Each names what there is instead.
package enum PurchaseRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  case malformedJSON(String)
  case missingMember(String)
  case unknownMember(String, known: [String])
  case wrongType(member: String, expected: String)
  case unknownApp(String, known: [String])
  case unknownProduct(String, known: [String])
  case invalidAppAccountToken
  case invalidQuantity(allowed: ClosedRange<Int64>)
  case purchaseDateInFuture
  /// A document was asked for that only subscriptions have.
  case notASubscription(String)

  /// A code for machines.
  package var code: String {
    switch self {
    case .malformedJSON: "MALFORMED_JSON"
    case .missingMember: "MISSING_MEMBER"
    case .unknownMember: "UNKNOWN_MEMBER"
    case .wrongType: "WRONG_TYPE"
    case .unknownApp: "UNKNOWN_APP"
    case .unknownProduct: "UNKNOWN_PRODUCT"
    case .invalidAppAccountToken: "INVALID_APP_ACCOUNT_TOKEN"
    case .invalidQuantity: "INVALID_QUANTITY"
    case .purchaseDateInFuture: "PURCHASE_DATE_IN_FUTURE"
    case .notASubscription: "NOT_A_SUBSCRIPTION"
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
    case .invalidAppAccountToken: "appAccountToken is not a UUID"
    case .invalidQuantity(let allowed):
      "quantity is not \(allowed.lowerBound == allowed.upperBound ? "1" : "1 to \(allowed.upperBound)")"
    case .purchaseDateInFuture: "purchaseDate is later than now"
    case .notASubscription(let productId): "\(productId) is no subscription, which this document is about"
    }
  }
}
