package import AppStore
internal import Synchronization

/// Checks the revocation status of certificates by OCSP, and caches the responses.
///
/// A response is used until it expires, and renewed in the background from the middle of its lifetime. At
/// most one request per certificate is in flight; after a failure, the next one waits.
package final class OnlineChecks: Sendable {
  private let fetcher: any OCSPFetcher
  private let now: @Sendable () -> Instant
  private let entries = Mutex<[[UInt8]: Entry]>([:])

  /// The state of one certificate; the key is its DER.
  private struct Entry {
    var response: OCSPResponse?
    /// The request in flight.
    var request: Task<Result<OCSPResponse, OnlineCheckError>, Never>?
    /// The time of the last failure since the last response.
    var failedAt: Instant?
  }

  /// Only certificates under a trusted root are checked, and these are a handful.
  private static let capacity = 256
  /// The time after a failed request in which there is no other one about the certificate.
  private static let retryMilliseconds: Int64 = 10_000
  private static let maxResponseBytes = 65_536
  /// The limit of each request.
  private static let timeout = Duration.seconds(5)

  /// Checks with requests through `fetcher`.
  package init(fetcher: any OCSPFetcher, now: @escaping @Sendable () -> Instant) {
    self.fetcher = fetcher
    self.now = now
  }

  /// Checks a chain, leaf to root. Skips the root, which is pinned or configured, and certificates without a
  /// responder.
  ///
  /// - Returns: `thisUpdate` of the oldest response used; `nil` without any.
  /// - Throws: ``OnlineCheckError``; under ``OnlineCheckPolicy/soft`` only for a certificate known to be revoked.
  package func check(
    _ chain: [Certificate], policy: OnlineCheckPolicy
  ) async throws(OnlineCheckError) -> Instant? {
    guard policy != .off else { return nil }
    var oldest: Instant?
    for (certificate, issuer) in zip(chain, chain.dropFirst()) {
      guard let responder = certificate.ocspResponder else { continue }
      let subject = Subject(certificate: certificate, issuer: issuer, responder: responder)
      guard let response = try await response(for: subject, policy) else { continue }
      if case .revoked(let instant) = response.status {
        throw .revoked(certificate: certificate.subject, at: instant)
      }
      if policy == .hard, response.status == .unknown {
        throw .unavailable(
          "unknown certificate \(certificate.subject)", retryAfterMilliseconds: Self.retryMilliseconds
        )
      }
      oldest = [oldest, response.thisUpdate].compactMap(\.self).min()
    }
    return oldest
  }

  /// A certificate to check, with its issuer and responder.
  private struct Subject: Sendable {
    let certificate: Certificate
    let issuer: Certificate
    let responder: String
  }

  /// The status of a certificate as the policy demands it: `hard` waits for a request and fails without a
  /// response; `soft` uses a response that is there, and never waits.
  private func response(
    for subject: Subject, _ policy: OnlineCheckPolicy
  ) async throws(OnlineCheckError) -> OCSPResponse? {
    switch (policy, startRequest(for: subject, at: now())) {
    case (_, .cached(let response)): return response
    case (.hard, .inFlight(let request)): return try await request.value.get()
    case (.hard, .tooSoon(let wait)):
      throw .unavailable("the last OCSP request failed", retryAfterMilliseconds: wait)
    case (.off, _), (.soft, _): return nil
    }
  }

  /// The state of a certificate when a check begins.
  private enum PendingRequest {
    /// A response that is still fresh.
    case cached(OCSPResponse)
    case inFlight(Task<Result<OCSPResponse, OnlineCheckError>, Never>)
    /// The last request failed; the value is the remaining wait in milliseconds.
    case tooSoon(Int64)
  }

  /// Returns the cached response, or joins the request in flight, or starts one unless the last one just
  /// failed. A response past the middle of its lifetime is renewed, and used meanwhile.
  private func startRequest(for subject: Subject, at now: Instant) -> PendingRequest {
    entries.withLock { entries in
      var entry = entries[subject.certificate.der] ?? Entry()
      let fresh = entry.response.flatMap { $0.isFresh(at: now) ? $0 : nil }
      if let fresh, entry.request != nil || !fresh.isHalfway(at: now) { return .cached(fresh) }
      if let request = entry.request { return .inFlight(request) }
      if let failedAt = entry.failedAt {
        let waited = now.milliseconds(since: failedAt)
        // A clock that was set back must not prolong the wait.
        if (0..<Self.retryMilliseconds).contains(waited) {
          return fresh.map(PendingRequest.cached) ?? .tooSoon(Self.retryMilliseconds - waited)
        }
      }
      let request = Task { await self.request(subject) }
      entry.request = request
      if entries.count >= Self.capacity { entries = entries.filter { $0.value.request != nil } }
      entries[subject.certificate.der] = entry
      return fresh.map(PendingRequest.cached) ?? .inFlight(request)
    }
  }

  /// Makes a request, and stores its response or the time of its failure.
  private func request(_ subject: Subject) async -> Result<OCSPResponse, OnlineCheckError> {
    let outcome: Result<OCSPResponse, OnlineCheckError>
    do {
      outcome = .success(try await fetch(subject))
    } catch {
      outcome = .failure(error)
    }
    let now = now()
    entries.withLock { entries in
      var entry = entries[subject.certificate.der] ?? Entry()
      entry.request = nil
      switch outcome {
      case .success(let response): (entry.response, entry.failedAt) = (response, nil)
      case .failure: entry.failedAt = now
      }
      entries[subject.certificate.der] = entry
    }
    return outcome
  }

  /// Fetches a response of the responder and verifies it: its signature, its certificate and its age.
  private func fetch(_ subject: Subject) async throws(OnlineCheckError) -> OCSPResponse {
    let retry = Self.retryMilliseconds
    let request: OCSPRequest
    do { request = try OCSPRequest(for: subject.certificate, issuer: subject.issuer) } catch {
      throw .unavailable(error.description, retryAfterMilliseconds: retry)
    }
    let bytes: [UInt8]
    do throws(OCSPFetchError) {
      bytes = try await fetcher.fetch(
        request, from: subject.responder, timeout: Self.timeout, limit: Self.maxResponseBytes)
    } catch { throw .unavailable(error.description, retryAfterMilliseconds: retry) }
    let now = now()
    let response: OCSPResponse
    do throws(OCSPError) {
      response = try OCSPResponse(response: bytes, for: subject.certificate, issuer: subject.issuer, at: now)
    } catch { throw .unavailable(error.description, retryAfterMilliseconds: retry) }
    guard response.isFresh(at: now) else {
      throw .unavailable("the OCSP response is expired", retryAfterMilliseconds: retry)
    }
    return response
  }
}

extension OCSPResponse {
  /// Whether half of its lifetime is over.
  fileprivate func isHalfway(at now: Instant) -> Bool {
    guard let nextUpdate else { return true }
    return now.milliseconds(since: thisUpdate) > nextUpdate.milliseconds(since: thisUpdate) / 2
  }
}

/// Whether an app's documents are checked against revocation of Apple's certificates (OCSP).
package enum OnlineCheckPolicy: String, Hashable, Sendable, CaseIterable {
  /// No checks.
  case off
  /// A cached, fresh response is used; verification never waits for the network.
  case soft
  /// Without a fresh response nothing is accepted.
  case hard
}

/// Checks the certificates of an app's documents under the app's policy.
///
/// - Throws: ``OnlineCheckError`` if one was revoked, or if the policy requires a response and there is none.
package typealias OnlineCheck =
  @Sendable (_ documents: [RecognizedDocument], _ appID: String) async throws(OnlineCheckError) -> Void

/// The reason for which a chain fails the online checks.
package enum OnlineCheckError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The authority revoked a certificate.
  case revoked(certificate: String, at: Instant)
  /// There is no fresh response. Says nothing about the document; retry after the given time.
  case unavailable(String, retryAfterMilliseconds: Int64)

  /// A code for machines.
  package var reason: String {
    switch self {
    case .revoked: "REVOKED_CERTIFICATE"
    case .unavailable: "ONLINE_CHECK_UNAVAILABLE"
    }
  }

  package var description: String {
    switch self {
    case .revoked(let certificate, let instant): "the certificate \(certificate) was revoked at \(instant)"
    case .unavailable(let detail, _): "the revocation check is unavailable: \(detail)"
    }
  }
}

/// Sends OCSP requests over the network.
package protocol OCSPFetcher: Sendable {
  /// Sends a request by POST (RFC 6960, appendix A.1) and returns the response body.
  ///
  /// Does not follow redirects. A body of more than `limit` bytes is an error. Must finish within `timeout`.
  func fetch(
    _ request: OCSPRequest, from address: String, timeout: Duration, limit: Int
  ) async throws(OCSPFetchError) -> [UInt8]
}

/// A failed OCSP request.
package struct OCSPFetchError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  /// `description` is for the operator's log.
  package init(_ description: String) { self.description = description }
}
