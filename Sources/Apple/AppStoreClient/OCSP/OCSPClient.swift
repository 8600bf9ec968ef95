package import SignedData
internal import Telemetry
internal import Tracing

/// Sends OCSP requests to certificate authorities over HTTP. The responses are signed, so TLS is not needed.
package struct OCSPClient: OCSPFetcher {
  private let exchange: any HTTPExchange

  /// Creates a client that sends through `exchange`, which must not follow redirects: the URL is part of a
  /// certificate under a trusted root, and a redirect's target is not.
  package init(exchange: any HTTPExchange) { self.exchange = exchange }

  /// Returns the response of the responder in DER, not yet verified. `limit` is its maximum size in bytes.
  ///
  /// - Throws: ``OCSPFetchError`` if the responder did not answer with 200.
  package func fetch(
    _ request: OCSPRequest, from address: String, timeout: Duration, limit: Int
  ) async throws(OCSPFetchError) -> [UInt8] {
    let post = OutgoingRequest(
      method: "POST", url: address,
      headers: [("content-type", "application/ocsp-request"), ("accept", "application/ocsp-response")],
      body: request.der)
    let response: IncomingResponse
    do throws(HTTPExchangeError) {
      response = try await tracedAsRoot(
        "ocsp", .client, attributes: ["http.request.method": "POST", "url.full": "\(address)"]
      ) { _ throws(HTTPExchangeError) in
        try await exchange.send(post, timeout: timeout, limit: limit)
      }
    } catch {
      throw OCSPFetchError("\(address): \(error)")
    }
    guard response.status == 200 else {
      throw OCSPFetchError("\(address) returned HTTP \(response.status)")
    }
    return response.body
  }
}
