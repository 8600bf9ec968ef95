internal import AppStore
internal import Bytes
internal import JSON

/// An external purchase token, which the developer must report to Apple (External Purchase Server API; StoreKit:
/// "Receiving and decoding external purchase tokens").
struct ExternalToken: Hashable, Sendable {
  /// The token types of the custom link API. Tokens of the other APIs have none.
  enum Kind: String, Hashable, Sendable, CaseIterable {
    case acquisition = "ACQUISITION"
    case services = "SERVICES"
    case inApp = "IN_APP"
    case linkOut = "LINK_OUT"

    /// Whether Apple announces the token and sends reminders (Apple: subtype, `CREATED` and `ACTIVE_TOKEN_REMINDER`).
    /// Only these types can be reported as duplicates.
    var isAnnounced: Bool { self == .acquisition || self == .services }
  }

  /// The result of the developer's report: none yet, accepted, or a duplicate of another token.
  enum Report: Hashable, Sendable {
    case missing, received, duplicate
  }

  let app: String
  /// Begins with `SANDBOX`.
  let id: String
  let kind: Kind?
  let created: Instant
  /// `nil` for a token without type.
  let expires: Instant?
  var report = Report.missing
  /// Whether Apple has complained about the missing report.
  var isComplainedAbout = false
  /// The number of reminders sent.
  var reminders: Int64 = 0

  /// The lifetime of tokens in Sandbox (StoreKit: "Receiving and decoding external purchase tokens").
  static let sandboxLifetime: Int64 = 3_600_000
  /// The time that Apple grants for a report (External Purchase Server API: "Reporting unrecognized and transactionless
  /// tokens").
  private static let reportLimit = 10 * Instant.millisecondsPerDay
  /// Apple complains "soon" after an announced token has expired.
  private static let soon: Int64 = 60_000
  private static let reminderInterval = 30 * Instant.millisecondsPerDay

  /// The time of the complaint about a missing report; `nil` if there will be none.
  var complaintDate: Instant? {
    guard report == .missing, !isComplainedAbout else { return nil }
    let expired = kind?.isAnnounced == true ? expires?.advanced(byMilliseconds: Self.soon) : nil
    return [created.advanced(byMilliseconds: Self.reportLimit), expired].compactMap(\.self).min()
  }

  /// The time of the next monthly reminder; `nil` for tokens that are expired by then or reported as duplicates.
  var reminderDate: Instant? {
    guard kind?.isAnnounced == true, report != .duplicate, let expires else { return nil }
    let next = created.advanced(byMilliseconds: (reminders + 1) * Self.reminderInterval)
    return next < expires ? next : nil
  }

  /// The time of the next notification.
  var due: Instant? { [complaintDate, reminderDate].compactMap(\.self).min() }

  /// The content of the token and of its notifications (Apple: externalPurchaseToken).
  func json(_ identity: AppIdentity?) -> JSONObject {
    JSONObject(present: [
      ("externalPurchaseId", .string(id)), ("tokenCreationDate", JSONValue(created)),
      ("appAppleId", identity.flatMap { $0.appAppleID.map { JSONValue($0) } }),
      ("bundleId", identity.map { .string($0.bundleID) }),
      ("tokenType", kind.map { .string($0.rawValue) }),
      ("tokenExpirationDate", expires.map { JSONValue($0) }),
    ])
  }
}

/// External purchases.
extension World {
  /// Creates a token, as StoreKit does when a customer chooses an external purchase.
  mutating func createExternalToken(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let app = try appID(parameters)
    var kind: ExternalToken.Kind?
    if parameters.json["tokenType"] != nil {
      let name = try parameters.choice("tokenType", of: ExternalToken.Kind.allCases.map(\.rawValue))
      kind = ExternalToken.Kind(rawValue: name)
    }
    let lifetime = try parameters.durationIfPresent("expires")
    guard lifetime == nil || kind != nil else { throw .notPossible("'expires' requires a tokenType") }
    let token = ExternalToken(
      app: app, id: "SANDBOX_" + makeUUID(), kind: kind, created: now,
      expires: kind == nil ? nil : now.advanced(byMilliseconds: lifetime ?? ExternalToken.sandboxLifetime))
    put(token)
    if kind?.isAnnounced == true { post(.externalPurchaseToken, .created, of: app, .externalPurchase(token)) }
    let text = Base64.url.encode(token.json(self.app(app)?.identity).serialized())
    return Outcome(members: [("externalPurchaseId", token.id), ("token", text)])
  }

  /// Stores a token and schedules its next notification.
  private mutating func put(_ token: ExternalToken) {
    let previous = externalTokens[token.id]?.due
    externalTokens[token.id] = token
    if let due = token.due, due != previous { scheduleToken(token.id, at: due) }
  }

  /// Sends the notification about a token that is due: the complaint if both are due at once. The token is scheduled
  /// again for its next one.
  mutating func processDue(for id: String) {
    guard var token = externalTokens[id], let due = token.due, due <= now else { return }
    if token.complaintDate == due {
      token.isComplainedAbout = true
      post(.externalPurchaseToken, .unreported, of: token.app, .externalPurchase(token))
    } else {
      token.reminders += 1
      post(.externalPurchaseToken, .activeTokenReminder, of: token.app, .externalPurchase(token))
    }
    put(token)
  }

  /// Stores an external purchase report. It settles the token that it names; a report about an unknown token, or about
  /// one of another app, is stored only.
  mutating func performReport(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let app = try appID(parameters)
    guard let report = parameters.json["report"]?.objectValue else { throw .missingMember("report") }
    guard let id = report["requestIdentifier"]?.stringValue, !id.isEmpty else {
      throw .missingMember("requestIdentifier")
    }
    externalReports[ReportName(app: app, identifier: id)] = report
    if var token = report["externalPurchaseId"]?.stringValue.flatMap({ externalTokens[$0] }), token.app == app
    {
      token.report = report["status"] == "DUPLICATE_TOKEN" ? .duplicate : .received
      put(token)
    }
    return Outcome()
  }
}
