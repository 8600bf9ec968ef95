package import SignedData

/// An error of the simulator.
package enum SandboxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The tester's request was rejected; the request must be changed.
  case actionFailed(ActionError)
  /// A file or directory cannot be read or written; `detail` is the system's text.
  case unusable(path: String, detail: String)
  /// Another process uses the directory.
  case inUse(path: String)
  /// A state file is missing or malformed.
  case corrupt(path: String, detail: String)
  /// A newer version of the program wrote the state.
  case newerSchema(path: String, found: Int, supported: Int)
  /// OpenSSL could not create a key or a signature.
  case cryptographyFailed(CryptographyError)

  package var description: String {
    switch self {
    case .actionFailed(let error): error.description
    case .unusable(let path, let detail): "cannot use \(path): \(detail)"
    case .inUse(let path): "another sandbox is using \(path); end it, or use another directory"
    case .corrupt(let path, let detail): "\(path) is corrupt: \(detail)"
    case .newerSchema(let path, let found, let supported):
      "\(path) has schema version \(found), and this program knows versions up to \(supported)"
    case .cryptographyFailed(let error): error.description
    }
  }
}

/// The reason why the simulator rejected an action. The texts name the valid alternatives.
package enum ActionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The body is no JSON object.
  case malformedJSON(String)
  /// A required member is absent or null.
  case missingMember(String)
  /// The body has a member that the action does not know, which is probably misspelled.
  case unknownMember(String, known: [String])
  /// A member has a value of another type or outside of its range.
  case wrongType(member: String, expected: String)
  case unknownApp(String, known: [String])
  case unknownProduct(String, known: [String])
  /// Neither an id of a transaction of this world nor a reference to one.
  case unknownTransaction(String)
  /// The configuration lacks a setting without which the product cannot be sold.
  case incompleteProduct(String, missing: String)
  /// Another name in the request is unknown.
  case unknown(what: String, name: String, known: [String])
  case invalidAppAccountToken
  /// StoreKit does not sell this number of the product at once.
  case invalidQuantity(allowed: ClosedRange<Int64>)
  /// A purchase can be recorded late, but not ahead of time.
  case purchaseDateInFuture
  /// The action requires a subscription.
  case notASubscription(String)
  /// The customer is not eligible for the offer.
  case notEligible(offer: String, reason: String)
  /// The offer signature does not verify with a registered key.
  case invalidOfferSignature(String)
  /// The purchase or account is in a state that does not allow the action.
  case notPossible(String)

  /// The stable error code.
  package var code: String {
    switch self {
    case .malformedJSON: "MALFORMED_JSON"
    case .missingMember: "MISSING_MEMBER"
    case .unknownMember: "UNKNOWN_MEMBER"
    case .wrongType: "WRONG_TYPE"
    case .unknownApp: "UNKNOWN_APP"
    case .unknownProduct: "UNKNOWN_PRODUCT"
    case .unknownTransaction: "UNKNOWN_TRANSACTION"
    case .incompleteProduct: "INCOMPLETE_PRODUCT"
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

  /// A text for people.
  package var description: String {
    switch self {
    case .malformedJSON(let detail): "malformed body: \(detail); expected a JSON object"
    case .missingMember(let name): "\(name) is missing"
    case .unknownMember(let name, let known):
      "unknown member \(name.debugDescription); expected one of \(known.joined(separator: ", "))"
    case .wrongType(let member, let expected): "'\(member)' has a wrong value; expected \(expected)"
    case .unknownApp(let id, let known):
      "unknown app \(id.debugDescription); expected one of \(known.joined(separator: ", "))"
    case .unknownProduct(let id, let known):
      "unknown product \(id.debugDescription); expected one of \(known.joined(separator: ", "))"
    case .unknownTransaction(let id): "unknown transaction \(id.debugDescription)"
    case .incompleteProduct(let id, let missing):
      "product '\(id)' has no \(missing); add \(missing) to the product in the configuration"
    case .unknown(let what, let name, let known):
      "unknown \(what) \(name.debugDescription); expected one of \(known.joined(separator: ", "))"
    case .invalidAppAccountToken: "appAccountToken is not a UUID"
    case .invalidQuantity(let allowed):
      "quantity must be \(allowed.lowerBound == allowed.upperBound ? "1" : "1 to \(allowed.upperBound)")"
    case .purchaseDateInFuture: "purchaseDate is in the future"
    case .notASubscription(let id): "\(id) is not a subscription"
    case .notEligible(let offer, let reason): "the customer is not eligible for offer '\(offer)': \(reason)"
    case .invalidOfferSignature(let reason): "invalid offer signature: \(reason)"
    case .notPossible(let reason): reason
    }
  }
}
