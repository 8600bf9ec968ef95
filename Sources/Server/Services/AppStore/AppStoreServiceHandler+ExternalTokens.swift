internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// External purchase tokens and their deadlines.
extension AppStoreServiceHandler {
  /// The position of a page is the deadline and the id of the last token of the previous page.
  /// Reads the store and does not call Apple. The earliest deadline comes first; `overdue` is decided by the clock of
  /// the token's environment.
  func listExternalPurchaseTokens(
    _ request: ListExternalPurchaseTokensRequest, _ call: CallContext
  ) async throws(Status) -> ListExternalPurchaseTokensResponse {
    let app = try context.catalog.value.app(request.app)
    let (page, size) = try context.page(of: request)
    var query = ExternalTokenFilter(appID: app.id, limit: size + 1)
    if request.environment != .unspecified { query.environment = try app.environment(request.environment) }
    query.onlyUnreported = !request.includeReported
    query.after = page.position.flatMap(TimedPosition.init)
    let found = try await context.read { [query] reader throws(StoreError) in
      try reader.externalTokens(query)
    }
    return .with {
      $0.tokens = found.prefix(size).map { token in
        Wire.ExternalPurchaseToken(token, at: context.now(in: token.environment))
      }
      if found.count > size {
        let last = found[size - 1]
        $0.nextPageToken = page.token(after: TimedPosition(last.reportBy, last.externalPurchaseID))
      }
    }
  }
}

extension Wire.ExternalPurchaseToken {
  /// `now` is by the clock of the token's environment, and decides whether a report is overdue.
  fileprivate init(_ token: ExternalTokenRecord, at now: Instant) {
    self.init()
    externalPurchaseId = token.externalPurchaseID
    environment = Wire.Environment(token.environment)
    tokenType = token.tokenType
    createdAt = GoogleProtobuf.Timestamp(token.createdAt)
    expiresAt = token.expiresAt.map(GoogleProtobuf.Timestamp.init)
    reportBy = GoogleProtobuf.Timestamp(token.reportBy)
    state = token.isReported ? .reported : token.isOverdue(at: now) ? .overdue : .unreported
    complainedAt = token.complainedAt.map(GoogleProtobuf.Timestamp.init)
    reportedAt = token.reportedAt.map(GoogleProtobuf.Timestamp.init)
    reportStatus = token.reportStatus
    requestIdentifier = token.requestIdentifier
    evidenceId = token.evidenceID.rawValue
  }
}
