internal import AppStore
internal import CustomerImport
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Open disagreements between RevenueCat's events and the answers here.
extension ReceiptServiceHandler {
  /// The bodies of events on a page end it, in bytes.
  private static let pageBytes = 1 << 20

  /// The position of a page is the last disagreement of the previous page.
  func listDisagreements(
    _ request: ListDisagreementsRequest, _ call: CallContext
  ) async throws(Status) -> ListDisagreementsResponse {
    let app = try context.catalog.value.app(request.app)
    let (page, size) = try context.page(of: request)
    var query = DisagreementFilter(
      appID: app.id, environment: try app.environment(request.environment), limit: size + 1)
    query.customerID = request.customerId.given
    query.after = page.position.flatMap(DisagreementFilter.Position.init)
    let found = try await context.read { [query] reader throws(StoreError) in
      var found: [(record: OpenDisagreement, event: [UInt8])] = []
      var bytes = 0
      for record in try reader.openDisagreements(query) {
        let event =
          try reader.importedEvent(record.eventID, of: query.appID, in: query.environment) ?? []
        found.append((record, event))
        bytes += event.count
        if bytes > Self.pageBytes { break }
      }
      return found
    }
    // The last one is the beginning of the next page.
    let isWhole = found.count <= size && found.reduce(0, { $0 + $1.event.count }) <= Self.pageBytes
    let shown = isWhole || found.count == 1 ? found[...] : found.dropLast()
    CallScope.show(shown.map(\.record.customer.customerID), of: "disagreements")
    return .with {
      $0.disagreements = shown.map { Disagreement($0.record, $0.event) }
      if !isWhole, let last = shown.last?.record {
        $0.nextPageToken = page.token(
          after: "\(last.detectedAt.millisecondsSince1970)\n\(last.entitlement)\n\(last.customer.customerID)")
      }
    }
  }
}

extension DisagreementFilter.Position {
  /// The position in a page token; `nil` for another one.
  fileprivate init?(_ text: String) {
    let parts = text.split(separator: "\n", maxSplits: 2)
    guard parts.count == 3, let time = Int64(parts[0]) else { return nil }
    self.init(
      detectedAt: Instant(millisecondsSince1970: time), customerID: String(parts[2]),
      entitlement: String(parts[1]))
  }
}

extension Disagreement {
  fileprivate init(_ record: OpenDisagreement, _ body: [UInt8]) {
    self.init()
    customerId = record.customer.customerID
    entitlement = record.entitlement
    kind =
      switch record.kind {
      case .theirsOnly: .theirsOnly
      case .oursOnly: .oursOnly
      case .otherEnd: .otherEnd
      }
    detectedAt = GoogleProtobuf.Timestamp(record.detectedAt)
    checkedAt = GoogleProtobuf.Timestamp(record.checkedAt)
    statedUntil = record.statedUntil.map(GoogleProtobuf.Timestamp.init)
    eventId = record.eventID
    if let event = try? RevenueCatEvent(body) {
      eventType = event.type
      eventAt = GoogleProtobuf.Timestamp(event.occurredAt)
      eventJson = String(decoding: body, as: UTF8.self)
    }
    reason = record.reason.rawValue
    until = record.until.map(GoogleProtobuf.Timestamp.init)
    evidenceId = record.evidenceID?.rawValue
  }
}
