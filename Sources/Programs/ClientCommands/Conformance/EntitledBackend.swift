internal import Bytes
internal import Conformance
internal import EntitledClient
internal import JSON
internal import RPC
internal import Wire

/// A running service as a backend of the conformance kit. Its configuration is the kit's `entitled.yaml`: an app for
/// each run, because the service deletes nothing, and one for Production.
struct EntitledBackend: BackendUnderTest {
  private let connection: ClientConnection

  init(_ connection: ClientConnection) { self.connection = connection }

  /// Checks that the service has the app of the run: it cannot empty one.
  func begin(run: Int) async throws(BackendFailure) {
    let apps = try await answer { () async throws(ClientError) in
      try await connection.whoAmI(WhoAmIRequest()).apps
    }
    guard apps.contains(Self.app(run)) else {
      throw BackendFailure(
        "the service has no app '\(Self.app(run))'; start it with the kit's entitled.yaml (--extract writes it)"
      )
    }
  }

  /// Verifies a document with `Inspect`, which stores nothing. A genuine document of another kind than the vector's
  /// counts as rejected.
  func verify(_ vector: VerificationVector) async throws(BackendFailure) -> VerificationAnswer {
    var request = InspectRequest()
    request.app = vector.environment == "Production" ? "production" : Self.app(0)
    request.content = .document(vector.document)
    if let device = vector.device {
      guard let identifier = Base64.standard.decode(device) else {
        throw BackendFailure("the device of the vector is not Base64")
      }
      request.deviceIdentifier = identifier
    }
    let response: InspectResponse
    do throws(ClientError) { response = try await connection.inspect(request) } catch {
      // An empty text is refused as a request.
      if case .failed(let status) = error, status.code == .invalidArgument { return .rejected(reason: nil) }
      throw BackendFailure(error.description)
    }
    guard response.verified else { return .rejected(reason: response.reason) }
    guard response.kind.vectorKind == vector.kind else { return .rejected(reason: "WRONG_KIND") }
    return .accepted(payload: try? JSONValue(parsing: response.payloadJson).objectValue)
  }

  func deliver(_ step: Lifecycle.Step, of customer: String, run: Int) async throws(BackendFailure) {
    if step.kind == "transaction" {
      let request = SubmitTransactionRequest.with {
        $0.app = Self.app(run)
        $0.customerId = customer
        $0.signedTransaction = step.document
      }
      _ = try await answer { () async throws(ClientError) in try await connection.submitTransaction(request) }
    } else {
      let request = IngestNotificationRequest.with {
        $0.app = Self.app(run)
        $0.body = Array(step.document.utf8)
      }
      _ = try await answer { () async throws(ClientError) in try await connection.ingestNotification(request)
      }
    }
  }

  /// The state as of `at`, milliseconds since 1970, from `Explain`.
  func state(of customer: String, _ entitlement: String, at: Int64, run: Int) async throws(BackendFailure)
    -> StateAnswer
  {
    let request = ExplainRequest.with {
      $0.app = Self.app(run)
      $0.customerId = customer
      $0.entitlement = entitlement
      $0.asOf = GoogleProtobuf.Timestamp(millisecondsSince1970: at)
    }
    let response = try await answer { () async throws(ClientError) in try await connection.explain(request) }
    guard let found = response.entitlement else { throw BackendFailure("Explain returned no entitlement") }
    return StateAnswer(
      isEntitled: found.entitled, status: found.state.vectorStatus,
      until: found.until?.millisecondsSince1970.map { .at($0) } ?? .none)
  }

  private static func app(_ run: Int) -> String { "run-\(run)" }

  private func answer<Answer>(_ call: () async throws(ClientError) -> Answer) async throws(BackendFailure)
    -> Answer
  {
    do { return try await call() } catch { throw BackendFailure(error.description) }
  }
}

extension Wire.DocumentKind {
  /// The kind in the words of the kit; `nil` for kinds without vectors.
  fileprivate var vectorKind: String? {
    switch self {
    case .signedTransaction: "transaction"
    case .signedRenewalInfo: "renewal-info"
    case .signedAppTransaction: "app-transaction"
    case .notificationV2: "notification"
    case .appReceipt: "receipt"
    default: nil
    }
  }
}

extension Wire.EntitlementState {
  /// The state in the words of the kit; `nil` for states without vectors.
  fileprivate var vectorStatus: String? {
    switch self {
    case .activeAutoRenewOn, .activeAutoRenewOff, .nonRenewing, .lifetime: "ACTIVE"
    case .gracePeriod: "GRACE_PERIOD"
    case .billingRetry: "BILLING_RETRY"
    case .expiredBilling, .expiredPriceIncrease, .productUnavailable, .cancelled, .upgraded,
      .nonRenewingExpired:
      "EXPIRED"
    case .refundedAppIssue, .refundedOther, .familySharingEnded: "REVOKED"
    case .missing: "NONE"
    default: nil
    }
  }
}
