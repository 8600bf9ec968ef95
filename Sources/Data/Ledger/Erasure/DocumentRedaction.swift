internal import AppStore
internal import Bytes
internal import Entitlements
internal import JSON
internal import SignedData
internal import Store

/// Removes what identifies a person from stored evidence.
///
/// A signed document cannot change without breaking its signature. So its payload stays, with everything that money and
/// abuse of offers need, without the signature: an unsecured JWS (RFC 7515, appendix A.5). The verdict of the evidence
/// still says that the signature was verified on arrival. Documents that identify no person keep their signature.
struct DocumentRedaction {
  /// The erased customers.
  let customers: [(id: String, pseudonym: String)]
  /// The replacements of `appAccountToken`s, which are in lower case.
  let tokens: [String: String]
  /// The lines of erased customers that have no other owner: their request ids are the operator's names for deliveries
  /// to these customers.
  let lines: Set<LineKey>

  /// The members that identify a device, and the receipts inside notifications of version 1.
  private static let removedMembers: Set<String> = [
    "deviceVerification", "deviceVerificationNonce", "latest_receipt", "latest_expired_receipt",
  ]

  /// The content without the person; `nil` if it has nothing to remove. `belongsToPerson`: whether the evidence was
  /// submitted by, or is about, erased customers only; otherwise only their ids and tokens are removed.
  func content(of stored: StoredEvidence, belongsToPerson: Bool) -> EvidenceContent? {
    let evidence = stored.evidence
    guard let body = evidence.content.body else { return nil }
    if case .rejected = evidence.verdict { return belongsToPerson ? evidence.content.withoutBody : nil }
    switch evidence.kind {
    case .appReceipt: return belongsToPerson ? evidence.content.withoutBody : nil
    case .operatorCommand:
      guard let command = OperatorCommand(body) else {
        return belongsToPerson ? evidence.content.withoutBody : nil
      }
      let anonymous = self.command(command, stored, belongsToPerson)
      guard anonymous != command else { return nil }
      return EvidenceContent(hashing: anonymous.encoded(number: stored.id))
    default: return redacted(body, stored.id, belongsToPerson).map { EvidenceContent(hashing: $0) }
    }
  }

  /// The ids and tokens of erased customers, in lower case.
  typealias Names = Set<String>

  var names: Names { Set(customers.map { $0.id.lowercased() }).union(tokens.keys) }

  /// Whether a body contains one of the names as a whole JSON string, also inside its signed parts. Rejected evidence
  /// may be anything, so it is searched without parsing.
  static func body(_ body: [UInt8], contains names: Names) -> Bool {
    texts(in: String(decoding: body, as: UTF8.self), depth: 0).contains { text in
      text.split(separator: "\"").contains { names.contains($0.lowercased()) }
    }
  }

  /// A text, and the decoded segments of each JWS in it.
  private static func texts(in text: String, depth: Int) -> [String] {
    guard depth < 4 else { return [text] }
    let segments = text.split { "\". ".contains($0) }.filter { $0.hasPrefix("eyJ") }
    return [text]
      + segments.compactMap { Base64.url.decode($0) }
      .flatMap { texts(in: String(decoding: $0, as: UTF8.self), depth: depth + 1) }
  }

  /// A command in which pseudonyms replace the ids and tokens of erased customers.
  private func command(
    _ command: OperatorCommand, _ stored: StoredEvidence, _ belongsToPerson: Bool
  ) -> OperatorCommand {
    var command = command
    for (id, pseudonym) in customers
    where belongsToPerson || command.customerIDs.contains(where: { $0.hasSameBytes(as: id) }) {
      command = command.erasing(id, as: pseudonym, tokens: tokens)
    }
    return command.erasingRequestIDs(of: lines, stored)
  }

  /// The document without the person; `nil` if nothing in it identifies one. `id` makes the results of two documents
  /// differ, because equal bytes are one evidence.
  private func redacted(_ body: [UInt8], _ id: EvidenceID, _ belongsToPerson: Bool) -> [UInt8]? {
    let document = DocumentContent(
      tokens: tokens, removed: belongsToPerson ? Self.removedMembers : [],
      mark: .number(JSONNumber(id.rawValue)))
    return document.redacted(body)
  }
}

/// The recursive part: the members of a document and of the documents inside it.
private struct DocumentContent {
  private static let tokenMembers: Set<String> = ["appAccountToken", "app_account_token"]

  let tokens: [String: String]
  let removed: Set<String>
  let mark: JSONValue

  func redacted(_ body: [UInt8]) -> [UInt8]? {
    if let jws = redactedJWS(String(decoding: body, as: UTF8.self)) { return Array(jws.utf8) }
    guard case .object(let object)? = try? JSONValue(parsing: body), var changed = redacted(object) else {
      return nil
    }
    changed["redacted"] = mark
    return JSONValue.object(changed).serialized()
  }

  private func redactedJWS(_ text: String) -> String? {
    guard text.hasPrefix("eyJ"), let jws = try? UnverifiedJWS(text), let payload = redacted(jws.payload)
    else { return nil }
    let header: JSONObject = ["alg": "none", "redacted": mark]
    let segments = [header, payload].map { Base64.url.encode(JSONValue.object($0).serialized()) }
    return segments.joined(separator: ".") + "."
  }

  /// An object without what identifies a person, at any depth; `nil` if it has nothing of that.
  private func redacted(_ object: JSONObject) -> JSONObject? {
    var changed: JSONObject?
    for (name, value) in object {
      if removed.contains(name) {
        changed = changed ?? object
        changed?[name] = nil
      } else if let new = redacted(value, named: name) {
        changed = changed ?? object
        changed?[name] = new
      }
    }
    return changed
  }

  /// A value without what identifies a person; `nil` if it stays the same. A text can be a JWS, whose
  /// payload is redacted then.
  private func redacted(_ value: JSONValue, named name: String) -> JSONValue? {
    switch value {
    case .string(let text):
      if Self.tokenMembers.contains(name) { return tokens[text.lowercased()].map(JSONValue.string) }
      return redactedJWS(text).map(JSONValue.string)
    case .object(let object): return redacted(object).map(JSONValue.object)
    case .array(let values):
      let new = values.map { redacted($0, named: name) }
      guard new.contains(where: { $0 != nil }) else { return nil }
      return .array(zip(values, new).map { $1 ?? $0 })
    default: return nil
    }
  }
}

extension EvidenceContent {
  /// The content reduced to hash and size.
  var withoutBody: EvidenceContent { EvidenceContent(hash: hash, size: size, body: nil) }
}
