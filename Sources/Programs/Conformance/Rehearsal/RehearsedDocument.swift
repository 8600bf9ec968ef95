internal import JSON
internal import SignedData

/// A document of a rehearsal, and whether a backend is to accept it.
package struct RehearsedDocument: Hashable, Sendable {
  /// The kinds of documents, in the words of the conformance kit.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A JWS of a transaction.
    case transaction
    case renewalInfo = "renewal-info"
    case appTransaction = "app-transaction"
    /// The body of a version 2 notification.
    case notification
    /// An app receipt in Base64, which cannot be forged here.
    case receipt
  }

  /// The signer of a document, and the state of its certificate.
  package enum Origin: String, Hashable, Sendable {
    /// The App Store signed it, with certificates in force. A backend that refuses it loses purchases.
    case genuine
    /// The App Store did not sign it. A backend that accepts it gives access without a purchase.
    case forged
    /// Its certificate was revoked. Only a backend that checks certificates online can know.
    case revoked
  }

  /// The kind of the document.
  package let kind: Kind
  /// The document as a backend receives it: of a notification the body, of a receipt its Base64, otherwise the JWS.
  package let text: String
  /// Whether a backend is to accept it.
  package let origin: Origin
  /// A description of the document for the report: the kind, and its difference from a new document.
  package let name: String

  /// Creates a document; without a name it has that of its kind.
  package init(_ kind: Kind, text: String, origin: Origin, name: String? = nil) {
    self.kind = kind
    self.text = text
    self.origin = origin
    self.name = name ?? kind.rawValue
  }

  /// The document of an earlier stage.
  func earlier() -> RehearsedDocument {
    RehearsedDocument(kind, text: text, origin: origin, name: "\(kind.rawValue) of the stage before")
  }

  /// The same document after its certificate was revoked.
  func revoked() -> RehearsedDocument {
    RehearsedDocument(
      kind, text: text, origin: .revoked, name: "\(kind.rawValue) of a revoked certificate")
  }

  /// The JWS; `nil` for a receipt.
  var jws: String? {
    switch kind {
    case .transaction, .renewalInfo, .appTransaction: text
    case .notification: (try? JSONValue(parsing: Array(text.utf8)).objectValue)?["signedPayload"]?.stringValue
    case .receipt: nil
    }
  }

  /// The `transactionId` of a transaction.
  var transactionID: String? {
    guard kind == .transaction, let jws = try? UnverifiedJWS(text) else { return nil }
    return jws.payload["transactionId"]?.stringValue
  }

  /// The text of a document of this kind with this JWS.
  static func text(_ kind: Kind, of jws: String) -> String {
    guard kind == .notification else { return jws }
    let body: JSONObject = ["signedPayload": .string(jws)]
    return String(decoding: body.serialized(), as: UTF8.self)
  }
}
