package import AppStore
internal import Bytes
package import JSON

/// The format of a submitted document, recognized without verification.
package enum RecognizedDocument: Hashable, Sendable {
  /// A signed document of any kind, bare or as the body in which Apple sends it (`{"signedPayload": ...}`).
  case jws(String)
  /// A server notification, version 1, which is unsigned.
  case notificationV1(ResponseBodyV1)
  /// An app receipt, PKCS#7 in DER or BER.
  case appReceipt([UInt8])
  /// A receipt for one transaction, from before iOS 7: a property list.
  case transactionReceipt([UInt8])
}

/// The reason a document's format is not recognized.
package enum UnrecognizedDocument: Error, Hashable, Sendable {
  /// There is nothing but white space.
  case empty
  /// It is larger than ``RecognizedDocument/maximumBytes``.
  case tooLarge(bytes: Int, limit: Int)
  /// Starts like a Base64 receipt, or has characters that no format has, and is not Base64 for the reason given.
  case notBase64(String)
  /// Base64, but not of a receipt.
  case notAReceipt
  /// Base64 of a receipt that was Base64 already.
  case encodedTwice
  /// It begins like JSON and is none.
  case malformedJSON(JSONError)
  /// JSON of no known format.
  case unknownJSON
  /// It is JSON of a known format with a member of the wrong type.
  case malformedField(PayloadError)
  /// No known format.
  case unknown
}

extension RecognizedDocument {
  /// The maximum size in bytes: a receipt of some ten thousand purchases.
  package static let maximumBytes = 16 << 20

  /// Recognizes a document by its first bytes, and JSON by its members.
  /// Nothing is verified. White space around a text is ignored.
  ///
  /// - Throws: ``UnrecognizedDocument/tooLarge(bytes:limit:)`` before anything is parsed; otherwise the reason for
  ///   which it is none of the formats.
  package init(_ document: [UInt8]) throws(UnrecognizedDocument) {
    guard document.count <= Self.maximumBytes else {
      throw .tooLarge(bytes: document.count, limit: Self.maximumBytes)
    }
    if startsLikeASN1(document) {
      self = .appReceipt(document)
      return
    }
    let text = document[...].trimmed
    guard let first = text.first else { throw .empty }
    if first == UInt8(ascii: "{") {
      self = try Self.object(text)
    } else {
      self = try Self.text(text)
    }
  }

  /// Recognizes a document that starts with a brace: JSON, or the property list of a transaction receipt.
  private static func object(_ text: ArraySlice<UInt8>) throws(UnrecognizedDocument) -> RecognizedDocument {
    guard !isPropertyList(text) else { return .transactionReceipt(Array(text)) }
    let json: JSONValue
    do { json = try JSONValue(parsing: Array(text), limits: .ofDocuments, duplicates: .rejected) } catch {
      throw .malformedJSON(error)
    }
    guard case .object(let object) = json else { throw .unknownJSON }
    if case .string(let document)? = object["signedPayload"] { return .jws(document) }
    if case .string(let receipt)? = object["receipt-data"] {
      return try receiptText(Array(receipt.utf8)[...])
    }
    guard object["notification_type"] != nil else { throw .unknownJSON }
    do { return .notificationV1(try ResponseBodyV1(json: object)) } catch { throw .malformedField(error) }
  }

  private static func text(_ text: ArraySlice<UInt8>) throws(UnrecognizedDocument) -> RecognizedDocument {
    try text.contains(UInt8(ascii: ".")) ? jws(text) : receiptText(text)
  }

  /// Recognizes a receipt in Base64, with or without line breaks.
  private static func receiptText(_ text: ArraySlice<UInt8>) throws(UnrecognizedDocument)
    -> RecognizedDocument
  {
    let bytes: [UInt8]
    do throws(Base64Fault) { bytes = try Base64.standard.decodeLines(text) } catch {
      // A JWS that was cut before its first dot.
      if startsLikeJWS(text) { return try jws(text) }
      guard startsLikeReceipt(text) || !text.allSatisfy(isBase64) else { throw .unknown }
      throw .notBase64(error.explanation(for: .standard))
    }
    if let receipt = receipt(bytes) { return receipt }
    if startsLikeJWS(text) { return try jws(text) }
    let isEncodedTwice = (try? Base64.standard.decodeLines(bytes[...])).flatMap(receipt) != nil
    throw isEncodedTwice ? .encodedTwice : .notAReceipt
  }

  /// Recognizes decoded bytes as a receipt; `nil` if they are none.
  private static func receipt(_ bytes: [UInt8]) -> RecognizedDocument? {
    if startsLikeASN1(bytes) { return .appReceipt(bytes) }
    let content = bytes[...].trimmed
    return content.first == UInt8(ascii: "{") && isPropertyList(content) ? .transactionReceipt(bytes) : nil
  }

  private static func jws(_ text: ArraySlice<UInt8>) throws(UnrecognizedDocument) -> RecognizedDocument {
    guard let document = String(validating: text, as: UTF8.self) else { throw .unknown }
    return .jws(document)
  }
}

/// Whether `bytes` start with a SEQUENCE or an OCTET STRING whose length needs more than one byte or is
/// indefinite: no text has such a second byte.
private func startsLikeASN1(_ bytes: [UInt8]) -> Bool {
  guard bytes.count > 1, (0x80...0x84).contains(bytes[1]) else { return false }
  return [0x30, 0x04, 0x24].contains(bytes[0])
}

/// Whether `text` starts like the Base64 of ASN.1 or of a brace and a line break.
private func startsLikeReceipt(_ text: ArraySlice<UInt8>) -> Bool {
  ["MI", "BI", "JI", "ew"].contains { text.starts(with: $0.utf8) }
}

/// Whether `text` starts like the Base64 of a JSON object, as the header of a JWS does.
private func startsLikeJWS(_ text: ArraySlice<UInt8>) -> Bool { text.starts(with: "eyJ".utf8) }

/// Whether a byte occurs in Base64 of either alphabet or between its lines.
private func isBase64(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
    UInt8(ascii: "_"), UInt8(ascii: "="):
    true
  default: byte.isWhitespace
  }
}

/// Whether an equals sign, instead of JSON's colon, follows the first name.
private func isPropertyList(_ text: ArraySlice<UInt8>) -> Bool {
  let rest = text.dropFirst().trimmed
  let quote = UInt8(ascii: "\"")
  let name = rest.first == quote ? rest.dropFirst().prefix { $0 != quote } : rest.prefix { isWord($0) }
  let separator = rest[name.endIndex...].first { !$0.isWhitespace && $0 != quote }
  return !name.isEmpty && separator == UInt8(ascii: "=")
}

private func isWord(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || Character(Unicode.Scalar(byte)).isLetter
}

extension UnrecognizedDocument: CustomStringConvertible {
  /// The reason code, like ``VerificationError/reason``.
  package var reason: String {
    switch self {
    case .empty: "EMPTY_DOCUMENT"
    case .tooLarge: "DOCUMENT_TOO_LARGE"
    case .notBase64: "NOT_BASE64"
    case .notAReceipt, .encodedTwice: "NOT_A_RECEIPT"
    case .malformedJSON: "MALFORMED_JSON"
    case .unknownJSON: "UNKNOWN_DOCUMENT"
    case .malformedField: "MALFORMED_FIELD"
    case .unknown: "NOT_A_JWS"
    }
  }

  /// A message for people.
  package var description: String {
    switch self {
    case .empty: "the document is empty"
    case .tooLarge(let bytes, let limit): "the document has \(bytes) bytes, more than the limit of \(limit)"
    case .notBase64(let detail): "the document is not base64: \(detail)"
    case .notAReceipt: "the document is base64, but not a receipt"
    case .encodedTwice: "the receipt is base64-encoded twice; encode its bytes once"
    case .malformedJSON(let error): "the document is not JSON: \(error)"
    case .unknownJSON: "the document is JSON of no known format"
    case .malformedField(let error): "malformed document: \(error)"
    case .unknown: "the document is neither a JWS, nor a receipt, nor a notification"
    }
  }
}
