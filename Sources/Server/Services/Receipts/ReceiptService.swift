internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import SignedData
internal import Store
internal import Wire

/// `entitled.v1.ReceiptService`: what apps hand in.
struct ReceiptService: Sendable {
  private let ledger: EvidenceLedger
  private let inspection: Inspection
  private let gate: OnlineCheckEnforcer?
  private let catalog: CurrentCatalog
  private let now: @Sendable () -> Instant

  init(
    ledger: EvidenceLedger, inspection: Inspection, gate: OnlineCheckEnforcer?, catalog: CurrentCatalog,
    now: @escaping @Sendable () -> Instant
  ) {
    self.ledger = ledger
    self.inspection = inspection
    self.gate = gate
    self.catalog = catalog
    self.now = now
  }

  static let name = "entitled.v1.ReceiptService"

  var methods: [Method] {
    [
      .waitingUnary("/\(Self.name)/SubmitTransaction") {
        (request: SubmitTransactionRequest, _) async throws(Status) in try await submit(request)
      },
      .waitingUnary("/\(Self.name)/Inspect") { (request: InspectRequest, _) async throws(Status) in
        try await inspect(request)
      },
    ]
  }

  private func submit(
    _ request: SubmitTransactionRequest
  ) async throws(Status) -> SubmitTransactionResponse {
    let app = try catalog.value.app(request.app)
    if !request.customerId.isEmpty { try RequestValidation.customerID(request.customerId) }
    let submission = Submission(
      appID: app.id, customerID: request.customerId.given,
      signedTransaction: request.signedTransaction.given,
      signedRenewalInfo: request.signedRenewalInfo.given,
      signedAppTransaction: request.signedAppTransaction.given)
    guard !submission.documents.isEmpty else {
      throw Status(
        .invalidArgument, reason: "MISSING_FIELD", "signed_transaction is empty, and so are the others",
        field: "signed_transaction")
    }
    do throws(LedgerError) {
      let checked = try await certificatesChecked(submission)
      let submitted = try await ledger.submit(submission)
      var response = response(submitted, app)
      response.certificatesCheckedAt = checked.map(GoogleProtobuf.Timestamp.init)
      return response
    } catch {
      throw Status(error)
    }
  }

  /// Asks about the certificates of all documents that a submission brings; when the oldest answer was given.
  private func certificatesChecked(_ submission: Submission) async throws(LedgerError) -> Instant? {
    guard let gate else { return nil }
    var oldest: Instant?
    for document in submission.documents {
      do throws(OnlineCheckError) {
        let asked = try await gate.check([.jws(document.text)], of: submission.appID)
        oldest = [oldest, asked].compactMap(\.self).min()
      } catch {
        guard case .revoked = error else { throw .notChecked(error) }
        throw await ledger.recordRejection(document, of: submission, because: error)
      }
    }
    return oldest
  }

  private func response(_ submitted: SubmissionResult, _ app: AppDefinition) -> SubmitTransactionResponse {
    let now = now()
    return .with { response in
      response.evidenceId = submitted.evidenceID.rawValue
      response.alreadyKnown = submitted.isDuplicate
      response.transaction = submitted.documents.transactionPayload.map(Wire.Transaction.init)
      response.renewalInfo = submitted.documents.renewalPayload.map(Wire.RenewalInfo.init)
      response.environment = Wire.Environment(submitted.environment)
      guard let customerID = submitted.customerID else { return }
      response.customerId = customerID
      response.entitlements = entitlements(of: submitted, app).map { entitlement in
        CheckResponse(
          evaluate(submitted.facts, entitlement: entitlement, in: app, at: now), of: entitlement, in: app,
          environment: submitted.environment, evaluatedAt: now)
      }
    }
  }

  /// What the documents may have changed: what the product gives, or all if it is not about one.
  private func entitlements(of submitted: SubmissionResult, _ app: AppDefinition) -> [String] {
    guard let product = submitted.documents.transaction?.productID else { return app.entitlements }
    return app.products[product]?.entitlements ?? []
  }

  private func inspect(_ request: InspectRequest) async throws(Status) -> InspectResponse {
    let app = try catalog.value.app(request.app)
    guard request.document.isEmpty != request.documentBytes.isEmpty else {
      throw Status(
        .invalidArgument, reason: "MISSING_FIELD", "exactly one of document and document_bytes is needed",
        field: "document")
    }
    let document = request.document.isEmpty ? request.documentBytes : Array(request.document.utf8)
    let response = inspection.inspect(document, deviceIdentifier: request.deviceIdentifier, for: app)
    guard response.verified, let gate, let recognized = try? RecognizedDocument(document) else {
      return response
    }
    do throws(OnlineCheckError) {
      let checked = try await gate.check([recognized], of: app.id)
      return response.with(certificatesCheckedAt: checked)
    } catch {
      guard case .revoked = error else { throw Status(error) }
      return response.with(revoked: error)
    }
  }
}

extension String {
  /// `nil` for the empty text, with which a message says that there is none.
  var given: String? { isEmpty ? nil : self }
}
