internal import AppStore
internal import JSON
internal import RPC

/// The documents that a device submits.
struct DeviceSyncRequest: Sendable {
  /// The maximum number of transactions in one request.
  private static let maxTransactions = 100
  /// In bytes of UTF-8.
  private static let maxInstallationID = 128

  /// The JWS of the app transaction; not empty.
  let signedAppTransaction: String
  /// The JWS of each transaction, each once; none for an app that was bought without a purchase in it.
  let signedTransactions: [String]
  /// A random id that the app stores with its data; `nil` if the device is identified by ``deviceVerificationID``.
  let installationID: String?
  /// `AppStore.deviceVerificationID`, in lower case.
  let deviceVerificationID: String?

  /// Parses the body. Unknown members are rejected, so that an app learns of a misspelled one.
  ///
  /// - Throws: `MALFORMED_MESSAGE`, `INVALID_FIELD`, `MISSING_FIELD`, `FIELD_TOO_LONG` or `TOO_MANY_TRANSACTIONS`.
  init(_ body: [UInt8]) throws(Status) {
    let content: JSONValue
    do throws(JSONError) {
      content = try JSONValue(parsing: body, limits: .ofRequests, duplicates: .rejected)
    } catch {
      throw Status(.invalidArgument, reason: "MALFORMED_MESSAGE", "the body is not JSON: \(error)".excerpt)
    }
    guard let members = content.objectValue else {
      throw Status(
        .invalidArgument, reason: "MALFORMED_MESSAGE", "the body is \(content.kind), not an object")
    }
    let known = ["signedAppTransaction", "signedTransactions", "installationId", "deviceVerificationId"]
    if let unknown = members.first(where: { !known.contains($0.name) })?.name {
      throw Self.invalid(unknown.excerpt, "there is no member '\(unknown.excerpt)'")
    }
    guard let document = try Self.text("signedAppTransaction", of: members) else {
      throw Self.missing("signedAppTransaction")
    }
    signedAppTransaction = document
    signedTransactions = try Self.texts("signedTransactions", of: members)
    installationID = try Self.identifier("installationId", of: members)
    deviceVerificationID = try Self.identifier("deviceVerificationId", of: members)?.lowercased()
    guard installationID != nil || deviceVerificationID != nil else { throw Self.missing("installationId") }
  }

  /// A text; `nil` if the member is missing, null or empty.
  private static func text(_ name: String, of members: JSONObject) throws(Status) -> String? {
    guard let value = members[name], !value.isNull else { return nil }
    guard let text = value.stringValue else { throw invalid(name, "\(name) is \(value.kind), not a string") }
    return text.isEmpty ? nil : text
  }

  /// The id of an installation; `nil` if the member is missing, null or empty.
  private static func identifier(_ name: String, of members: JSONObject) throws(Status) -> String? {
    guard let text = try text(name, of: members) else { return nil }
    guard text.utf8.count <= maxInstallationID else {
      throw Status(
        .invalidArgument, reason: "FIELD_TOO_LONG", "\(name) has more than \(maxInstallationID) bytes",
        field: name)
    }
    return text
  }

  /// The documents in a member, each once; none if the member is missing or null.
  ///
  /// - Throws: `INVALID_FIELD`, or `TOO_MANY_TRANSACTIONS` above ``maxTransactions``.
  private static func texts(_ name: String, of members: JSONObject) throws(Status) -> [String] {
    guard let value = members[name], !value.isNull else { return [] }
    guard let items = value.arrayValue else { throw invalid(name, "\(name) is \(value.kind), not an array") }
    guard items.count <= maxTransactions else {
      throw Status(
        .invalidArgument, reason: "TOO_MANY_TRANSACTIONS",
        "a request takes at most \(maxTransactions) transactions, this one has \(items.count)", field: name)
    }
    var texts: [String] = []
    for item in items {
      guard let text = item.stringValue, !text.isEmpty else {
        throw invalid(name, "\(name) has an item that is no document")
      }
      // Once each: a repeated document proves nothing more.
      if !texts.contains(text) { texts.append(text) }
    }
    return texts
  }

  private static func missing(_ name: String) -> Status {
    .missingField(name, "\(name) is empty")
  }

  private static func invalid(_ name: String, _ problem: String) -> Status {
    .invalidField(name, problem)
  }
}
