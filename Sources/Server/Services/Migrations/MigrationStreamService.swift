internal import AppStore
internal import AppStoreClient
internal import Entitlements
internal import Ledger
internal import RPC
internal import ReceiptMigration
internal import Wire

/// `MigrateReceipts` of `entitled.v1.ReceiptService`: receipts in, outcomes out, as fast as the slower side.
struct MigrationStreamService: Sendable {
  private let intake: ReceiptIntake
  private let catalog: CurrentCatalog
  private let now: @Sendable () -> Instant

  init(intake: ReceiptIntake, catalog: CurrentCatalog, now: @escaping @Sendable () -> Instant) {
    self.intake = intake
    self.catalog = catalog
    self.now = now
  }

  /// How many receipts of one stream are worked on at a time: no more are read, and none while their outcomes
  /// are not taken.
  private static let atATime = 16

  var methods: [Method] {
    [
      .bidirectional("/\(ReceiptService.name)/MigrateReceipts") {
        (
          requests: RequestReader<MigrateReceiptsRequest>, responses: ResponseWriter<MigrateReceiptsResponse>,
          _
        ) async throws(Status) in
        try await migrate(requests, responses)
      }
    ]
  }

  private func migrate(
    _ requests: RequestReader<MigrateReceiptsRequest>, _ responses: ResponseWriter<MigrateReceiptsResponse>
  ) async throws(Status) {
    let (outcomes, outcome) = AsyncStream.makeStream(of: MigrateReceiptsResponse.self)
    let (turns, turn) = AsyncStream.makeStream(of: Void.self)
    for _ in 0..<Self.atATime { turn.yield() }
    async let reading = work(on: requests, turns, outcome)
    // Each outcome goes out as soon as it is there, however slowly the next receipt comes; and only when it is out
    // may another receipt be read.
    for await outcome in outcomes {
      try await responses.write(outcome)
      turn.yield()
    }
    try await reading.get()
  }

  /// Works on each receipt as its turn comes, until there are no more.
  private func work(
    on requests: RequestReader<MigrateReceiptsRequest>, _ turns: AsyncStream<Void>,
    _ done: AsyncStream<MigrateReceiptsResponse>.Continuation
  ) async -> Result<Void, Status> {
    let (start, lines) = (now(), LineLocks())
    defer { done.finish() }
    return await withDiscardingTaskGroup { group -> Result<Void, Status> in
      var turn = turns.makeAsyncIterator()
      do throws(Status) {
        while await turn.next() != nil, let request = try await requests.next() {
          group.addTask { done.yield(await outcome(of: request, queriedSince: start, lines)) }
        }
        return .success(())
      } catch {
        group.cancelAll()
        return .failure(error)
      }
    }
  }

  private func outcome(
    of request: MigrateReceiptsRequest, queriedSince start: Instant, _ lines: LineLocks
  ) async -> MigrateReceiptsResponse {
    var response = MigrateReceiptsResponse()
    response.correlationId = request.correlationId
    do throws(Status) {
      var incoming = try incoming(request)
      incoming.queriedSince = start
      incoming.lineLocks = lines
      let outcome: ReceiptOutcome
      do throws(ReceiptError) { outcome = try await intake.submit(incoming) } catch {
        response.outcome = error.mayPass ? .retryable : .rejected
        throw Status(error)
      }
      response.outcome =
        outcome.taken.isEmpty ? .empty : outcome.taken.changedState ? .migrated : .unchanged
      response.transactions = Int32(clamping: outcome.taken.facts.transactions.count)
      guard let reason = outcome.pendingReason else { return response }
      response.outcome = .retryable
      throw Status(
        .unavailable, reason: reason, "Apple could not be asked; the receipt's own word holds until it can")
    } catch {
      if case .unspecified = response.outcome { response.outcome = .rejected }
      response.error = GoogleRPC.Status(error)
      return response
    }
  }

  private func incoming(_ request: MigrateReceiptsRequest) throws(Status) -> IncomingReceipt {
    let app = try catalog.value.app(request.app)
    if !request.customerId.isEmpty { try RequestValidation.customerID(request.customerId) }
    let content: IncomingReceipt.Content
    switch request.source {
    case .receiptBase64(let text)?: content = .text(text)
    case .receiptBytes(let bytes)?: content = .receipt(bytes)
    case .originalTransactionId(let number)?: content = .originalTransactionID(number)
    case nil:
      throw Status(
        .invalidArgument, reason: "MISSING_FIELD",
        "one of receipt_base64, receipt_bytes and original_transaction_id is needed",
        field: "receipt_base64")
    }
    var incoming = IncomingReceipt(appID: app.id, customerID: request.customerId.given, content: content)
    incoming.environment = try app.environment(request.environment)
    incoming.source = .migration
    incoming.priority = .backfill
    return incoming
  }
}
