internal import AppStore
internal import Notifications
package import SignedData

/// Performs the online checks that an app's policy requires before its documents are ingested.
package struct OnlineCheckEnforcer: Sendable {
  private let checks: OnlineChecks
  private let verifier: SignedDataVerifier
  private let policies: [String: OnlineCheckPolicy]

  /// Creates an enforcer with the policies by app id. An app without a policy requires no checks.
  package init(checks: OnlineChecks, verifier: SignedDataVerifier, policies: [String: OnlineCheckPolicy]) {
    self.checks = checks
    self.verifier = verifier
    self.policies = policies
  }

  /// ``check(_:of:)`` without its result, for callers that do not report the age of the responses.
  package var check: OnlineCheck {
    { documents, appID async throws(OnlineCheckError) in _ = try await check(documents, of: appID) }
  }

  /// Checks the certificates of all signed documents of a submission.
  ///
  /// A document whose certificate chain does not verify is skipped, because the ledger rejects it with the
  /// reason.
  ///
  /// - Returns: the time of the oldest OCSP response used; `nil` if no check was needed.
  /// - Throws: ``OnlineCheckError`` if a certificate is revoked, or if a required response is not available.
  @discardableResult
  func check(
    _ documents: [RecognizedDocument], of appID: String
  ) async throws(OnlineCheckError) -> Instant? {
    guard let policy = policies[appID], policy != .off else { return nil }
    var oldest: Instant?
    for document in documents {
      let chain: [Certificate]
      do { chain = try verifier.certificates(of: document) } catch { continue }
      oldest = [oldest, try await checks.check(chain, policy: policy)].compactMap(\.self).min()
    }
    return oldest
  }
}
