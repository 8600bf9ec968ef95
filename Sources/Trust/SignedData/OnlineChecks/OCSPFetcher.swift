/// Brings a certificate authority's answers from the network.
package protocol OCSPFetcher: Sendable {
  /// Sends an OCSP request by POST (RFC 6960, appendix A.1) and returns the body of the answer.
  ///
  /// Redirects are not followed, and an answer of more than `limit` bytes is an error. Must end within
  /// `timeout`.
  func fetch(
    _ request: OCSPRequest, from address: String, timeout: Duration, limit: Int
  ) async throws(OCSPFetchError) -> [UInt8]
}

/// The network brought no answer.
package struct OCSPFetchError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  /// `description` says what went wrong, for the operator's log.
  package init(_ description: String) { self.description = description }
}
