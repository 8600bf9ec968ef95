internal import AppReceipt
internal import AppStore
package import AppStoreClient
internal import Bytes
internal import Entitlements
internal import Ledger
internal import Metrics
package import SignedData

/// Finds out whether a receipt is genuine, as the app's policy wants it.
package struct ReceiptVerifier: Sendable {
  private let verifier: SignedDataVerifier
  private let endpoints: [String: VerifyReceiptSettings]

  /// A verifier. `endpoints` are those of the apps that ask `verifyReceipt`, by the operator's names for them.
  package init(verifier: SignedDataVerifier, endpoints: [String: VerifyReceiptSettings]) {
    self.verifier = verifier
    self.endpoints = endpoints
  }

  /// The receipt, if it is genuine, for this app and in one of its environments.
  func verify(
    _ document: [UInt8], of app: AppDefinition, _ policy: ReceiptPolicy, _ incoming: IncomingReceipt
  ) async throws(ReceiptError) -> VerifiedReceipt {
    let local: Result<VerifiedReceipt, ReceiptRefusal>
    switch verifyHere(document, of: app, device: incoming.deviceIdentifier) {
    case .failure(.notVerified(.cryptographyFailed(let error))): throw .ledger(.notVerifiable(error))
    case let result: local = result
    }
    // Apple knows nothing of what Xcode signs.
    let isIssuedByXcode =
      (try? local.get().environment == .xcode) ?? (local.refusal?.reason == "XCODE_NOT_ALLOWED")
    guard policy.verification != .local, !isIssuedByXcode, let endpoint = endpoints[app.id] else {
      return try local.getOrRefuse()
    }
    let answer = try await endpoint.ask(document, of: app, incoming)
    guard policy.verification == .both else { return try answer.getOrRefuse() }
    switch (local, answer) {
    case (.success(let receipt), .success): return receipt
    case (.failure(let refusal), .failure): throw .refused(refusal, evidence: nil)
    case (.success, .failure(let refusal)): throw Self.disagreement("VERIFIED", refusal.reason)
    case (.failure(let refusal), .success): throw Self.disagreement(refusal.reason, "0")
    }
  }

  private static func disagreement(_ local: String, _ endpoint: String) -> ReceiptError {
    Counter(label: "entitled_receipt_verification_mismatches_total").increment()
    return .refused(.verificationsDisagree(local: local, endpoint: endpoint), evidence: nil)
  }

  private func verifyHere(
    _ document: [UInt8], of app: AppDefinition, device: [UInt8]
  ) -> Result<VerifiedReceipt, ReceiptRefusal> {
    do throws(VerificationError) {
      let verified: Verified<AppReceiptPayload> = try verifier.verifyReceipt(
        document, for: app.identity, environments: Set(app.environments))
      let environment = verified.payload.receiptType?.environment ?? .sandbox
      guard device.isEmpty || (try? verified.payload.isFor(device: device)) == true else {
        return .failure(.wrongDevice)
      }
      return .success(
        VerifiedReceipt(verified.payload, document, environment: environment, of: app))
    } catch {
      return .failure(.notVerified(error))
    }
  }
}

/// Apple's `verifyReceipt` for one app.
package struct VerifyReceiptSettings: Sendable {
  private let client: VerifyReceiptClient
  private let sharedSecret: String?

  /// Asks through `client`, with the app's shared secret if it has one.
  package init(client: VerifyReceiptClient, sharedSecret: String?) {
    self.client = client
    self.sharedSecret = sharedSecret
  }

  /// - Throws: ``ReceiptError/unavailable(reason:explanation:retryAfter:)`` if Apple said neither yes nor no.
  fileprivate func ask(
    _ document: [UInt8], of app: AppDefinition, _ incoming: IncomingReceipt
  ) async throws(ReceiptError) -> Result<VerifiedReceipt, ReceiptRefusal> {
    let (response, environment): (VerifyReceiptResponse, Environment)
    do throws(AppStoreClientError) {
      (response, environment) = try await client.verify(
        Base64.standard.encode(document), sharedSecret: sharedSecret,
        first: app.environments.contains(.production) ? .production : .sandbox,
        priority: incoming.priority, timeout: incoming.timeout)
    } catch {
      throw .unavailable(
        reason: "VERIFY_RECEIPT_UNAVAILABLE", explanation: error.description,
        retryAfter: error.retryAfter ?? .seconds(60))
    }
    switch response.status {
    case .valid?, .expired?: break
    case .sharedSecretMismatch?:
      throw .unavailable(
        reason: "VERIFY_RECEIPT_21004", explanation: "verifyReceipt does not accept the app's shared_secret",
        retryAfter: .seconds(600))
    case let status? where status.isRetryable || response.isRetryable == true:
      throw .unavailable(
        reason: "VERIFY_RECEIPT_\(status.rawValue)",
        explanation: "verifyReceipt answers \(status.rawValue), which may pass", retryAfter: .seconds(60))
    case let status?: return .failure(.refusedByEndpoint(status))
    case nil:
      throw .unavailable(
        reason: "VERIFY_RECEIPT_UNAVAILABLE", explanation: "verifyReceipt's answer has no status",
        retryAfter: .seconds(60))
    }
    guard let bundle = response.receipt?.bundleId, bundle == app.identity.bundleID else {
      return .failure(.notVerified(.wrongBundle(response.receipt?.bundleId?.debugDescription ?? "none")))
    }
    guard app.environments.contains(environment) else {
      return .failure(.notVerified(.wrongEnvironment(environment.rawValue)))
    }
    return .success(VerifiedReceipt(response, document, environment: environment, of: app))
  }
}

extension Result<VerifiedReceipt, ReceiptRefusal> {
  fileprivate var refusal: ReceiptRefusal? {
    if case .failure(let refusal) = self { refusal } else { nil }
  }

  fileprivate func getOrRefuse() throws(ReceiptError) -> VerifiedReceipt {
    switch self {
    case .success(let receipt): return receipt
    case .failure(let refusal): throw .refused(refusal, evidence: nil)
    }
  }
}
