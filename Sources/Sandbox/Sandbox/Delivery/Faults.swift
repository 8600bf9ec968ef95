internal import AppStore
internal import JSON

/// The faults that a tester has set: each kind applies to the next `count` opportunities, or to every n-th of them.
/// They are not part of the journal, so a restart has none.
package struct Faults: Sendable {
  /// A kind of fault. The raw values are names in the sandbox's HTTP interface.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    // Notifications.
    /// The notification is never sent; Apple's history shows `NO_RESPONSE`.
    case drop
    /// The notification is sent later, in simulated time.
    case delay
    /// The notification is sent twice.
    case duplicate
    /// The notification is sent after its successor.
    case reorder
    // Every signed document.
    /// The signature does not verify.
    case wrongSignature = "wrong-signature"
    /// A valid signature under a foreign certificate chain.
    case foreignChain = "foreign-chain"
    // The Server API and verifyReceipt.
    /// The response is 429 with a time to retry.
    case rateLimit = "rate-limit"
    /// The response is Apple's general error, 500.
    case serverError = "server-error"
    /// The response comes later, in machine time.
    case slow
    /// The connection is closed without a response.
    case cut
    /// The response is a page of HTML with status 200, as that of a captive network.
    case html
    /// The response has status 200 and no body.
    case empty
    /// The body ends in the middle.
    case truncated
    /// Every page claims that there is another page and repeats the same token.
    case pageLoop = "page-loop"
    /// The next page token of the notification history is expired.
    case tokenExpired = "token-expired"
    /// The response is 401 with a `Date` header that is off by the given duration.
    case clockOff = "clock-off"
    // OCSP.
    /// The connection is closed without a response.
    case ocspDown = "ocsp-down"
    /// The response comes later, in machine time.
    case ocspSlow = "ocsp-slow"
    /// The certificates are reported as revoked one minute ago.
    case ocspRevoked = "ocsp-revoked"
    /// The certificates are reported as unknown.
    case ocspUnknown = "ocsp-unknown"
    // Lines of the reports of App Store Connect.
    /// The line is left out.
    case reportMissing = "report-missing"
    /// The line appears twice.
    case reportDoubled = "report-doubled"
    /// The line counts one more.
    case reportCount = "report-count"
    /// The line has larger proceeds.
    case reportProceeds = "report-proceeds"
  }

  private struct Fault: Sendable {
    var count: Int64
    /// Milliseconds, for the faults that delay something.
    var milliseconds: Int64
    /// The fault applies to every n-th opportunity.
    var every: Int64
    var passed: Int64 = 0
  }

  private var faults: [Kind: Fault] = [:]
  private static let defaultMilliseconds: Int64 = 60_000
  private static let maxPassed: Int64 = 1_000_000_000_000

  /// Sets a fault: `{"kind": "delay", "count": 3, "by": "1h", "every": 2}`. It replaces one of the same kind; a count
  /// of 0 ends it.
  ///
  /// - Throws: ``ActionError``, with the faults as they were.
  mutating func set(_ parameters: Parameters) throws(ActionError) {
    try parameters.allow(only: ["kind", "count", "by", "every"])
    let name = try parameters.choice("kind", of: Kind.allCases.map(\.rawValue))
    guard let kind = Kind(rawValue: name) else { return }
    let count = try parameters.integerIfPresent("count") ?? 1
    let milliseconds = try parameters.durationIfPresent("by") ?? Self.defaultMilliseconds
    let every = try parameters.json["every"].map { _ throws(ActionError) in
      try parameters.integer("every", in: 1...1_000_000)
    }
    faults[kind] = count > 0 ? Fault(count: count, milliseconds: milliseconds, every: every ?? 1) : nil
  }

  /// Ends all faults.
  mutating func clear() { faults = [:] }

  package init() {}

  /// The faults as objects, for a snapshot.
  var document: [JSONValue] {
    Kind.allCases.compactMap { kind in
      faults[kind].map { fault in
        [
          "kind": .string(kind.rawValue), "count": JSONValue(fault.count),
          "by": .string("\(fault.milliseconds)ms"), "every": JSONValue(fault.every),
          "passed": JSONValue(fault.passed),
        ]
      }
    }
  }

  /// Decodes the faults of a snapshot.
  init(document: [JSONValue]) throws(ActionError) {
    for value in document {
      guard var json = value.objectValue else { throw .wrongType(member: "faults", expected: "objects") }
      let passed = try Parameters(json).integerIfPresent("passed") ?? 0
      guard (0...Self.maxPassed).contains(passed) else {
        throw .wrongType(member: "passed", expected: "0 to \(Self.maxPassed)")
      }
      json["passed"] = nil
      try set(Parameters(json))
      if let kind = json["kind"]?.stringValue.flatMap(Kind.init) { faults[kind]?.passed = passed }
    }
  }

  /// Counts an opportunity. Returns the fault's duration in milliseconds if the fault applies, otherwise
  /// `nil`.
  mutating func take(_ kind: Kind) -> Int64? {
    guard var fault = faults[kind] else { return nil }
    fault.passed += 1
    let isItsTurn = fault.passed % fault.every == 0
    if isItsTurn { fault.count -= 1 }
    faults[kind] = fault.count > 0 ? fault : nil
    return isItsTurn ? fault.milliseconds : nil
  }

  /// The active faults and their remaining counts.
  var json: JSONObject {
    JSONObject(
      Kind.allCases.compactMap { kind in
        faults[kind].map { (kind.rawValue, JSONValue($0.count)) }
      })
  }

  /// The active faults.
  var views: [FaultView] {
    Kind.allCases.compactMap { kind in
      faults[kind].map {
        FaultView(kind: kind, left: $0.count, every: $0.every, milliseconds: $0.milliseconds)
      }
    }
  }

  /// Returns a signed document with an invalid signature.
  static func falsified(_ document: String) -> String {
    document.hasSuffix("AAAA") ? document.dropLast(4) + "BBBB" : document.dropLast(4) + "AAAA"
  }

  /// Returns a JSON value in which `change` was applied to every signed document.
  static func changed(_ value: JSONValue, _ change: (String) -> String) -> JSONValue {
    switch value {
    case .string(let text) where text.hasPrefix("eyJ"): .string(change(text))
    case .array(let values): .array(values.map { changed($0, change) })
    case .object(let object): .object(JSONObject(object.map { ($0.name, changed($0.value, change)) }))
    default: value
    }
  }
}
