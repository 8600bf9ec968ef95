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
    /// Its original transaction id.
    let purchase: String
    let actor: String
    let note: String
    /// `nil` without a key, or without seat endpoints in the environment (API 1.23: sandbox only).
    let client: AppStoreServerClient?
    /// The caller's timeout, for each request to Apple.
    let timeout: Duration?

    /// The scope of the ledger's command. A dry run validates it and stores nothing.
    func scope(isDryRun: Bool = false) -> CommandScope {
      CommandScope(appID: app.id, environment: environment, actor: actor, note: note, isDryRun: isDryRun)
    }
  }

  /// The claimed seats in the order of their claims. The position of a page is the last seat of the previous one.
  func listSeats(_ request: ListSeatsRequest, _ call: CallContext) async throws(Status) -> ListSeatsResponse {
    let (app, environment) = try context.scope(of: request)
    try RequestValidation.given(request.originalTransactionId, "original_transaction_id")
    let (page, size) = try context.page(of: request)
    let purchase = LineKey(
      appID: app.id, environment: environment, lineID: request.originalTransactionId)
    let response = try await context.read { reader throws(StoreError) in
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
    CallScope.show(response.seats.map(\.customerId), of: "purchase \(request.originalTransactionId)")
    return response
  }

  /// Performs a dry run first, so that Apple never receives a claim that the ledger would reject; then calls
  /// Apple, then records the claim. Both sides store the request identifier, so that a retry after a partial
  /// failure completes the claim.
  func claimSeat(
    _ request: ClaimSeatRequest, _ call: CallContext
  ) async throws(Status) -> Wire.ClaimSeatResponse {
    let (request, once) = context.attributed(request, to: call)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      let identifier = try once.requestIdentifier(request.requestIdentifier)
      if !request.customerId.isEmpty { try RequestValidation.customerID(request.customerId) }
      let call = try seatCall(request, call)
      let dryRun = try await self.dryRun(call) { scope async throws(LedgerError) in
        try await context.ledger.claimSeat(
          of: call.purchase, for: request.customerId.given, request: identifier, scope)
      }
      var seatClaimID: String?
      var isClaimed = false
      if let client = call.client, dryRun.evidenceID != nil {
        let claimed: AppStore.ClaimSeatResponse? = try await changeAtApple(once, call) {
          () async throws(AppStoreClientError) in
          try await client.send(
            .claimSeat(
              of: call.purchase, requestIdentifier: identifier, appTransactionID: dryRun.appTransactionID),
            timeout: call.timeout)
        }
        (seatClaimID, isClaimed) = (claimed?.seatClaimId, claimed != nil)
      }
      return try await once.run(call.scope(), afterApple: isClaimed) {
        [seatClaimID] scope async throws(LedgerError) in
        try await context.ledger.claimSeat(
          of: call.purchase, for: request.customerId.given, request: identifier, seatClaimID: seatClaimID,
          scope)
      } response: { outcome in
        .with { $0.seat = outcome.wireSeat }
      }
    }
  }

  /// Performs a dry run, then calls Apple, then records the holder, as ``claimSeat(_:_:)``. Apple learns of it only if
  /// the seat was claimed there and a stored fact has the holder's `appTransactionId`.
  func associateSeat(
    _ request: AssociateSeatRequest, _ call: CallContext
  ) async throws(Status) -> Wire.AssociateSeatResponse {
    let (request, once) = context.attributed(request, to: call)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      try RequestValidation.given(request.seatId, "seat_id")
      try RequestValidation.customerID(request.customerId)
      let call = try seatCall(request, call)
      let associate: @Sendable (CommandScope) async throws(LedgerError) -> CommandResult = {
        [context] scope async throws(LedgerError) in
        try await context.ledger.associateSeat(
          request.seatId, of: call.purchase, with: request.customerId, scope)
      }
      let dryRun = try await self.dryRun(call, associate)
      var isAssociated = false
      if let client = call.client, dryRun.evidenceID != nil, let claimID = dryRun.seat?.seatClaimID,
        let account = dryRun.appTransactionID
      {
        isAssociated =
          try await changeAtApple(once, call) { () async throws(AppStoreClientError) in
            try await client.send(
              .associateSeat(claimID, of: call.purchase, appTransactionID: account), timeout: call.timeout)
          } != nil
      }
      return try await once.run(call.scope(), afterApple: isAssociated, associate) { outcome in
        .with { $0.seat = outcome.wireSeat }
      }
    }
  }

  /// Performs a dry run, then calls Apple if the seat was claimed there, then records the release. A seat that is
  /// released here already changes nothing at Apple either.
  func unclaimSeat(
    _ request: UnclaimSeatRequest, _ call: CallContext
  ) async throws(Status) -> UnclaimSeatResponse {
    let (request, once) = context.attributed(request, to: call)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      try RequestValidation.given(request.seatId, "seat_id")
      let call = try seatCall(request, call)
      let release: @Sendable (CommandScope) async throws(LedgerError) -> CommandResult = {
        [context] scope async throws(LedgerError) in
        try await context.ledger.releaseSeat(request.seatId, of: call.purchase, scope)
      }
      let dryRun = try await self.dryRun(call, release)
      var isReleased = false
      if let client = call.client, dryRun.evidenceID != nil, let claimID = dryRun.seat?.seatClaimID {
        isReleased =
          try await changeAtApple(once, call) { () async throws(AppStoreClientError) in
            try await Self.release(claimID, call, client)
          } != nil
      }
      return try await once.run(call.scope(), afterApple: isReleased, release) { outcome in
        .with { $0.seat = outcome.wireSeat }
      }
    }
  }

  /// Releases a claim at Apple. A claim that Apple no longer has was released by a request whose result was not stored.
  private static func release(
    _ claimID: String, _ call: SeatCall, _ client: AppStoreServerClient
  ) async throws(AppStoreClientError) {
    do throws(AppStoreClientError) {
      try await client.send(.unclaimSeat(claimID, of: call.purchase), timeout: call.timeout)
    } catch {
      guard case .refused = error else { throw error }
      let seats: SeatInfoResponse = try await client.send(.seats(of: call.purchase), timeout: call.timeout)
      guard seats.totalSeatCount != nil, !(seats.assignedSeatClaimIds ?? []).contains(claimID) else {
        throw error
      }
    }
  }

  /// Validates a command against the ledger. Without evidence in its result, the command would change nothing, and
  /// Apple is not called.
  private func dryRun(
    _ call: SeatCall, _ command: (CommandScope) async throws(LedgerError) -> CommandResult
  ) async throws(Status) -> CommandResult {
    try await mapLedgerError { () async throws(LedgerError) in try await command(call.scope(isDryRun: true)) }
  }

  /// Checks the common fields of a request. The client is missing, and the ledger has the only record, in each
  /// environment in which Apple has no seat endpoints.
  private func seatCall(_ request: some SeatRequest, _ call: CallContext) throws(Status) -> SeatCall {
    let (app, environment) = try context.scope(of: request)
    try RequestValidation.given(request.originalTransactionId, "original_transaction_id")
    let client =
      environment == .sandbox ? try? context.apple.lookup.client(for: app.id, in: environment) : nil
    return SeatCall(
      app: app, environment: environment, purchase: request.originalTransactionId, actor: request.actor,
      note: request.note, client: client, timeout: call.remainingTime)
  }

  /// Calls Apple, with a record of the idempotency key as long as the result is unknown.
  ///
  /// - Returns: `nil` if the host lacks the endpoint, so that the ledger has the only record.
  private func changeAtApple<Answer>(
    _ once: Idempotency<some RepeatableRequest>, _ call: SeatCall,
    _ body: () async throws(AppStoreClientError) -> Answer
  ) async throws(Status) -> Answer? {
    try await once.begin(call.scope())
    do throws(AppStoreClientError) {
      return try await body()
    } catch {
      // A refusal by the endpoint carries an error code; a 404 without one means a missing endpoint.
      if case .unexpectedStatus(404) = error { return nil }
      if error.isFinal { try await once.discard() }
      throw Status(error)
    }
  }
}

/// A request that changes a seat.
private protocol SeatRequest: ChangeRequest {
  var originalTransactionId: String { get }
}

extension ClaimSeatRequest: SeatRequest {}
extension AssociateSeatRequest: SeatRequest {}
extension UnclaimSeatRequest: SeatRequest {}

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
  /// A seat and its holder. A released seat has no holder, and a member invited by the developer has no transaction.
  init(_ seat: FamilySharing.Seat, of customerID: String?) {
    self.init()
    seatId = seat.seatID
    guard seat.isHeld else { return }
    customerId = customerID ?? ""
    claimedAt = GoogleProtobuf.Timestamp(seat.claimedAt)
  }
}
