internal import Entitlements
internal import Ledger
internal import RPC
internal import Wire

// Submission of several purchases, as an app restores them.
extension ReceiptServiceHandler {
  private static let maxSubmissions = 100
  /// Submissions that run at the same time share a commit.
  private static let concurrency = 16

  /// Submits 1 to 100 purchases of one customer, 16 at the same time. Each has its own result, in the order of the
  /// request: one that fails does not end the others. A repeated call changes nothing for those that succeeded.
  func submitTransactions(
    _ request: SubmitTransactionsRequest, _ call: CallContext
  ) async throws(Status) -> SubmitTransactionsResponse {
    _ = try context.catalog.value.app(request.app)
    guard (1...Self.maxSubmissions).contains(request.submissions.count) else {
      throw .invalidField(
        "submissions",
        "there are \(request.submissions.count) submissions and must be 1 to \(Self.maxSubmissions)")
    }
    let results = await withTaskGroup(of: (Int, SubmissionOutcome).self) { group in
      var results = [SubmissionOutcome](repeating: .init(), count: request.submissions.count)
      for index in request.submissions.indices {
        if index >= Self.concurrency, let (done, result) = await group.next() { results[done] = result }
        let submission = SubmitTransactionRequest(request.submissions[index], of: request)
        group.addTask { (index, await result(of: submission, call)) }
      }
      for await (done, result) in group { results[done] = result }
      return results
    }
    return .with { $0.results = results }
  }

  /// The result of one submission; its error is part of the response.
  private func result(
    of request: SubmitTransactionRequest, _ call: CallContext
  ) async -> SubmissionOutcome {
    do throws(Status) {
      let response = try await submitTransaction(request, call)
      return .with { $0.outcome = .response(response) }
    } catch {
      return .with { $0.outcome = .error(GoogleRPC.Status(error)) }
    }
  }
}

extension SubmitTransactionRequest {
  fileprivate init(_ documents: Wire.SubmittedDocuments, of request: SubmitTransactionsRequest) {
    self.init()
    app = request.app
    customerId = request.customerId
    signedTransaction = documents.signedTransaction
    signedRenewalInfo = documents.signedRenewalInfo
    signedAppTransaction = documents.signedAppTransaction
  }
}
