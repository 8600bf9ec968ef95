internal import AppStore
internal import HTTP
internal import SignedData

/// The certificates' authority: tells whether they still count (RFC 6960, appendix A).
extension AppStoreSimulator {
  /// Where the certificates say that they can be asked about.
  static let responderPath = "/ocsp"

  /// For how long an answer may be used. Apple's are good for half a day.
  private static let life: Int64 = 43_200_000

  /// Answers by the machine's clock, as everything that is not Apple's but the network's.
  func certificateStatus(_ request: HTTPRequest) async -> HTTPResponse {
    guard let question = Self.question(in: request) else { return .methodNotAllowed("GET, POST") }
    if let length = faults.take(.ocspSlow) { try? await Task.sleep(for: .milliseconds(length)) }
    if faults.take(.ocspDown) != nil { return .connectionCut }
    let now = clock.machineNow()
    var status = OCSPResponse.Status.good
    if faults.take(.ocspUnknown) != nil { status = .unknown }
    if faults.take(.ocspRevoked) != nil { status = .revoked(now.advanced(byMilliseconds: -60_000)) }
    do {
      let answer = try authority.responder.response(
        to: question, saying: status, from: now, until: now.advanced(byMilliseconds: Self.life))
      return HTTPResponse(
        status: 200, headers: HeaderFields([("content-type", "application/ocsp-response")]), body: answer)
    } catch {
      return .error(500, code: "INTERNAL", message: error.description)
    }
  }

  /// The question's DER: the body of a POST, or the end of a GET's path in base64. `nil` for other methods; what
  /// cannot be read is for the responder to refuse.
  private static func question(in request: HTTPRequest) -> [UInt8]? {
    switch request.method {
    case "POST": return request.body
    case "GET":
      // Slashes of the base64 may come as they are; only behind the last of the address it begins.
      let text = String(request.path.dropFirst(responderPath.count + 1)).replacing("+", with: "%2B")
      return Base64.standard.decode(Array(text.removingPercentEncoding().utf8)[...]) ?? []
    default: return nil
    }
  }
}
