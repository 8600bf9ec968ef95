internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import SignedData
internal import Store
internal import Wire

/// `entitled.v1.ReceiptService`: submission and inspection of evidence, signatures and migrations. Submitted evidence
/// is durable when the method returns.
struct ReceiptServiceHandler: ReceiptServiceMethods {
  let context: ServiceContext
  private let inspection: Inspection

  init(_ context: ServiceContext) {
    self.context = context
    inspection = Inspection(verifier: context.verifier)
  }

  /// Submits a transaction, a renewal info and an app transaction together; at least one of them. Online checks that
  /// the app requires come first, and a document with a revoked certificate is stored as rejected.
  ///
  /// - Throws: the status of the ledger, such as `OWNED_BY_ANOTHER_CUSTOMER`. A document that does not verify is stored
  ///   as rejected evidence, whose id the error has.
  func submitTransaction(
    _ request: SubmitTransactionRequest, _ call: CallContext
  ) async throws(Status) -> SubmitTransactionResponse {
    let app = try context.catalog.value.app(request.app)
    if !request.customerId.isEmpty { try RequestValidation.customerID(request.customerId) }
    let submission = Submission(
      appID: app.id, customerID: request.customerId.given,
      signedTransaction: request.signedTransaction.given,
      signedRenewalInfo: request.signedRenewalInfo.given,
      signedAppTransaction: request.signedAppTransaction.given)
    guard !submission.documents.isEmpty else {
      throw .missingField("signed_transaction", "signed_transaction is empty, and so are the others")
    }
    guard submission.documents.contains(where: { !$0.text.isEmpty }) else {
      throw Status(
        .invalidArgument, reason: UnrecognizedDocument.empty.reason,
        UnrecognizedDocument.empty.description, field: "signed_transaction")
    }
    do throws(LedgerError) {
      let checked = try await certificatesChecked(submission)
      let submitted = try await context.ledger.submit(submission)
      var response = response(submitted, app)
      response.certificatesCheckedAt = checked.map(GoogleProtobuf.Timestamp.init)
      CallScope.show([response.customerId])
      return response
    } catch {
      throw Status(error)
    }
  }

  /// Performs the online checks for all documents of a submission; returns the time of the oldest response.
  private func certificatesChecked(_ submission: Submission) async throws(LedgerError) -> Instant? {
    guard let onlineChecks = context.apple.onlineChecks else { return nil }
    var oldest: Instant?
    for document in submission.documents {
      do throws(OnlineCheckError) {
        let checked = try await onlineChecks.check([.jws(document.text)], of: submission.appID)
        oldest = [oldest, checked].compactMap(\.self).min()
      } catch {
        guard case .revoked = error else { throw .notChecked(error) }
        throw await context.ledger.recordRejection(document, of: submission, because: error)
      }
    }
    return oldest
  }

  /// The response with the customer's answers after the submission; without a customer, it has the documents alone.
  private func response(_ submitted: SubmissionResult, _ app: AppDefinition) -> SubmitTransactionResponse {
    let now = context.now(in: submitted.environment)
    return .with { response in
      response.evidenceId = submitted.evidenceID.rawValue
      response.alreadyKnown = submitted.isDuplicate
      response.transaction = submitted.documents.transaction.map {
        Wire.Transaction($0, of: app, environment: submitted.environment)
      }
      response.renewalInfo = submitted.documents.renewal.map {
        Wire.RenewalInfo($0, environment: submitted.environment)
      }
      response.environment = Wire.Environment(submitted.environment)
      guard let customerID = submitted.customerID else { return }
      response.customerId = customerID
      response.entitlements = entitlements(of: submitted, app).map { entitlement in
        Entitlement(
          evaluate(submitted.facts, entitlement: entitlement, in: app, at: now), of: entitlement, in: app,
          at: now)
      }
    }
  }

  /// The entitlements that the documents may have changed: those of the product, or all if there is none.
  private func entitlements(of submitted: SubmissionResult, _ app: AppDefinition) -> [String] {
    guard let product = submitted.documents.transaction?.productID else { return app.entitlements }
    return app.products[product]?.entitlements ?? []
  }

  /// Inspects a document without storing it. Online checks apply to a document that verifies, as in a submission.
  ///
  /// - Throws: `MISSING_FIELD` for an empty document, `ONLINE_CHECK_UNAVAILABLE`. A document that does not verify is no
  ///   error.
  func inspect(_ request: InspectRequest, _ call: CallContext) async throws(Status) -> InspectResponse {
    let app = try context.catalog.value.app(request.app)
    let document: [UInt8] =
      switch request.content {
      case .document(let text)?: Array(text.utf8)
      case .rawDocument(let bytes)?: bytes
      case nil: []
      }
    guard !document.isEmpty else { throw .missingField("document", "document and raw_document are empty") }
    let response = inspection.inspect(document, deviceIdentifier: request.deviceIdentifier, for: app)
    guard response.verified, let onlineChecks = context.apple.onlineChecks,
      let recognized = try? RecognizedDocument(document)
    else {
      return response
    }
    do throws(OnlineCheckError) {
      let checked = try await onlineChecks.check([recognized], of: app.id)
      return response.with(certificatesCheckedAt: checked)
    } catch {
      guard case .revoked = error else { throw Status(error) }
      return response.with(revoked: error)
    }
  }
}

extension String {
  /// `nil` if the text is empty, the default of an unset field.
  var given: String? { isEmpty ? nil : self }
}
