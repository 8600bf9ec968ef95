internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import FamilySharing
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Seats of purchases for which the developer sends the invitations. Assignments are recorded here, and at
// Apple where the App Store Server API has endpoints for them.
extension AppStoreServiceHandler {
  /// The purchase that a request is about, and the client for Apple's seat endpoints.
  private struct SeatCall: Sendable {
    let app: AppDefinition
    let environment: AppStore.Environment
    let number: String
    let actor: String
    /// `nil` without a key, or without seat endpoints in the environment (API 1.23: sandbox only).
    let client: AppStoreServerClient?
    let timeout: Duration?

    func scope(isDryRun: Bool = false) -> CommandScope {
      CommandScope(appID: app.id, environment: environment, actor: actor, isDryRun: isDryRun)
    }
  }

  /// The claimed seats in the order of their claims. The position of a page is the last seat of the previous one.
  func listSeats(_ request: ListSeatsRequest, _ call: CallContext) async throws(Status) -> ListSeatsResponse {
    let app = try context.catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    try RequestValidation.given(request.originalTransactionId, "original_transaction_id")
    let size = try RequestValidation.pageSize(request.pageSize)
    let page = try context.pageTokens.page(request)
    let purchase = LineKey(
      appID: app.id, environment: environment, lineID: request.originalTransactionId)
    return try await context.read { reader throws(StoreError) in
      let all = try reader.seats(of: purchase)
      let start = all.firstIndex { $0.seatID == page.position }.map { $0 + 1 } ?? 0
      let rest = all[start...].filter(\.isHeld)
      var response = ListSeatsResponse()
      response.purchased = Int32(clamping: SeatCapacity(try reader.facts(of: purchase)).current)
      for seat in rest.prefix(size) {
        response.seats.append(
          Wire.Seat(seat, of: try reader.owners(of: purchase.other(seat.seatID)).first))
      }
      if rest.count > size { response.nextPageToken = page.token(after: rest[size - 1].seatID) }
      return response
    }
  }

  /// Performs a dry run first, so that Apple never receives a claim that the ledger would reject; then calls
  /// Apple, then records the claim. Both sides store the request identifier, so that a retry after a partial
  /// failure completes the claim.
  func claimSeat(
    _ request: ClaimSeatRequest, _ call: CallContext
  ) async throws(Status) -> Wire.ClaimSeatResponse {
    let request = request.attributed(to: call)
    let once = Idempotency(of: request, call, context)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      var claim = SeatClaim(
        identifier: try once.requestIdentifier(request.requestIdentifier),
        customerID: request.customerId.given)
      if !request.customerId.isEmpty { try RequestValidation.customerID(request.customerId) }
      let call = try seatCall(
        request.app, request.environment, request.originalTransactionId, by: request.actor, call)
      var scope = call.scope(isDryRun: true)
      scope.note = request.note
      let dryRun = try await self.claim(claim, call, scope)
      scope.isDryRun = false
      if let client = call.client, dryRun.evidenceID != nil {
        try await once.begin(scope)
        claim.seatClaimID = try await claimAtApple(claim, call, client, dryRun, once)
      }
      return try await once.run(scope) { [claim] scope async throws(LedgerError) in
        try await context.ledger.claimSeat(
          of: call.number, for: claim.customerID, request: claim.identifier, seatClaimID: claim.seatClaimID,
          scope)
      } response: { outcome in
        .with { $0.seat = outcome.wireSeat }
      }
    }
  }

  /// The claim of a seat.
  private struct SeatClaim: Sendable {
    let identifier: String
    let customerID: String?
    /// Apple's id; `nil` if Apple was not called.
    var seatClaimID: String?
  }

  /// Claims the seat at Apple, and returns Apple's id of the claim; `nil` if the host lacks the endpoint.
  private func claimAtApple(
    _ claim: SeatClaim, _ call: SeatCall, _ client: AppStoreServerClient, _ dryRun: CommandResult,
    _ once: Idempotency<ClaimSeatRequest>
  ) async throws(Status) -> String? {
    var isFinal = false
    do throws(Status) {
      let claimed: AppStore.ClaimSeatResponse? = try await callIfAvailable {
        () async throws(AppStoreClientError) in
        do throws(AppStoreClientError) {
          return try await client.send(
            .claimSeat(
              of: call.number, requestIdentifier: claim.identifier,
              appTransactionID: dryRun.appTransactionID), timeout: call.timeout)
        } catch {
          isFinal = error.isFinal
          throw error
        }
      }
      return claimed?.seatClaimId
    } catch {
      if isFinal { try await once.forget() }
      throw error
    }
  }

  private func claim(
    _ claim: SeatClaim, _ call: SeatCall, _ scope: CommandScope
  ) async throws(Status) -> CommandResult {
    try await mapLedgerError { () async throws(LedgerError) in
      try await context.ledger.claimSeat(
        of: call.number, for: claim.customerID, request: claim.identifier, scope)
    }
  }

  func associateSeat(
    _ request: AssociateSeatRequest, _ call: CallContext
  ) async throws(Status) -> Wire.AssociateSeatResponse {
    let request = request.attributed(to: call)
    try RequestValidation.given(request.seatId, "seat_id")
    try RequestValidation.customerID(request.customerId)
    let call = try seatCall(
      request.app, request.environment, request.originalTransactionId, by: request.actor, call)
    let dryRun = try await associate(request, call, isDryRun: true)
    if let client = call.client, dryRun.evidenceID != nil, let claimID = dryRun.seat?.seatClaimID,
      let account = dryRun.appTransactionID
    {
      _ = try await callIfAvailable { () async throws(AppStoreClientError) in
        try await client.send(
          .associateSeat(claimID, of: call.number, appTransactionID: account), timeout: call.timeout)
      }
    }
    let outcome = try await associate(request, call, isDryRun: false)
    return .with { $0.seat = outcome.wireSeat }
  }

  private func associate(
    _ request: AssociateSeatRequest, _ call: SeatCall, isDryRun: Bool
  ) async throws(Status) -> CommandResult {
    try await mapLedgerError { () async throws(LedgerError) in
      try await context.ledger.associateSeat(
        request.seatId, of: call.number, with: request.customerId, call.scope(isDryRun: isDryRun))
    }
  }

  func unclaimSeat(
    _ request: UnclaimSeatRequest, _ call: CallContext
  ) async throws(Status) -> UnclaimSeatResponse {
    let request = request.attributed(to: call)
    try RequestValidation.given(request.seatId, "seat_id")
    let call = try seatCall(
      request.app, request.environment, request.originalTransactionId, by: request.actor, call)
    let dryRun = try await unclaim(request, call, isDryRun: true)
    if let client = call.client, dryRun.evidenceID != nil, let claimID = dryRun.seat?.seatClaimID {
      _ = try await callIfAvailable { () async throws(AppStoreClientError) in
        try await client.send(.unclaimSeat(claimID, of: call.number), timeout: call.timeout)
      }
    }
    let outcome = try await unclaim(request, call, isDryRun: false)
    return .with { $0.seat = outcome.wireSeat }
  }

  private func unclaim(
    _ request: UnclaimSeatRequest, _ call: SeatCall, isDryRun: Bool
  ) async throws(Status) -> CommandResult {
    try await mapLedgerError { () async throws(LedgerError) in
      try await context.ledger.releaseSeat(request.seatId, of: call.number, call.scope(isDryRun: isDryRun))
    }
  }

  private func seatCall(
    _ appID: String, _ environment: Wire.Environment, _ number: String, by actor: String,
    _ call: CallContext
  ) throws(Status) -> SeatCall {
    let app = try context.catalog.value.app(appID)
    let environment = try app.environment(environment)
    try RequestValidation.given(number, "original_transaction_id")
    let client = environment == .sandbox ? try? context.lookup.client(for: app.id, in: environment) : nil
    return SeatCall(
      app: app, environment: environment, number: number, actor: actor, client: client,
      timeout: call.remainingTime)
  }

  /// Calls Apple; returns `nil` if the host lacks the endpoint, so that the ledger has the only record.
  private func callIfAvailable<Answer>(
    _ body: () async throws(AppStoreClientError) -> Answer
  ) async throws(Status) -> Answer? {
    do throws(AppStoreClientError) {
      return try await body()
    } catch {
      // A refusal by the endpoint carries an error code; a 404 without one means a missing endpoint.
      if case .unexpectedStatus(404) = error { return nil }
      throw Status(error)
    }
  }
}

extension CommandResult {
  /// The seat as a message of the contract.
  fileprivate var wireSeat: Wire.Seat? { seat.map { Wire.Seat($0, of: customer?.customerID) } }

  /// Apple's `appTransactionId` of the holder; `nil` if no stored fact has it.
  fileprivate var appTransactionID: String? {
    facts.appTransactions.map(\.appTransactionID).first { !$0.isEmpty }
      ?? facts.transactions.lazy.compactMap(\.details.appTransactionID).first
  }
}

extension Wire.Seat {
  /// A claimed seat and its holder. A member invited by the developer has no transaction.
  init(_ seat: FamilySharing.Seat, of customerID: String?) {
    self.init()
    seatId = seat.seatID
    customerId = customerID ?? ""
    claimedAt = GoogleProtobuf.Timestamp(seat.claimedAt)
  }
}
