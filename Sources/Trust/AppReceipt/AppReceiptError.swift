internal import SignedData

/// The reason bytes are not the content of an app receipt or a transaction receipt. No case contains their
/// content.
package enum AppReceiptError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Not ASN.1, or not a set of attributes.
  case notAttributes(String)
  /// An attribute that Apple documents has a value of the wrong type.
  case wrongValue(attribute: Int64, expected: String)
  /// More parts than any of Apple's receipts; counted before parsing.
  case tooMany(String, limit: Int)
  /// Not a property list in the form of transaction receipts.
  case notAPropertyList(String)

  package var description: String {
    switch self {
    case .notAttributes(let detail): "not a set of receipt attributes: \(detail)"
    case .wrongValue(let attribute, let expected): "attribute \(attribute) is not \(expected)"
    case .tooMany(let parts, let limit): "more than \(limit) \(parts)"
    case .notAPropertyList(let detail): "not a transaction receipt's property list: \(detail)"
    }
  }
}

extension VerificationError {
  /// Maps the error to a verification error.
  init(_ error: AppReceiptError) {
    switch error {
    case .tooMany(let parts, let limit): self = .tooMany(parts, limit: limit)
    case .notAttributes, .wrongValue, .notAPropertyList: self = .notAReceipt(error.description)
    }
  }
}
