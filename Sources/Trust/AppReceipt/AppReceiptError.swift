internal import SignedData

/// Why bytes are not the content of an app receipt, or not a transaction receipt.
///
/// No case quotes what is inside.
package enum AppReceiptError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Not ASN.1, or not a set of attributes.
  case notAttributes(String)
  /// An attribute that is known holds something else than Apple puts there.
  case wrongValue(attribute: Int64, expected: String)
  /// More parts than any of Apple's receipts have; counted before anything was made of them.
  case tooMany(String, limit: Int)
  /// Not a property list of the kind that transaction receipts are.
  case notAPropertyList(String)

  package var description: String {
    switch self {
    case .notAttributes(let detail): "not a set of receipt attributes: \(detail)"
    case .wrongValue(let attribute, let expected): "the attribute \(attribute) is not \(expected)"
    case .tooMany(let parts, let limit): "more than \(limit) \(parts)"
    case .notAPropertyList(let detail): "not a transaction receipt's property list: \(detail)"
    }
  }
}

extension VerificationError {
  /// The same in the words of those who verify.
  init(_ error: AppReceiptError) {
    switch error {
    case .tooMany(let parts, let limit): self = .tooMany(parts, limit: limit)
    case .notAttributes, .wrongValue, .notAPropertyList: self = .notAReceipt(error.description)
    }
  }
}
