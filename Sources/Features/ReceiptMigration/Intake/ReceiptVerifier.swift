internal import AppReceipt
internal import AppStore
package import AppStoreClient
internal import Bytes
internal import Entitlements
internal import Ledger
internal import Metrics
package import SignedData
internal import Telemetry
internal import Tracing

/// Verifies receipts as the app's policy demands: locally, by Apple's `verifyReceipt`, or by both. Receipts of Xcode
/// are always verified locally, because Apple does not have them.
package struct ReceiptVerifier: Sendable {
  private let verifier: SignedDataVerifier
  private let endpoints: [String: VerifyReceiptSettings]

  /// Creates a verifier. `endpoints` are by app id, for the apps that use `verifyReceipt`.
  package init(verifier: SignedDataVerifier, endpoints: [String: VerifyReceiptSettings]) {
    self.verifier = verifier
    self.endpoints = endpoints
  }

  /// Verifies that a receipt is authentic, for this app, and from one of its environments.
  ///
  /// If both verifications are demanded and one of them accepts the receipt, it is rejected as a mismatch and counted,
  /// because the policy exists to find such cases. If both reject it, the local reason is reported.
  ///
  /// - Throws: ``ReceiptError/rejected(_:evidence:)`` without evidence; the errors of a call without a verdict;
  ///   ``ReceiptError/ledger(_:)`` if the cryptographic library failed.
  func verify(
    _ document: [UInt8], of app: AppDefinition, _ policy: ReceiptPolicy, _ incoming: IncomingReceipt
  ) async throws(ReceiptError) -> VerifiedReceipt {
    let local: Result<VerifiedReceipt, ReceiptRejection>
    switch verifyLocally(document, of: app, device: incoming.deviceIdentifier) {
    case .failure(.notVerified(.cryptographyFailed(let error))): throw .ledger(.notVerifiable(error))
    case let result: local = result
    }
    // The App Store does not know receipts of Xcode.
    let isIssuedByXcode =
      (try? local.get().environment == .xcode) ?? (local.rejection?.reason == "XCODE_NOT_ALLOWED")
    guard policy.verification != .local, !isIssuedByXcode, let endpoint = endpoints[app.id] else {
      return try local.getOrThrow()
    }
    let response = try await endpoint.verify(document, of: app, incoming)
    guard policy.verification == .both else { return try response.getOrThrow() }
    switch (local, response) {
    case (.success(let receipt), .success): return receipt
    case (.failure(let rejection), .failure): throw .rejected(rejection, evidence: nil)
    case (.success, .failure(let rejection)): throw Self.mismatch("VERIFIED", rejection.reason)
    case (.failure(let rejection), .success): throw Self.mismatch(rejection.reason, "0")
    }
  }

  /// The error of a disagreement, which is counted.
  private static func mismatch(_ local: String, _ endpoint: String) -> ReceiptError {
    Counter(label: "entitled_receipt_verification_mismatches_total").increment()
    return .rejected(.verificationMismatch(local: local, endpoint: endpoint), evidence: nil)
  }

  /// Verifies signature, app and environment, and the device if `device` is not empty (Apple, "Validating receipts on
  /// the device").
  private func verifyLocally(
    _ document: [UInt8], of app: AppDefinition, device: [UInt8]
  ) -> Result<VerifiedReceipt, ReceiptRejection> {
    do throws(VerificationError) {
      let verified = try tracedInline("verify", attributes: ["entitled.document": "receipt"]) {
        () throws(VerificationError) -> Verified<AppReceiptPayload> in
        try verifier.verifyReceipt(document, for: app.identity, environments: Set(app.environments))
      }
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

/// One app's access to Apple's `verifyReceipt`, which Apple has deprecated.
package struct VerifyReceiptSettings: Sendable {
  private let client: VerifyReceiptClient
  private let secrets: SharedSecrets

  /// Creates settings. `secrets` has none for an app without auto-renewable subscriptions.
  package init(client: VerifyReceiptClient, secrets: SharedSecrets) {
    self.client = client
    self.secrets = secrets
  }

  /// Returns the verdict of `verifyReceipt`, which is asked in Production first if the app accepts that. The signature
  /// is not verified here; the bundle id and the environment of the response are.
  ///
  /// - Throws: ``ReceiptError/verifyReceiptFailed(_:)``, ``ReceiptError/cancelled``.
  fileprivate func verify(
    _ document: [UInt8], of app: AppDefinition, _ incoming: IncomingReceipt
  ) async throws(ReceiptError) -> Result<VerifiedReceipt, ReceiptRejection> {
    let (response, environment): (VerifyReceiptResponse, Environment)
    do throws(AppStoreClientError) {
      (response, environment) = try await client.verify(
        Base64.standard.encode(document), sharedSecret: secrets[app.id]?.text,
        first: app.environments.contains(.production) ? .production : .sandbox,
        priority: incoming.priority, timeout: incoming.deadline?.remaining)
    } catch {
      throw error == .cancelled ? .cancelled : .verifyReceiptFailed(.callFailed(error))
    }
    switch response.status {
    case .valid?, .expired?: break
    case .sharedSecretMismatch?: throw .verifyReceiptFailed(.sharedSecretMismatch)
    case let status? where status.isRetryable || response.isRetryable == true:
      throw .verifyReceiptFailed(.temporaryStatus(status))
    case let status?: return .failure(.rejectedByVerifyReceipt(status))
    case nil: throw .verifyReceiptFailed(.missingStatus)
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

extension Result<VerifiedReceipt, ReceiptRejection> {
  /// The reason of a rejection; `nil` for an accepted receipt.
  fileprivate var rejection: ReceiptRejection? {
    if case .failure(let rejection) = self { rejection } else { nil }
  }

  /// The receipt, or its rejection as an error.
  fileprivate func getOrThrow() throws(ReceiptError) -> VerifiedReceipt {
    switch self {
    case .success(let receipt): return receipt
    case .failure(let rejection): throw .rejected(rejection, evidence: nil)
    }
  }
}
