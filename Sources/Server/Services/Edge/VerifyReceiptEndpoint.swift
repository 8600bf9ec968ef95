internal import AppStore
package import Callers
package import HTTP
internal import JSON
internal import RPC
package import ReceiptMigration

/// `verifyReceipt` on the edge, for legacy backends.
///
///     POST /verifyReceipt                 the app by the receipt's bundle id, in any of its environments
///     POST /verifyReceipt/{app}           the app by the operator's name for it
///     POST /production/verifyReceipt, /sandbox/verifyReceipt, either with /{app}
///                                         one environment, as Apple's two hosts have
///
/// Requests without the app's shared secret are limited for each address, before anything is verified: everyone with a
/// receipt can send them, and an answer can take a lookup at Apple.
package struct VerifyReceiptEndpoint: Sendable {
  private static let environments: [Substring: Environment] = [
    "production": .production, "sandbox": .sandbox,
  ]

  /// The default limit of one address. Backends that post receipts have one address, whatever the number of customers.
  package static let requestsPerSecond: Int64 = 100

  /// A request counts once for each such part of its body, because the time to decode a receipt grows with it. Few receipts
  /// are larger.
  private static let bytesOfRequest = 64 * 1_024

  private let facade: VerifyReceiptFacade
  private let limiter: AddressLimiter

  /// - Parameters:
  ///   - facade: implements Apple's `verifyReceipt`.
  ///   - limiter: limits the requests of each address that have no shared secret.
  package init(facade: VerifyReceiptFacade, limiter: AddressLimiter) {
    self.facade = facade
    self.limiter = limiter
  }

  /// Whether a path is that of `verifyReceipt`.
  package static func serves(_ path: String) -> Bool { target(path) != nil }

  /// Responds to a request to a path that ``serves(_:)`` accepts. As at Apple, the HTTP status is 200 and the
  /// body has the error code; except for unknown apps and too many requests, which Apple's paths do not have.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    do throws(RejectedRequest) {
      let (call, app, environment) = try call(of: request)
      return Self.answer(await facade.answer(to: call, appID: app, in: environment))
    } catch {
      return error.response
    }
  }

  /// In a replica that does not write: refuses what the leader would refuse whatever is stored, so that unauthenticated
  /// peers cannot fill the database.
  func judge(_ request: HTTPRequest) -> LocalVerdict {
    do throws(RejectedRequest) {
      let (call, app, environment) = try call(of: request)
      guard let refusal = facade.refusal(of: call, appID: app, in: environment) else { return .undecided }
      return .refused(Self.answer(refusal))
    } catch {
      return .refused(error.response)
    }
  }

  /// The response to a request that is no call of `verifyReceipt`.
  private struct RejectedRequest: Error {
    let response: HTTPResponse
  }

  /// Checks path, method and rate. A request with the app's shared secret comes from a backend and has no limit of
  /// its address.
  private func call(
    of request: HTTPRequest
  ) throws(RejectedRequest) -> (VerifyReceiptCall, app: String?, environment: Environment?) {
    guard let target = Self.target(request.path) else {
      throw RejectedRequest(response: .text(404, "no such route: \(request.path.excerpt)\n"))
    }
    if let app = target.app, !facade.serves(app: app) {
      throw RejectedRequest(response: .text(404, "unknown app \(app.excerpt.debugDescription)\n"))
    }
    guard request.method == "POST" else {
      throw RejectedRequest(response: Self.answer(.failed(.notPosted, target.environment)))
    }
    // Beyond the limit, a receipt is decoded only for a backend.
    if let wait = limiter.remainingDelay(of: PeerNetwork(address: request.address)),
      !facade.hasSharedSecret(request.body, ofApp: target.app)
    {
      throw RejectedRequest(response: Self.tooMany(retryAfterMilliseconds: wait, target.environment))
    }
    let call = VerifyReceiptCall(request.body)
    let isFromBackend = call.map { facade.hasSharedSecret($0, appID: target.app) } ?? false
    let cost = Int64(1 + request.body.count / Self.bytesOfRequest)
    if !isFromBackend, let wait = limiter.delay(of: request.address, cost: cost) {
      throw RejectedRequest(response: Self.tooMany(retryAfterMilliseconds: wait, target.environment))
    }
    guard let call else {
      throw RejectedRequest(response: Self.answer(.failed(.malformedOrTemporary, target.environment)))
    }
    return (call, target.app, target.environment)
  }

  private static func tooMany(retryAfterMilliseconds wait: Int64, _ environment: Environment?) -> HTTPResponse
  {
    .json(429, VerifyReceiptAnswer.failed(.unavailable, environment).json.serialized())
      .retry(afterMilliseconds: wait)
  }

  /// The environment and app of a path; `nil` for another path.
  private static func target(_ path: String) -> (environment: Environment?, app: String?)? {
    var parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    let environment = parts.first.flatMap { environments[$0] }
    if environment != nil { parts.removeFirst() }
    guard parts.popFirst() == "verifyReceipt", parts.count <= 1 else { return nil }
    return (environment, parts.first.flatMap { $0.isEmpty ? nil : String($0) })
  }

  private static func answer(_ answer: VerifyReceiptAnswer) -> HTTPResponse {
    .json(200, answer.json.serialized())
  }
}
