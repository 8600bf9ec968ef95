internal import AppStore
internal import JSON
internal import Store

/// An entry may name a thousand customers, and the replica that encodes entries limits their number.
private let limits = JSONLimits(maximumBytes: .max)

extension [AuditEntry] {
  /// The entries as JSON in the inbox.
  var encoded: [UInt8] { JSONValue.array(map { .object($0.object) }).serialized() }

  /// - Returns: `nil` for bytes that are not encoded entries.
  init?(decoding bytes: [UInt8]) {
    guard let objects = try? JSONValue(parsing: bytes, limits: limits).arrayValue else { return nil }
    self = objects.compactMap { $0.objectValue.map(AuditEntry.init) }
  }
}

extension AuditEntry {
  fileprivate var object: JSONObject {
    var object: JSONObject = [
      "at": .number(JSONNumber(at.millisecondsSince1970)), "caller": .string(caller), "actor": .string(actor),
      "method": .string(method), "app": .string(appID),
      "customers": .array(customerIDs.map(JSONValue.string)), "subject": .string(subject),
      "note": .string(note), "outcome": .string(outcome), "requestID": .string(requestID),
      "address": .string(address),
    ]
    for (name, instant) in [("asOf", asOf), ("knownAt", knownAt)] {
      object[name] = instant.map { JSONValue.number(JSONNumber($0.millisecondsSince1970)) }
    }
    return object
  }

  fileprivate init(_ object: JSONObject) {
    func text(_ name: String) -> String { object[name]?.stringValue ?? "" }
    func instant(_ name: String) -> Instant? {
      object[name]?.int64Value.map(Instant.init(millisecondsSince1970:))
    }
    self.init(
      at: Instant(millisecondsSince1970: object["at"]?.int64Value ?? 0), caller: text("caller"),
      actor: text("actor"), method: text("method"), appID: text("app"),
      customerIDs: object["customers"]?.texts ?? [], subject: text("subject"), note: text("note"),
      outcome: text("outcome"), requestID: text("requestID"), address: text("address"),
      asOf: instant("asOf"), knownAt: instant("knownAt"))
  }
}
