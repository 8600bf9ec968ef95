internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
package import SignedData

/// Asks certificate authorities over HTTP. Their answers are signed, so that no TLS is needed.
package final class HTTPFetcher: OCSPFetcher {
  /// The fetcher, on the process's own event loops. It lives as long as the process: its client may not be
  /// let go of before all its connections are closed, and these have nothing that a stop could lose.
  package static let shared = HTTPFetcher()

  private let client: HTTPClient

  private init() {
    var configuration = HTTPClient.Configuration()
    // The address stands in a certificate under a trusted root; where a redirect leads nobody vouches for.
    configuration.redirectConfiguration = .disallow
    configuration.httpVersion = .http1Only
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  package func fetch(
    _ request: OCSPRequest, from address: String, timeout: Duration, limit: Int
  ) async throws(OCSPFetchError) -> [UInt8] {
    var post = HTTPClientRequest(url: address)
    post.method = .POST
    post.headers.add(name: "content-type", value: "application/ocsp-request")
    post.headers.add(name: "accept", value: "application/ocsp-response")
    post.body = .bytes(ByteBuffer(bytes: request.der))
    do {
      let response = try await client.execute(post, timeout: TimeAmount(timeout))
      guard response.status == .ok else {
        throw OCSPFetchError("\(address) answers with the status \(response.status.code)")
      }
      return Array(try await response.body.collect(upTo: limit).readableBytesView)
    } catch let error as OCSPFetchError {
      throw error
    } catch {
      throw OCSPFetchError("\(address): \(error)")
    }
  }
}
