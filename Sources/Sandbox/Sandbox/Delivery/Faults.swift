internal import JSON

/// What is to go wrong on purpose: of each kind, the next so many times.
struct Faults: Sendable {
  enum Kind: String, Hashable, Sendable, CaseIterable {
    // Notifications.
    /// Never arrives; Apple's history says that nobody answered.
    case drop
    /// Arrives later, by the sandbox's clock.
    case delay
    case duplicate
    /// Arrives after the one that follows it.
    case reorder
    // Everything signed that is handed out.
    case wrongSignature = "wrong-signature"
    /// Signed rightly, with a chain that only looks like Apple's.
    case foreignChain = "foreign-chain"
    // The Server API and verifyReceipt.
    case rateLimit = "rate-limit"
    case serverError = "server-error"
    case slow
    case cut
    case html
    case empty
    case truncated
    /// Every page says that there is another one, at the same place.
    case pageLoop = "page-loop"
    /// The token is refused by a server whose clock is another one.
    case clockOff = "clock-off"
    // The certificates' authority.
    /// Nobody answers there.
    case ocspDown = "ocsp-down"
    case ocspSlow = "ocsp-slow"
    /// The certificates were taken back a minute ago.
    case ocspRevoked = "ocsp-revoked"
    /// The authority says that it does not know the certificates.
    case ocspUnknown = "ocsp-unknown"
  }

  private struct Fault: Sendable {
    var count: Int64
    /// Milliseconds.
    var length: Int64
    /// Of so many only one goes wrong.
    var every: Int64
    var passed: Int64 = 0
  }

  private var faults: [Kind: Fault] = [:]
  private static let defaultLength: Int64 = 60_000

  /// Sets a fault up: `{"kind": "delay", "count": 3, "by": "1h", "every": 2}`.
  mutating func set(_ parameters: Parameters) throws(ActionError) {
    try parameters.allow(only: ["kind", "count", "by", "every"])
    let name = try parameters.choice("kind", of: Kind.allCases.map(\.rawValue))
    guard let kind = Kind(rawValue: name) else { return }
    let count = try parameters.integerIfPresent("count") ?? 1
    let length = try parameters.durationIfPresent("by") ?? Self.defaultLength
    let every = try parameters.json["every"].map { _ throws(ActionError) in
      try parameters.integer("every", in: 1...1_000_000)
    }
    faults[kind] = count > 0 ? Fault(count: count, length: length, every: every ?? 1) : nil
  }

  mutating func clear() { faults = [:] }

  /// Whether it is this one's turn to go wrong; counts it. The length of a delay, in milliseconds, if so.
  mutating func take(_ kind: Kind) -> Int64? {
    guard var fault = faults[kind] else { return nil }
    fault.passed += 1
    let isItsTurn = fault.passed % fault.every == 0
    if isItsTurn { fault.count -= 1 }
    faults[kind] = fault.count > 0 ? fault : nil
    return isItsTurn ? fault.length : nil
  }

  /// What is set up.
  var json: JSONObject {
    JSONObject(
      Kind.allCases.compactMap { kind in
        faults[kind].map { (kind.rawValue, JSONValue($0.count)) }
      })
  }

  /// A signed document with another signature.
  static func falsified(_ document: String) -> String {
    document.hasSuffix("AAAA") ? document.dropLast(4) + "BBBB" : document.dropLast(4) + "AAAA"
  }

  /// An answer in which all that is signed was changed.
  static func changed(_ value: JSONValue, _ change: (String) -> String) -> JSONValue {
    switch value {
    case .string(let text) where text.hasPrefix("eyJ"): .string(change(text))
    case .array(let values): .array(values.map { changed($0, change) })
    case .object(let object): .object(JSONObject(object.map { ($0.name, changed($0.value, change)) }))
    default: value
    }
  }
}
