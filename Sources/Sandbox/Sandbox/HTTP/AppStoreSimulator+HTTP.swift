internal import AppStore
internal import Bytes
package import HTTP
internal import JSON
internal import SignedData

extension AppStoreSimulator {
  /// Responds to a request.
  ///
  ///     POST /sandbox/v1/ACTION           performs an ``Action``; the body has its members
  ///     POST /sandbox/v1/documents/KIND   buys and returns one ``SandboxDocumentKind``
  ///     GET  /sandbox/v1/root             the root certificate, PEM
  ///     GET  /sandbox/v1/roots            both root certificates between which rotations change, PEM
  ///     GET  /sandbox/v1/certificates     the chain of the documents that are signed now, and revocations
  ///     POST /sandbox/v1/rotate           replaces a certificate, and revokes it on demand
  ///     GET  /sandbox/v1/apps             the catalog
  ///     GET  /sandbox/v1/accounts/NAME    the purchases of an account (?app=)
  ///     GET  /sandbox/v1/accounts/NAME/receipt  its app receipt, base64 (?app=)
  ///     GET  /sandbox/v1/accounts         the purchases of all accounts, paged (?app=&after=&limit=)
  ///     GET  /sandbox/v1/receipts         their app receipts as migration input, paged (?app=&after=&limit=)
  ///     GET  /sandbox/v1/owners           the products that each account owns now (?app=)
  ///     POST /sandbox/v1/live             performs random actions of many customers
  ///     GET  /sandbox/v1/notifications    the notifications and their delivery attempts
  ///     GET  /sandbox/v1/notifications/UUID  one notification with its payload and the responses to it
  ///     GET  /sandbox/v1/transactions/ID  a transaction with its signed documents (?latest=true: of its subscription)
  ///     GET  /sandbox/v1/journal          what was done, and the notifications that followed (?after=&limit=)
  ///     GET  /sandbox/v1/settings         the settings of an app (?app=)
  ///     POST /sandbox/v1/deliver          delivers what is due, and returns after it
  ///     POST /sandbox/v1/reset            begins again without accounts and purchases
  ///     GET  /sandbox/v1/snapshot         everything that happened, as a document
  ///     PUT  /sandbox/v1/snapshot         continues from such a document
  ///     GET  /sandbox/v1/scenarios        the scenarios; POST /sandbox/v1/scenarios/NAME runs one
  ///     GET  /sandbox/v1/consumption      the consumption reports of developers
  ///     GET  /sandbox/v1/reports/KIND     a report of App Store Connect (?date=&app=)
  ///     GET, POST /sandbox/v1/clock       the simulated time and its speed
  ///     POST /sandbox/v1/clock/advance    advances the clock
  ///     GET  /sandbox/v1/clock/next       what happens next
  ///     GET, POST, DELETE /sandbox/v1/faults  the active faults
  ///     GET  /sandbox/v1/calls            the number of calls of Apple's APIs
  ///     POST /sandbox/v1/call-limit       sets their rate limit
  ///     POST /sandbox/v1/realtime-message  requests a retention message from the developer's server
  ///     /inApps/…, /groups/…, /advancedCommerce/…, /externalPurchase/…, /verifyReceipt   Apple's APIs
  ///     /v1/validate_device_token, /v1/query_two_bits, /v1/update_two_bits   DeviceCheck
  ///     /v1/salesReports, /v1/financeReports   the App Store Connect API
  ///     /ocsp                             the OCSP responder
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    if Self.interfaces.contains(where: request.path.hasPrefix) { return await serverAPI(request) }
    if Self.deviceCheckPaths.contains(request.path) { return await deviceCheck(request) }
    if Self.connectPaths.contains(request.path) { return await connectReport(request) }
    if request.path == "/verifyReceipt" { return await verifyReceipt(request) }
    if request.path == Self.responderPath || request.path.hasPrefix(Self.responderPath + "/") {
      return await certificateStatus(request)
    }
    guard request.path.hasPrefix(Self.prefix) else { return .notFound(request.path) }
    return await testRoutes(request, String(request.path.dropFirst(Self.prefix.count)))
  }

  private static let prefix = "/sandbox/v1/"
  private static let interfaces = ["/inApps/", "/groups/", "/advancedCommerce/", "/externalPurchase/"]
  /// Ten years, in milliseconds.
  private static let maxAdvance: Int64 = 3660 * Instant.millisecondsPerDay

  /// The methods of the paths that do not take another one.
  private static let allowedMethods: [String: [String]] = [
    "root": ["GET"], "roots": ["GET"], "certificates": ["GET"], "rotate": ["POST"], "apps": ["GET"],
    "notifications": ["GET"], "owners": ["GET"], "calls": ["GET"], "accounts": ["GET"], "receipts": ["GET"],
    "consumption": ["GET"], "clock/next": ["GET"], "journal": ["GET"], "settings": ["GET"],
    "scenarios": ["GET"], "snapshot": ["GET", "PUT"],
  ]

  /// Routes the calls of testers, below `/sandbox/v1/`.
  private func testRoutes(_ request: HTTPRequest, _ path: String) async -> HTTPResponse {
    if let allowed = Self.allowedMethods[path], !allowed.contains(request.method) {
      return .methodNotAllowed(allowed.joined(separator: ", "))
    }
    switch (path, request.method) {
    case ("root", "GET"): return .pem(root.pem)
    case ("roots", "GET"): return .pem(root.pem + secondRoot.pem)
    case ("certificates", "GET"): return .json(certificatesJSON)
    case ("rotate", "POST"):
      return await jsonResponse { try self.rotate(Parameters(body: request.body)) }
    case ("apps", "GET"): return .json(["apps": .array(apps.map { .object($0.json) })])
    case ("notifications", "GET"): return .json(notifications)
    case ("consumption", "GET"): return .json(world.consumptionReportsJSON)
    case ("clock", "GET"): return .json(clockState)
    case ("clock/next", "GET"): return .json(nextEventJSON)
    case ("journal", "GET"): return await jsonResponse { try self.journalJSON(Query(request.query)) }
    case ("settings", "GET"):
      return await jsonResponse { try self.settingsJSON(Query(request.query)["app"]) }
    case ("scenarios", "GET"): return .json(Scenario.listJSON)
    case ("snapshot", "GET"): return await jsonResponse { try self.snapshot().json }
    case ("faults", "GET"): return .json(faults.json)
    case ("calls", "GET"): return .json(traffic.json)
    case ("owners", "GET"): return await jsonResponse { try self.owners(Query(request.query)["app"]) }
    case ("accounts", "GET"): return await page(request.query, self.accounts)
    case ("receipts", "GET"): return await page(request.query, self.receipts)
    case ("reset", "POST"), ("snapshot", "PUT"), ("deliver", "POST"):
      return await jsonResponse { try await self.worldCall(path, request.body) }
    case ("realtime-message", "POST"):
      return await jsonResponse { try await self.realtimeMessage(Parameters(body: request.body)) }
    case ("live", "POST"): return await jsonResponse { try await self.live(Parameters(body: request.body)) }
    case ("clock", "POST"), ("clock/advance", "POST"), ("faults", "POST"), ("call-limit", "POST"):
      return await jsonResponse { try await self.set(path, Parameters(body: request.body)) }
    case ("faults", "DELETE"):
      faults.clear()
      return .json(faults.json)
    default:
      return await namedRoutes(
        request, path.split(separator: "/", omittingEmptySubsequences: false).map(String.init))
    }
  }

  /// Routes the paths that name something: an account, a report, a transaction, a notification, a scenario, an action.
  private func namedRoutes(_ request: HTTPRequest, _ parts: [String]) async -> HTTPResponse {
    let query = Query(request.query)
    let name = parts.dropFirst().first.map { PercentEncoding.decode($0) } ?? ""
    switch (parts[0], parts.count, request.method) {
    case ("accounts", 2, "GET"): return account(name, query["app"])
    case ("accounts", 3, "GET") where parts[2] == "receipt": return receipt(name, query["app"])
    case ("reports", 2, "GET"): return await testerReport(parts[1], query)
    case ("transactions", 2..., "GET"):
      let name = parts.dropFirst().map { PercentEncoding.decode($0) }.joined(separator: "/")
      return await jsonResponse { try self.transactionJSON(name, query) }
    case ("notifications", 2, "GET"): return notificationResponse(name)
    case ("scenarios", 2, "POST"):
      return await jsonResponse { try await self.runScenario(parts[1], Parameters(body: request.body)) }
    default: return await act(request, parts)
    }
  }

  /// Routes the paths of actions and documents.
  private func act(_ request: HTTPRequest, _ parts: [String]) async -> HTTPResponse {
    if parts.count == 2, parts[0] == "documents" {
      guard request.method == "POST" else { return .methodNotAllowed("POST") }
      return await document(parts[1], request.body)
    }
    // The app is named in the path (`apps/APP/ACTION`) or in the body.
    let name = parts.count == 3 && parts[0] == "apps" ? parts[2] : parts[0]
    guard parts.count == 1 || parts.count == 3, let action = Action(rawValue: name) else {
      let known = Action.allCases.map(\.rawValue).joined(separator: ", ")
      return .error(
        404, code: "NOT_FOUND", message: "unknown path \(request.path); the actions are \(known)")
    }
    guard request.method == "POST" else { return .methodNotAllowed("POST") }
    return await jsonResponse {
      var parameters = try Parameters(body: request.body)
      if parts.count == 3 {
        var json = parameters.json
        json["app"] = .string(parts[1])
        parameters = Parameters(json)
      }
      return try self.act(action, parameters)
    }
  }

  /// Performs an action and returns what the app would receive: the signed documents of the first transaction, its
  /// status, and the names of the notifications that followed.
  private func act(_ action: Action, _ parameters: Parameters) throws -> JSONObject {
    try checkOffer(action, parameters)
    try checkTarget(action, parameters)
    let earlier = world.notifications.count
    let outcome = try perform(action, parameters)
    var json = try purchase(outcome.transactions.first)?.json ?? JSONObject()
    for (name, value) in outcome.members { json[name] = .string(value) }
    if let line = outcome.transactions.first.flatMap({ world.transaction($0) })
      .flatMap({ world.lines[$0.originalID] })
    {
      json["status"] = JSONValue(line.appleStatus.rawValue)
    }
    if action == .restore {
      json["signedTransactions"] = .array(
        try outcome.transactions.compactMap { try purchase($0).map { .string($0.signedTransactionInfo) } })
    }
    json["notifications"] = .array(world.notifications.dropFirst(earlier).map { .string($0.name) })
    return json
  }

  /// Requests a retention message from the developer's server, as Apple does when a subscriber opens the page that
  /// confirms a cancellation, and returns what Apple shows there.
  private func realtimeMessage(_ parameters: Parameters) async throws -> JSONObject {
    try parameters.allow(only: ["transactionId", "locale"])
    let locale = try parameters.stringIfPresent("locale") ?? "en-US"
    catchUp()
    let line = try world.line(parameters)
    guard let url = world.settings[line.app]?.messages.realtimeURL else {
      throw ActionError.notPossible(
        "\(line.app) has no realtime URL; PUT /inApps/v1/messaging/realtime/url sets one")
    }
    let began = clock.machineNow()
    let reply = try await requestRealtimeMessage(from: url, about: line, locale: locale)
    let milliseconds = clock.machineNow().milliseconds(since: began)
    var fault: RetentionAnswerFault?
    var shown = fallbackMessage(of: line, locale: locale)
    do throws(RetentionAnswerFault) {
      shown = try shownMessage(reply, milliseconds: milliseconds, about: line)
    } catch {
      fault = error
    }
    return JSONObject(present: [
      ("result", .string(reply.result.rawValue)), ("status", reply.status.map { JSONValue(Int64($0)) }),
      ("milliseconds", JSONValue(milliseconds)), ("answer", try? JSONValue(parsing: reply.body)),
      ("shown", .object(shown)), ("problem", fault.map { .string($0.code) }),
      ("explanation", fault.map { .string($0.explanation) }),
    ])
  }

  /// Changes the clock, the rate limit or the faults.
  private func set(_ path: String, _ parameters: Parameters) async throws -> JSONObject {
    switch path {
    case "clock":
      try parameters.allow(only: ["speed"])
      clock.set(speed: try parameters.integer("speed", in: 0...10_000_000))
      catchUp()
      try persist(.clock(clock.setting))
      wake()
    case "clock/advance":
      try parameters.allow(only: ["by", "to"])
      // The clock runs: one reading for all, so that an advance by 0 seconds is not one into the past.
      let now = clock.now()
      let length = try parameters.durationIfPresent("by")
      guard let target = try parameters.instantIfPresent("to") ?? length.map(now.advanced(byMilliseconds:))
      else {
        throw ActionError.missingMember("by")
      }
      guard target >= now else { throw ActionError.notPossible("the clock cannot go back") }
      guard target.milliseconds(since: now) <= Self.maxAdvance else {
        throw ActionError.notPossible("the clock can advance by ten years at most")
      }
      let earlier = world.notifications.count
      try await advanceClock(to: target)
      var json = clockState
      json["notifications"] = .array(world.notifications.dropFirst(earlier).map { .string($0.name) })
      return json
    case "call-limit":
      try traffic.set(parameters)
      return traffic.json
    default:
      try faults.set(parameters)
      return faults.json
    }
    return clockState
  }

  private func document(_ name: String, _ body: [UInt8]) async -> HTTPResponse {
    guard let kind = SandboxDocumentKind(rawValue: name) else {
      let known = SandboxDocumentKind.allCases.map(\.rawValue).joined(separator: ", ")
      return .error(
        404, code: "UNKNOWN_DOCUMENT", message: "unknown kind of document; expected one of \(known)")
    }
    return await jsonResponse {
      let document = try self.document(kind, about: PurchaseOrder(Parameters(body: body)))
      return ["kind": .string(name), "document": .string(document)]
    }
  }

  func jsonResponse(_ body: () async throws -> JSONObject) async -> HTTPResponse {
    await mapErrors { .json(try await body()) }
  }

  /// Returns the response, or an error response if `body` throws.
  func mapErrors(_ body: () async throws -> HTTPResponse) async -> HTTPResponse {
    do {
      return try await body()
    } catch let error as ActionError {
      return .error(400, code: error.code, message: error.description)
    } catch SandboxError.actionFailed(let error) {
      return .error(400, code: error.code, message: error.description)
    } catch {
      return .error(500, code: "INTERNAL", message: "\(error)")
    }
  }
}
