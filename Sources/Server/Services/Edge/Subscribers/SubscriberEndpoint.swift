internal import AppStore
internal import Bytes
internal import Callers
internal import Entitlements
package import HTTP
internal import JSON
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `GET /v1/subscribers/{customer}` on the edge, in the form of RevenueCat's REST API v1, so that a backend switches by its
/// URL and key.
///
/// The caller needs the role `read`, as for `Check`. Unlike RevenueCat, a request never creates a customer: an unknown one has
/// no purchases. Of several apps, the query names one (`?app=`); `X-Is-Sandbox: true` selects the environment Sandbox.
package struct SubscriberEndpoint: Sendable {
  static let prefix = "/v1/subscribers/"
  /// The pattern in metrics, in the OpenAPI document and in the policy.
  static let route = "/v1/subscribers/{customer}"

  private let chain: InterceptorChain<CallInterceptors<AuthenticationInterceptor>>
  private let context: ServiceContext
  private static let policy = MethodPolicy(
    path: "GET \(route)", role: .read, request: GetCustomerRequest.messageType, isRecorded: true)

  init(_ context: ServiceContext, chain: InterceptorChain<CallInterceptors<AuthenticationInterceptor>>) {
    self.context = context
    self.chain = chain
  }

  /// Whether a path is that of a subscriber.
  package func serves(_ path: String) -> Bool { path.hasPrefix(Self.prefix) }

  /// Responds to a request to a path that ``serves(_:)`` accepts.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard request.method == "GET" else { return Self.methodNotAllowed }
    do throws(Status) {
      let call = try chain.start(Self.policy, CallContext(request)) { caller in
        (try? requested(request, by: caller))?.encodedBytes()
      }
      let message: GetCustomerRequest
      do throws(Status) {
        message = try requested(request, by: call.call.caller)
      } catch {
        throw call.fail(error)
      }
      guard !message.app.isEmpty else {
        throw call.fail(missingApp(for: call.call.caller), reading: message.encodedBytes())
      }
      // The app is looked up after the interceptors have checked that the caller may access it.
      let reply = try await call.reply(to: message.encodedBytes()) { [context] _, call throws(Status) in
        let app = try context.catalog.value.app(message.app)
        let environment = try app.environment(message.environment)
        let key = CustomerKey(appID: app.id, environment: environment, customerID: message.customerId)
        return { () async throws(Status) in
          Reply(try await Self.subscriber(key, in: app, call, context).serialized())
        }
      }
      return .json(200, reply.message)
    } catch {
      return Self.failure(error)
    }
  }

  /// The request of the contract that the interceptors check. It has no app if the query names none and the caller may
  /// access several.
  private func requested(_ request: HTTPRequest, by caller: Caller?) throws(Status) -> GetCustomerRequest {
    let rest = String(request.path.dropFirst(Self.prefix.count))
    guard !rest.contains("/") else {
      // Such as RevenueCat's `/offerings`. No customer without purchases is the answer to it.
      throw .invalidField("customer_id", "the path of a customer ends with the id, in which / is %2F")
    }
    guard PercentEncoding.isUTF8(rest.utf8) else {
      throw .invalidField("customer_id", "the customer id in the path is not UTF-8")
    }
    let id = PercentEncoding.decode(rest)
    guard !id.isEmpty, id.utf8.count <= TextLimits.standard, !id.utf8.contains(0) else {
      throw .invalidField(
        "customer_id", "the path needs a customer id of 1 to \(TextLimits.standard) bytes without NUL")
    }
    let ids = apps(of: caller)
    return .with {
      $0.app = Query(request.query)["app"] ?? (ids.count == 1 ? ids[0] : "")
      $0.customerId = id
      if request.header("x-is-sandbox")?.lowercased() == "true" { $0.environment = .sandbox }
    }
  }

  private func missingApp(for caller: Caller?) -> Status {
    Status(
      .invalidArgument, reason: "MISSING_FIELD",
      "the caller may access several apps; add ?app= with one of \(apps(of: caller).joined(separator: ", "))")
  }

  /// The apps that a caller may access.
  private func apps(of caller: Caller?) -> [String] {
    context.catalog.value.appIDs.filter { caller?.apps?.contains($0) ?? true }
  }

  /// Reads the customer's merge target in one snapshot.
  private static func subscriber(
    _ key: CustomerKey, in app: AppDefinition, _ call: CallContext, _ context: ServiceContext
  ) async throws(Status) -> JSONObject {
    let now = context.now(in: key.environment)
    return try await context.read(about: key, call) { reader throws(StoreError) in
      let customer = try reader.finalMergeTarget(of: key)
      return SubscriberDocument(
        customer, try reader.facts(of: customer) ?? CustomerFacts(),
        attributes: try reader.attributes(of: customer), in: app, at: now
      ).json
    }
  }

  /// An error in RevenueCat's form, with its codes for keys that are unknown or may not read. An error of the service is
  /// never that of a bad request, because backends do not repeat these.
  static func failure(_ status: Status) -> HTTPResponse {
    let code: Int64 =
      switch status.code {
      case .unauthenticated: 7225
      case .permissionDenied: 7243
      case .unavailable, .internalError, .deadlineExceeded, .resourceExhausted, .aborted, .cancelled,
        .unknown,
        .dataLoss:
        7110
      case .ok, .invalidArgument, .notFound, .alreadyExists, .failedPrecondition, .outOfRange,
        .unimplemented:
        7226
      }
    var response = HTTPResponse(connectError: status)
    response.body = errorBody(code, status.message)
    return response
  }

  private static let methodNotAllowed: HTTPResponse = {
    var response = HTTPResponse.json(405, errorBody(7226, "method not allowed; use GET"))
    response.headers.append(name: "allow", value: "GET")
    return response
  }()

  private static func errorBody(_ code: Int64, _ message: String) -> [UInt8] {
    let body: JSONObject = ["code": JSONValue(code), "message": .string(message)]
    return body.serialized()
  }
}
