internal import AppStore
internal import AppStoreClient
internal import Enquiry
internal import Entitlements
internal import Ledger
internal import Store

/// Asks Apple how subscriptions stand whose moment has come.
struct StatusPolling: Sendable {
  /// How many are asked about at a time.
  private static let width = 8

  let store: any EntitlementStore
  let ledger: EvidenceLedger
  let enquiry: PurchaseEnquiry
  let app: AppDefinition
  let place: DeliveryRhythm.Place
  let metrics: FollowUpMetrics
  let now: @Sendable () -> Instant

  /// Asks about all that is due.
  ///
  /// - Throws: ``EnquiryError`` if Apple cannot be asked just now; what was not asked stays due.
  func run() async throws(EnquiryError) {
    do {
      while !Task.isCancelled {
        let reader = try store.makeReader()
        let due = try reader.duePolls(
          of: place.appID, in: place.environment, by: now(), limit: Self.width)
        metrics.waiting(
          polls: try reader.pollBacklog(of: place.appID, in: place.environment, by: now()))
        reader.endTurn()
        guard !due.isEmpty else { return }
        try await ask(try await ledger.stillDue(due, by: now()))
      }
    } catch {
      throw EnquiryError(error)
    }
  }

  private func ask(_ lines: [LineKey]) async throws {
    let answers = await withTaskGroup(of: (LineKey, Result<Void, EnquiryError>).self) { group in
      for line in lines { group.addTask { (line, await ask(line)) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    var asked: [LineKey] = []
    var failure: EnquiryError?
    for (line, answer) in answers {
      switch answer {
      case .success: asked.append(line)
      case .failure(let error) where error.isFinal:
        metrics.polled(.refused)
        asked.append(line)
      case .failure(let error): failure = error
      }
    }
    if !asked.isEmpty { try await ledger.polled(asked, at: now()) }
    if let failure { throw failure }
  }

  private func ask(_ line: LineKey) async -> Result<Void, EnquiryError> {
    var question = PurchaseEnquiry.Question(
      appID: line.appID, environment: line.environment, transactionID: line.originalTransactionID)
    question.priority = .repair
    do {
      let reader = try store.makeReader()
      let beliefs = try Beliefs(about: [line], in: app, at: now(), reader)
      let end = try reader.facts(of: line).transactions.last?.expiresDate
      reader.endTurn()
      let findings = try await enquiry.askStatuses(question)
      if findings.skipsPeriods(of: line, behind: end) { _ = try await enquiry.ask(question) }
      metrics.polled(try beliefs.changed(reader).isEmpty ? .unchanged : .changed)
      reader.endTurn()
      return .success(())
    } catch {
      return .failure(EnquiryError(error))
    }
  }
}

extension PurchaseEnquiry.Findings {
  /// Whether the latest period of a line is not the one that follows `end`, so that those between are missing.
  fileprivate func skipsPeriods(of line: LineKey, behind end: Instant?) -> Bool {
    guard let end else { return true }
    return transactions.contains { transaction in
      transaction.originalTransactionId == line.originalTransactionID
        && transaction.purchaseDate.map { $0 > end } ?? false
    }
  }
}
