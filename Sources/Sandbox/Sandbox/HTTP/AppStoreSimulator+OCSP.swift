internal import AppStore
internal import Bytes
internal import HTTP
internal import SignedData

/// The OCSP responder for the simulator's certificates (RFC 6960, appendix A).
extension AppStoreSimulator {
  /// The path of the responder's URL in the certificates.
  static let responderPath = "/ocsp"

  /// The validity of a response, in milliseconds: 12 hours, as in Apple's responses.
  private static let validity: Int64 = 43_200_000

  /// Responds to a status request, in machine time: OCSP concerns the network and not the simulated store.
  func certificateStatus(_ request: HTTPRequest) async -> HTTPResponse {
    guard let statusRequest = Self.statusRequest(in: request) else { return .methodNotAllowed("GET, POST") }
    if let length = faults.take(.ocspSlow) { try? await Task.sleep(for: .milliseconds(length)) }
    if faults.take(.ocspDown) != nil { return .connectionCut }
    let now = clock.machineNow()
    var status = OCSPResponse.Status.good
    if faults.take(.ocspUnknown) != nil { status = .unknown }
    if faults.take(.ocspRevoked) != nil { status = .revoked(now.advanced(byMilliseconds: -60_000)) }
    do {
      // Another world of this process may have rotated the certificates, which all share.
      let authority = try SandboxAuthority(directory: files, now: now)
      let response = try authority.responder.response(
        to: statusRequest, saying: status, revoked: authority.retired.revocations, from: now,
        until: now.advanced(byMilliseconds: Self.validity))
      return HTTPResponse(
        status: 200, headers: HeaderFields([("content-type", "application/ocsp-response")]), body: response)
    } catch {
      return .error(500, code: "INTERNAL", message: "\(error)")
    }
  }

  /// Returns the DER of the request: the body of a POST or the base64 path component of a GET; `nil` for
  /// other methods. The responder rejects malformed requests.
  private static func statusRequest(in request: HTTPRequest) -> [UInt8]? {
    switch request.method {
    case "POST": return request.body
    case "GET":
      // Base64 may contain unescaped slashes, so everything after the responder's path belongs to it.
      let text = PercentEncoding.decode(request.path.dropFirst(responderPath.count + 1))
      return Base64.standard.decode(text) ?? []
    default: return nil
    }
  }
}
