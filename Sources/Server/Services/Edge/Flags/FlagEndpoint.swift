internal import AppStore
internal import Bytes
internal import Callers
internal import Entitlements
package import HTTP
internal import JSON
internal import Ledger
internal import RPC
internal import SignedData
internal import Store
internal import Wire

/// The OpenFeature Remote Evaluation Protocol (OFREP): entitlements as boolean flags of a customer.
///
///     POST /ofrep/v1/evaluate/flags/{key}     one entitlement
///     POST /ofrep/v1/evaluate/flags           all entitlements of the app, with an entity tag
///
/// The caller needs the role `read`, as for `Check`.
package struct FlagEndpoint: Sendable {
  /// The path of the bulk form; that of one flag ends in a slash and the key.
  static let path = "/ofrep/v1/evaluate/flags"

  private let chain: InterceptorChain<CallInterceptors<AuthenticationInterceptor>>
  private let context: ServiceContext
  private static let policy = MethodPolicy(
    path: "POST \(path)", role: .read, request: CheckRequest.messageType)

  init(_ context: ServiceContext, chain: InterceptorChain<CallInterceptors<AuthenticationInterceptor>>) {
    self.context = context
    self.chain = chain
  }

  /// Whether a path is one of the protocol.
  package func serves(_ path: String) -> Bool { path == Self.path || path.hasPrefix(Self.path + "/") }

  /// Responds to a request to a path that ``serves(_:)`` accepts.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard request.method == "POST" else { return .methodNotAllowed("POST") }
    let key = Self.key(request.path)
    do throws(Status) {
      let call = try chain.start(Self.policy, CallContext(request))
      guard request.mediaType == "application/json" else {
        let status = Status(
          .invalidArgument, reason: "UNSUPPORTED_CONTENT_TYPE", "content-type must be application/json")
        return HTTPResponse(connectError: call.fail(status), httpStatus: 415)
      }
      let flags: FlagRequest
      do throws(FlagError) {
        flags = try FlagRequest(request.body).naming(appsOf: call.call.caller, in: context.catalog.value)
      } catch {
        _ = call.fail(Status(.invalidArgument, error.details))
        return Self.failure(error, key)
      }
      // The app is looked up after the interceptors have checked that the caller may access it.
      let reply = try await call.reply(to: flags.checkRequest(key ?? "")) {
        [context] _, call throws(Status) in
        let query = try FlagQuery(flags, context.catalog.value)
        return { () async throws(Status) in
          Reply(try await Self.evaluate(query, key, call, context).serialized())
        }
      }
      return key == nil ? Self.tagged(reply.message, for: request) : .json(200, reply.message)
    } catch {
      // The protocol has no error body for these.
      guard ![.unauthenticated, .permissionDenied, .resourceExhausted].contains(error.code) else {
        return HTTPResponse(connectError: error)
      }
      return Self.failure(FlagError(error), key)
    }
  }

  /// The flag of a path; `nil` for the bulk form.
  private static func key(_ path: String) -> String? {
    guard path.utf8.count > Self.path.utf8.count else { return nil }
    return PercentEncoding.decode(path.dropFirst(Self.path.count + 1))
  }

  /// An error in the form of the protocol.
  private static func failure(_ error: FlagError, _ key: String?) -> HTTPResponse {
    .json(error.httpStatus, error.json(key).serialized())
  }

  /// The response to a bulk evaluation, or 304 if the client has it.
  private static func tagged(_ body: [UInt8], for request: HTTPRequest) -> HTTPResponse {
    let tag = "\"\(Base64.url.encode(SHA256.hash(body[...]).prefix(16)))\""
    var response = request.isCurrent(tag) ? HTTPResponse(status: 304) : .json(200, body)
    response.headers.append(name: "etag", value: tag)
    response.headers.append(name: "cache-control", value: "private, no-cache")
    return response
  }
}

/// The customer, app and environment of a request.
private struct FlagQuery: Sendable {
  let key: CustomerKey
  let app: AppDefinition

  init(_ request: FlagRequest, _ catalog: Catalog) throws(Status) {
    app = try catalog.app(request.appID ?? "")
    guard let environment = request.environment ?? app.environments.first,
      app.environments.contains(environment)
    else {
      throw Status(
        .invalidArgument, reason: "WRONG_ENVIRONMENT", "the app '\(app.id)' has no such environment")
    }
    key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerID)
  }
}

extension FlagRequest {
  /// The request with an app: its own, or the only configured one that the caller may access.
  fileprivate func naming(appsOf caller: Caller?, in catalog: Catalog) throws(FlagError) -> FlagRequest {
    guard appID == nil else { return self }
    let ids = catalog.appIDs.filter { caller?.apps?.contains($0) ?? true }
    guard ids.count == 1, let id = ids.first else {
      throw FlagError(.invalidContext, "the context has no app; use one of \(ids.joined(separator: ", "))")
    }
    var request = self
    request.appID = id
    return request
  }

  /// The request by which the interceptors see the app and the customer.
  fileprivate func checkRequest(_ entitlement: String) -> [UInt8] {
    CheckRequest.with {
      $0.app = appID ?? ""
      $0.customerId = customerID
      $0.entitlement = entitlement
    }.encodedBytes()
  }
}

extension FlagEndpoint {
  /// Evaluates one flag, or all of the app, in one snapshot: stored answers where they are valid, otherwise the
  /// facts, read once.
  private static func evaluate(
    _ query: FlagQuery, _ key: String?, _ call: CallContext, _ context: ServiceContext
  ) async throws(Status) -> JSONObject {
    if let key { try RequestValidation.entitlement(key, of: query.app) }
    let names = key.map { [$0] } ?? query.app.entitlements
    let now = context.now(in: query.key.environment)
    let flags = try await context.read(about: query.key, call) { reader throws(StoreError) in
      var facts: CustomerFacts?
      var flags: [JSONObject] = []
      for name in names {
        let status: EntitlementStatus
        switch try reader.answer(to: name, of: query.key, under: query.app.fingerprint, at: now) {
        case .precomputed(let answer): status = answer.status
        case .unknownCustomer, .stale:
          if facts == nil { facts = try reader.facts(of: query.key) }
          status = Entitlements.evaluate(
            facts ?? CustomerFacts(), entitlement: name, in: query.app, at: now)
        }
        flags.append(flag(name, status, query))
      }
      return flags
    }
    guard key == nil else { return flags.first ?? [:] }
    return ["flags": .array(flags.map { .object($0) }), "metadata": ["app": .string(query.app.id)]]
  }

  /// The value is whether the customer is entitled, the variant the access level. Metadata are scalars.
  private static func flag(_ name: String, _ status: EntitlementStatus, _ query: FlagQuery) -> JSONObject {
    var metadata: JSONObject = [
      "reason": .string(status.reason.rawValue), "explanation": .string(status.sentence),
      "app": .string(query.app.id), "environment": .string(query.key.environment.rawValue),
    ]
    metadata["until"] = status.until.map { .string($0.description) }
    metadata["checkAgainAt"] = status.checkAgainAt.map { .string($0.description) }
    if let product = status.productID, !product.isEmpty { metadata["productId"] = .string(product) }
    return [
      "key": .string(name), "value": .bool(status.isEntitled), "reason": "TARGETING_MATCH",
      "variant": .string("\(status.accessLevel)"), "metadata": .object(metadata),
    ]
  }
}
