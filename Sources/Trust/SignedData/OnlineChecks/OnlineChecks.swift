package import AppStore
internal import Synchronization

/// Asks certificate authorities whether the certificates of a chain still count, and remembers the answers.
///
/// An answer is used for as long as its authority says, and renewed in the background from the middle of
/// that time on. However many documents wait for it, a certificate is asked about once at a time; after a
/// failure, not again for a while.
package final class OnlineChecks: Sendable {
  private let fetcher: any OCSPFetcher
  private let timeout: Duration
  private let now: @Sendable () -> Instant
  private let entries = Mutex<[[UInt8]: Entry]>([:])

  /// What is known of one certificate, found by its DER.
  private struct Entry {
    var answer: OCSPResponse?
    /// The question that is under way.
    var question: Task<Result<OCSPResponse, OnlineCheckError>, Never>?
    /// When asking failed last, since the last answer.
    var failedAt: Instant?
  }

  /// Only certificates under a trusted root are asked about, and these are a handful.
  private static let capacity = 256
  private static let retryMilliseconds: Int64 = 10_000
  private static let answerLimit = 65_536

  /// Checks that ask through `fetcher`, which may take up to `timeout`.
  package init(
    fetcher: any OCSPFetcher, timeout: Duration = .seconds(5), now: @escaping @Sendable () -> Instant
  ) {
    self.fetcher = fetcher
    self.timeout = timeout
    self.now = now
  }

  /// Checks a chain: the signer's certificate first, the root last. The root is trusted because it was
  /// pinned or configured; nobody is asked about it. Nor about a certificate that names no responder.
  ///
  /// - Returns: when the oldest of the answers was given by its authority; `nil` if there was none to use.
  /// - Throws: ``OnlineCheckError``; with ``OnlineCheckPolicy/soft`` only for a certificate that is known to
  ///   be revoked.
  package func check(
    _ chain: [Certificate], policy: OnlineCheckPolicy
  ) async throws(OnlineCheckError) -> Instant? {
    guard policy != .off else { return nil }
    var oldest: Instant?
    for (certificate, issuer) in zip(chain, chain.dropFirst()) {
      guard let responder = certificate.ocspResponder else { continue }
      let subject = Subject(certificate: certificate, issuer: issuer, responder: responder)
      guard let answer = try await answer(about: subject, policy) else { continue }
      if case .revoked(let moment) = answer.status {
        throw .revoked(certificate: certificate.subject, at: moment)
      }
      if policy == .hard, answer.status == .unknown {
        throw .unavailable(
          "the authority does not know \(certificate.subject)", retryAfterMilliseconds: Self.retryMilliseconds
        )
      }
      oldest = [oldest, answer.thisUpdate].compactMap(\.self).min()
    }
    return oldest
  }

  /// Whom is asked about what.
  private struct Subject: Sendable {
    let certificate: Certificate
    let issuer: Certificate
    let responder: String
  }

  private func answer(
    about subject: Subject, _ policy: OnlineCheckPolicy
  ) async throws(OnlineCheckError) -> OCSPResponse? {
    switch (policy, ask(about: subject, at: now())) {
    case (_, .known(let answer)): return answer
    case (.hard, .underWay(let question)): return try await question.value.get()
    case (.hard, .tooSoon(let wait)):
      throw .unavailable("the authority could not be asked", retryAfterMilliseconds: wait)
    case (.off, _), (.soft, _): return nil
    }
  }

  private enum PendingRequest {
    /// An answer that is still fresh.
    case known(OCSPResponse)
    case underWay(Task<Result<OCSPResponse, OnlineCheckError>, Never>)
    /// It failed a moment ago; that many milliseconds are left to wait.
    case tooSoon(Int64)
  }

  /// What is known; else joins the question that is under way, or begins one unless the last one failed just
  /// now. An answer past the middle of its time is renewed, and counts meanwhile.
  private func ask(about subject: Subject, at now: Instant) -> PendingRequest {
    entries.withLock { entries in
      var entry = entries[subject.certificate.der] ?? Entry()
      let fresh = entry.answer.flatMap { $0.isFresh(at: now) ? $0 : nil }
      if let fresh, entry.question != nil || !fresh.isHalfway(at: now) { return .known(fresh) }
      if let question = entry.question { return .underWay(question) }
      if let failedAt = entry.failedAt {
        let waited = now.milliseconds(since: failedAt)
        // A clock that was set back must not make it wait for long.
        if (0..<Self.retryMilliseconds).contains(waited) {
          return fresh.map(PendingRequest.known) ?? .tooSoon(Self.retryMilliseconds - waited)
        }
      }
      let question = Task { await self.question(subject) }
      entry.question = question
      if entries.count >= Self.capacity { entries = entries.filter { $0.value.question != nil } }
      entries[subject.certificate.der] = entry
      return fresh.map(PendingRequest.known) ?? .underWay(question)
    }
  }

  private func question(_ subject: Subject) async -> Result<OCSPResponse, OnlineCheckError> {
    let outcome: Result<OCSPResponse, OnlineCheckError>
    do {
      let answer = try await fetch(subject)
      outcome = .success(answer)
    } catch {
      outcome = .failure(error)
    }
    let now = now()
    entries.withLock { entries in
      var entry = entries[subject.certificate.der] ?? Entry()
      entry.question = nil
      switch outcome {
      case .success(let answer): (entry.answer, entry.failedAt) = (answer, nil)
      case .failure: entry.failedAt = now
      }
      entries[subject.certificate.der] = entry
    }
    return outcome
  }

  private func fetch(_ subject: Subject) async throws(OnlineCheckError) -> OCSPResponse {
    let retry = Self.retryMilliseconds
    let request: OCSPRequest
    do { request = try OCSPRequest(for: subject.certificate, issuer: subject.issuer) } catch {
      throw .unavailable(error.description, retryAfterMilliseconds: retry)
    }
    let response: [UInt8]
    do throws(OCSPFetchError) {
      response = try await fetcher.fetch(
        request, from: subject.responder, timeout: timeout, limit: Self.answerLimit)
    } catch { throw .unavailable(error.description, retryAfterMilliseconds: retry) }
    let now = now()
    let answer: OCSPResponse
    do throws(OCSPError) {
      answer = try OCSPResponse(response: response, for: subject.certificate, issuer: subject.issuer, at: now)
    } catch { throw .unavailable(error.description, retryAfterMilliseconds: retry) }
    guard answer.isFresh(at: now) else {
      throw .unavailable("the authority's answer is out of date", retryAfterMilliseconds: retry)
    }
    return answer
  }
}

extension OCSPResponse {
  /// Whether half of its time is over.
  fileprivate func isHalfway(at now: Instant) -> Bool {
    guard let nextUpdate else { return true }
    return now.milliseconds(since: thisUpdate) > nextUpdate.milliseconds(since: thisUpdate) / 2
  }
}

/// How much an app cares whether certificates were taken back.
package enum OnlineCheckPolicy: String, Hashable, Sendable, CaseIterable {
  /// Nobody is asked.
  case off
  /// What is known and fresh counts; nothing waits for the network.
  case soft
  /// Without a fresh answer nothing is accepted.
  case hard
}

/// Checks the certificates of an app's documents under the app's policy.
///
/// - Throws: ``OnlineCheckError`` if one was revoked, or if the policy requires a response and there is none.
package typealias OnlineCheck =
  @Sendable (_ documents: [RecognizedDocument], _ appID: String) async throws(OnlineCheckError) -> Void

/// Why a chain fails the online checks.
package enum OnlineCheckError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A certificate was taken back by its authority.
  case revoked(certificate: String, at: Instant)
  /// There is no fresh answer. That says nothing about the document; try again after that many milliseconds.
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
    case .revoked(let certificate, let moment): "the certificate \(certificate) was revoked at \(moment)"
    case .unavailable(let detail, _): "the certificates could not be checked: \(detail)"
    }
  }
}

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
