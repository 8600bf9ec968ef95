internal import AppStore
internal import Notifications
package import SignedData

/// Asks for certificates at their authority before a document counts, for the apps that want it.
package struct OnlineCheckEnforcer: Sendable {
  private let checks: OnlineChecks
  private let verifier: SignedDataVerifier
  private let policies: [String: OnlineCheckPolicy]

  /// A gate with the policies of the apps, by the operator's names for them; apps that are not there want none.
  package init(checks: OnlineChecks, verifier: SignedDataVerifier, policies: [String: OnlineCheckPolicy]) {
    self.checks = checks
    self.verifier = verifier
    self.policies = policies
  }

  /// Lets signed documents of an app pass, for whoever does not ask how old the answers are.
  package var check: OnlineCheck {
    { documents, appID async throws(OnlineCheckError) in _ = try await check(documents, of: appID) }
  }

  /// Lets signed documents of an app pass: whatever a submission brings.
  ///
  /// One whose certificates are not to be trusted passes too: whoever verifies it says so, with the reason.
  ///
  /// - Returns: when the oldest answer that was used was given; `nil` if there was none.
  /// - Throws: ``OnlineCheckError`` if a certificate was revoked, or if there must be an answer and is none.
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
