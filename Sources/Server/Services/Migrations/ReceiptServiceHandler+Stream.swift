internal import AppStore
internal import AppStoreClient
internal import Entitlements
internal import Ledger
internal import Platform
internal import RPC
internal import ReceiptMigration
internal import Wire

// Migration over a stream: the slower side determines the rate.
extension ReceiptServiceHandler {
  /// The maximum number of receipts of one stream in progress, including those with unsent outcomes.
  private static let streamConcurrency = 16

  /// Submits receipts as they arrive, 16 at the same time. Outcomes are sent as they are ready, not in the order of the
  /// requests; `correlation_id` relates them. A receipt that fails does not end the stream.
  func migrateReceipts(
    _ requests: RequestReader<MigrateReceiptsRequest>, _ responses: ResponseWriter<MigrateReceiptsResponse>,
    _ call: CallContext
  ) async throws(Status) {
    await responses.begin()
    let (outcomes, outcome) = AsyncStream.makeStream(of: MigrateReceiptsResponse.self)
    let (permits, permit) = AsyncStream.makeStream(of: Void.self)
    for _ in 0..<Self.streamConcurrency { permit.yield() }
    async let reading = process(requests, permits, outcome, call)
    // Sends each outcome when it is ready, independent of the next receipt. Another receipt is read only
    // after an outcome has been sent.
    for await outcome in outcomes {
      try await responses.write(outcome)
      permit.yield()
    }
    try await reading.get()
  }

  /// Processes receipts concurrently until the stream ends.
  private func process(
    _ requests: RequestReader<MigrateReceiptsRequest>, _ permits: AsyncStream<Void>,
    _ done: AsyncStream<MigrateReceiptsResponse>.Continuation, _ call: CallContext
  ) async -> Result<Void, Status> {
    let (start, lines) = (context.ledger.clocks.times(), KeyLocks())
    defer { done.finish() }
    return await withDiscardingTaskGroup { group -> Result<Void, Status> in
      var permit = permits.makeAsyncIterator()
      do throws(Status) {
        while await permit.next() != nil, let request = try await requests.next() {
          group.addTask { done.yield(await outcome(of: request, queriedSince: start, lines, call)) }
        }
        return .success(())
      } catch {
        group.cancelAll()
        return .failure(error)
      }
    }
  }

  /// One message of the stream as a unary method, which the leader executes for other replicas.
  var receiptOfStream: Method {
    .asyncUnary(Self.streamPath) { (request: MigrateReceiptsRequest, _: CallContext) async throws(Status) in
      await outcome(of: request, queriedSince: context.ledger.clocks.times(), KeyLocks())
    }
  }

  private static let streamPath = "/entitled.v1.ReceiptService/MigrateReceipts"

  /// The outcome of a receipt, by the leader if this process is another replica.
  private func outcome(
    of request: MigrateReceiptsRequest, queriedSince start: EnvironmentTimes, _ lines: KeyLocks,
    _ call: CallContext
  ) async -> MigrateReceiptsResponse {
    guard let forwarder = context.forwarder, !forwarder.executesWrites else {
      return await outcome(of: request, queriedSince: start, lines)
    }
    do throws(Status) {
      let reply = try await forwarder.forward(Self.streamPath, request.encodedBytes(), call)
      do throws(WireError) { return try MigrateReceiptsResponse.decode(reply.message) } catch {
        throw Status(.internalError, "the outcome of the leader cannot be read")
      }
    } catch {
      return .with {
        $0.correlationId = request.correlationId
        $0.outcome = .retryable
        $0.error = GoogleRPC.Status(error)
      }
    }
  }

  /// Submits one receipt of a stream. A failure is part of the response, so that the stream goes on.
  private func outcome(
    of request: MigrateReceiptsRequest, queriedSince start: EnvironmentTimes, _ lines: KeyLocks
  ) async -> MigrateReceiptsResponse {
    var response = MigrateReceiptsResponse()
    response.correlationId = request.correlationId
    do throws(Status) {
      var incoming = try incoming(request)
      incoming.queriedSince = start[incoming.environments.first]
      incoming.lineLocks = lines
      let outcome: ReceiptOutcome
      do throws(ReceiptError) { outcome = try await context.intake.receipts.submit(incoming) } catch {
        response.outcome = error.isRetryable ? .retryable : .rejected
        throw Status(error)
      }
      response.outcome =
        outcome.result.isEmpty ? .empty : outcome.result.changedState ? .migrated : .unchanged
      response.transactionCount = Int32(clamping: outcome.result.facts.transactions.count)
      response.position = await context.positions.position(of: incoming.appID)
      guard let reason = outcome.pendingReason else { return response }
      response.outcome = .retryable
      throw Status(
        .unavailable, reason: reason, "lookup failed; the receipt's contents hold until it succeeds")
    } catch {
      if case .unspecified = response.outcome { response.outcome = .rejected }
      response.error = GoogleRPC.Status(error)
      return response
    }
  }

  /// Checks one request of a stream; exactly one of the three forms of a receipt is needed.
  private func incoming(_ request: MigrateReceiptsRequest) throws(Status) -> IncomingReceipt {
    let app = try context.catalog.value.app(request.app)
    if !request.customerId.isEmpty { try RequestValidation.customerID(request.customerId) }
    let content: IncomingReceipt.Content
    switch request.source {
    case .receiptBase64(let text)?: content = .text(text)
    case .receiptBytes(let bytes)?: content = .receipt(bytes)
    case .originalTransactionId(let number)?: content = .originalTransactionID(number)
    case nil:
      throw .missingField(
        "receipt_base64", "one of receipt_base64, receipt_bytes and original_transaction_id is needed")
    }
    var incoming = IncomingReceipt(appID: app.id, customerID: request.customerId.given, content: content)
    incoming.environments = try app.searchedEnvironments(request.environment)
    incoming.source = .migration
    incoming.priority = .backfill
    return incoming
  }
}
