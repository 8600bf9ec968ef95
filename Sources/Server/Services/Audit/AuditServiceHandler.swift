internal import AppStore
internal import Bytes
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `entitled.v1.AuditService`: the calls that looked at or changed a customer.
struct AuditServiceHandler: AuditServiceMethods {
  let context: ServiceContext

  /// Flushes the buffer first, so that the list has the calls that ended before this one. The position of a page is the
  /// number of the last entry of the previous page.
  ///
  /// - Throws: `STORE_UNAVAILABLE` if the buffer cannot be written, because the list would have a gap.
  func listAuditEntries(
    _ request: ListAuditEntriesRequest, _ call: CallContext
  ) async throws(Status) -> ListAuditEntriesResponse {
    let (page, size) = try context.page(of: request)
    var filter = AuditFilter(limit: size + 1)
    if !request.app.isEmpty { filter.appID = try context.catalog.value.app(request.app).id }
    filter.customerID = request.customerId.given
    filter.actor = request.actor.given
    filter.method = request.method.given
    filter.from = try request.startTime.map { time throws(Status) in try Instant(time, "start_time") }
    filter.to = try request.endTime.map { time throws(Status) in try Instant(time, "end_time") }
    filter.before = try page.number
    do throws(LedgerError) { try await context.records.auditEntries.flush() } catch {
      throw Status(.unavailable, reason: "STORE_UNAVAILABLE", "the last entries cannot be written; retry")
    }
    return try await context.readExpensively(call) { [filter] reader throws(StoreError) in
      let entries = try reader.auditEntries(filter.withoutTypedWhitespace(reader))
      return .with {
        $0.entries = entries.prefix(size).map(Wire.AuditEntry.init)
        if entries.count > size { $0.nextPageToken = page.token(after: entries[size - 1].number) }
      }
    }
  }
}

extension AuditFilter {
  /// White space at the ends of the customer's id counts if entries have it. Those of earlier looks at the log do not say
  /// that there is such a customer.
  fileprivate func withoutTypedWhitespace(_ reader: any StoreSnapshot) throws(StoreError) -> AuditFilter {
    guard let typed = customerID, typed != typed.trimmed, !typed.trimmed.isEmpty else { return self }
    var exact = AuditFilter(limit: 1)
    (exact.appID, exact.customerID, exact.exceptMethod) = (appID, typed, "ListAuditEntries")
    guard try reader.auditEntries(exact).isEmpty else { return self }
    var trimmed = self
    trimmed.customerID = typed.trimmed
    return trimmed
  }
}

extension Wire.AuditEntry {
  fileprivate init(_ entry: Store.AuditEntry) {
    self.init()
    number = entry.number
    time = GoogleProtobuf.Timestamp(entry.at)
    caller = entry.caller
    actor = entry.actor
    method = entry.method
    app = entry.appID
    customerIds = entry.customerIDs
    subject = entry.subject
    note = entry.note
    outcome = entry.outcome
    requestId = entry.requestID
    address = entry.address
    asOf = entry.asOf.map { GoogleProtobuf.Timestamp($0) }
    knownAt = entry.knownAt.map { GoogleProtobuf.Timestamp($0) }
  }
}
