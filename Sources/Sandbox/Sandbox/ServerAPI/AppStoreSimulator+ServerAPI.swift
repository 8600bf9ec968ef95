internal import AppStore
internal import Bytes
internal import HTTP
internal import JSON
internal import SignedData

/// An authenticated request to the Server API, with the app whose token it has.
struct ServerAPICall {
  let app: SandboxApp
  let request: HTTPRequest
  let query: Query
  /// The first component of the path, such as `inApps`.
  let interface: String
  /// The components after ``interface``.
  let path: [String]

  /// The status of a response without a body. Consumption information is accepted for later use: 202 (Apple: Send
  /// Consumption Information V1; not documented for V2, which follows it here).
  var emptyStatus: Int { path.contains("consumption") ? 202 : 200 }

  /// Parses the body, which must be a JSON object.
  func body() throws(ServerAPIError) -> JSONObject {
    guard let body = try? JSONValue(parsing: request.body).objectValue else { throw .generalBadRequest }
    return body
  }
}

/// Apple's Server API under Apple's paths.
extension AppStoreSimulator {
  /// Responds to a request, with the machine's time in `Date` unless a fault sets another one.
  func serverAPI(_ request: HTTPRequest) async -> HTTPResponse {
    var response = await undatedResponse(to: request)
    if response.headers["date"] == nil {
      response.headers.append(name: "date", value: Self.httpDate(clock.machineNow()))
    }
    return response
  }

  /// Responds to a request: rate limit and faults first, then authentication, then the call.
  private func undatedResponse(to request: HTTPRequest) async -> HTTPResponse {
    let path = request.path.split(separator: "/").map { PercentEncoding.decode($0) }
    if let rejection = countCall(path.dropFirst().prefix(2).joined(separator: "/")) { return rejection }
    if let fault = await serveFault() { return fault }
    catchUp()
    guard let app = authenticatedApp(request) else { return .unauthenticated }
    let call = ServerAPICall(
      app: app, request: request, query: Query(request.query), interface: path.first ?? "",
      path: Array(path.dropFirst()))
    do {
      guard let body = try await responseBody(to: call) else { return .json(call.emptyStatus, []) }
      return applyFaults(to: body, of: call)
    } catch let error as ServerAPIError {
      return error.response
    } catch is NotFound {
      return .notFound(request.path)
    } catch {
      return ServerAPIError.generalInternal.response
    }
  }

  /// Returns the response body, or `nil` if the response has none.
  private func responseBody(to call: ServerAPICall) async throws -> JSONObject? {
    guard call.path.first?.first == "v" else { throw ServerAPIError.generalBadRequest }
    switch call.interface {
    case "groups": return try groups(call)
    case "advancedCommerce": return try advancedCommerce(call)
    case "externalPurchase": return try externalPurchases(call)
    default:
      return call.path.starts(with: ["v1", "messaging"]) ? try await messaging(call) : try await route(call)
    }
  }

  /// Calls the handler of a path below `/inApps`.
  private func route(_ call: ServerAPICall) async throws -> JSONObject? {
    let path = call.path
    switch (call.request.method, path.count, path.dropLast().joined(separator: "/"), path.last ?? "") {
    case ("GET", 3, "v1/subscriptions", let id): return try statuses(call, id)
    case ("GET", 3, "v1/history", let id), ("GET", 3, "v2/history", let id): return try history(call, id)
    case ("GET", 3, "v1/transactions", let id):
      return ["signedTransactionInfo": .string(try sign(try subject(id, call)))]
    case ("GET", 4, "v1/transactions/appTransactions", let id): return try appTransaction(call, id)
    case ("GET", 3, "v1/lookup", let order): return try lookUp(order, call)
    case ("GET", 4, "v1/refund/lookup", let id): return try latestRefunds(call, id)
    case ("GET", 4, "v2/refund/lookup", let id): return try refunds(call, id)
    case ("PUT", 4, "v1/subscriptions/extend", let id): return try extend(call, id)
    case ("POST", 4, "v1/subscriptions/extend", "mass"): return try massExtend(call)
    case ("GET", 6, _, let identifier) where path.starts(with: ["v1", "subscriptions", "extend", "mass"]):
      return try massExtensionStatus(call, product: path[4], identifier)
    case ("PUT", 4, "v1/transactions/consumption", let id), ("PUT", 4, "v2/transactions/consumption", let id):
      return try consumption(call, id)
    case ("PUT", 4, _, "appAccountToken") where path.starts(with: ["v1", "transactions"]):
      return try setAppAccountToken(call, path[2])
    case ("POST", 4, _, "finish") where path.starts(with: ["v1", "transactions"]):
      let sold = try subject(path[2], call)
      _ = try perform(.finish, Parameters(["transactionId": .string(String(sold.id))]))
      return nil
    case ("POST", 3, "v1/notifications", "history"): return try notificationHistory(call)
    case ("POST", 3, "v1/notifications", "test"): return try testNotification(call)
    case ("GET", 4, "v1/notifications/test", let token): return try testNotificationStatus(call, token)
    default: throw ServerAPIError.generalBadRequest
    }
  }

  // MARK: Authentication

  /// Returns the app that the token authenticates, or `nil` if the token is invalid.
  ///
  /// Claims are always checked. The signature is checked only if at least one public key is registered.
  private func authenticatedApp(_ request: HTTPRequest) -> SandboxApp? {
    guard let header = request.header("authorization"), header.hasPrefix("Bearer ") else { return nil }
    let token = String(header.dropFirst("Bearer ".count))
    guard let jws = try? UnverifiedJWS(token), jws.header["alg"] == "ES256",
      let key = jws.header["kid"]?.stringValue, !key.isEmpty,
      jws.payload["aud"] == "appstoreconnect-v1", jws.payload["iss"]?.stringValue != nil,
      let expires = jws.payload["exp"]?.doubleValue,
      isCurrent(issued: jws.payload["iat"]?.doubleValue, expires: expires)
    else { return nil }
    // Apple documents `iat` and `typ` as required. Apple's Java and Python libraries send no `iat`, and Apple accepts
    // them (BearerTokenAuthenticator.generateToken, AppStoreServerAPIClient._generate_token).
    if world.requiresDocumentedTokens {
      guard jws.header["typ"] == "JWT", jws.payload["iat"]?.doubleValue != nil else { return nil }
    }
    guard accepts(token, by: key) else { return nil }
    return apps.first { jws.payload["bid"]?.stringValue == $0.identity.bundleID }
  }

  /// Whether a token is valid now and for at most an hour (Apple: "Generating JSON Web Tokens for API
  /// requests"). The times are seconds since 1970. Without `iat` the hour begins now.
  ///
  /// Clients use machine time, which may be far from the simulated time; either clock is accepted.
  func isCurrent(issued: Double?, expires: Double) -> Bool {
    [clock.machineNow(), world.now].contains { now in
      let seconds = Double(now.millisecondsSince1970) / 1000
      // Tolerates a clock skew of a minute.
      guard (issued ?? seconds) <= seconds + 60, seconds < expires else { return false }
      return expires - (issued ?? seconds) <= 3600
    }
  }

  /// Whether the key is not revoked, and is the one that signed the token. Without registered keys each key is accepted.
  func accepts(_ token: String, by key: String) -> Bool {
    !world.revokedKeys.contains(key) && (world.keys.isEmpty || isSigned(token, by: key))
  }

  /// Whether the registered key with that id verifies the token; false for an unknown key.
  func isSigned(_ token: String, by key: String) -> Bool {
    guard let pem = world.keys[key], let verifier = try? ES256Verifier(publicKeyPEM: pem) else {
      return false
    }
    return (try? verifier.verifies(jws: token)) ?? false
  }

  /// Performs an action for a call. A rejected action becomes `apiError`.
  func perform(_ action: Action, _ members: JSONObject, or apiError: some Error) throws -> Outcome {
    do throws(SandboxError) {
      return try perform(action, Parameters(members))
    } catch {
      if case .actionFailed = error { throw apiError }
      throw error
    }
  }

  // MARK: Lookup

  /// Returns the transaction with this id in the app.
  func transaction(_ id: String, _ call: ServerAPICall) throws(ServerAPIError) -> SoldTransaction {
    guard let number = Int64(id), number > 0 else { throw .invalidTransactionId }
    guard let sold = world.transaction(number), sold.app == call.app.id else { throw .transactionIdNotFound }
    return sold
  }

  /// Returns the transaction that a call is about, unlike one that only identifies a customer.
  ///
  /// - unknown: the call's error for an unknown id.
  /// - Throws: also Apple's error for an `appTransactionId` (Apple: AppTransactionIdNotSupportedError).
  func subject(
    _ id: String, _ call: ServerAPICall, unknown: ServerAPIError = .transactionIdNotFound
  ) throws(ServerAPIError) -> SoldTransaction {
    do throws(ServerAPIError) {
      return try transaction(id, call)
    } catch {
      guard error == .transactionIdNotFound else { throw error }
      throw customer(id, call) == nil ? unknown : ServerAPIError.appTransactionIdNotSupported
    }
  }

  /// Returns the account that a transaction id or an `appTransactionId` identifies.
  ///
  /// - Throws: Apple's errors about transaction ids.
  func account(_ id: String, _ call: ServerAPICall) throws(ServerAPIError) -> String {
    if let sold = Int64(id).flatMap({ world.transaction($0) }), sold.app == call.app.id {
      return sold.account
    }
    if let customer = customer(id, call) { return customer }
    return try transaction(id, call).account
  }

  /// Returns the account that an `appTransactionId` identifies; `nil` for none.
  private func customer(_ id: String, _ call: ServerAPICall) -> String? {
    world.accounts.keys.first { appTransactionID(app: call.app.id, account: $0) == id }
  }

  // MARK: Faults

  /// Applies the faults of all calls: waits for a slow response, and returns the response that replaces the regular
  /// one; `nil` if no fault applies.
  func serveFault() async -> HTTPResponse? {
    if let length = faults.take(.slow) {
      try? await Task.sleep(for: .milliseconds(length))
    }
    if faults.take(.cut) != nil { return .connectionCut }
    if faults.take(.serverError) != nil { return ServerAPIError.generalInternal.response }
    if let response = replacementResponse() { return response }
    return faults.take(.rateLimit).map(tooMany)
  }

  /// Counts a call; returns the error response if the call exceeds the limit.
  func countCall(_ kind: String) -> HTTPResponse? {
    traffic.take(kind, at: clock.machineNow()).map(tooMany)
  }

  /// Apple's response to a call beyond the rate limit.
  private func tooMany(milliseconds: Int64) -> HTTPResponse {
    var response = ServerAPIError.rateLimitExceeded.response
    // UNIX time in milliseconds, unlike RFC 9110, in machine time (Apple: "Identifying rate limits").
    let until = clock.machineNow().advanced(byMilliseconds: milliseconds)
    response.headers.append(name: "retry-after", value: String(until.millisecondsSince1970))
    return response
  }
}

extension HTTPResponse {
  /// Apple's response to an invalid token: 401 without a JSON error.
  fileprivate static var unauthenticated: HTTPResponse {
    HTTPResponse(
      status: 401, headers: HeaderFields([("content-type", "text/plain;charset=utf-8")]),
      body: Array("Unauthenticated\n".utf8))
  }
}
