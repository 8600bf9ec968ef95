internal import AppStore
internal import Bytes
internal import Callers
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Single pieces of evidence and events.
extension CustomerServiceHandler {
  /// Returns a piece of evidence with its contents and the events that it caused. The body needs the role `admin`,
  /// because it has what ``Inspection`` hides, such as the shared secret of a version 1 notification. The document is
  /// verified again, so the response has the verdict of the present trust anchors beside the stored one.
  ///
  /// - Throws: `ROLE_MISSING`, `UNKNOWN_EVIDENCE` also for evidence of another app.
  func getEvidence(
    _ request: GetEvidenceRequest, _ call: CallContext
  ) async throws(Status) -> GetEvidenceResponse {
    let app = try context.catalog.value.app(request.app)
    if request.includeBody, !call.hasRole(.admin) {
      throw Status(CallerError.roleMissing(caller: call.caller, needed: .admin))
    }
    let id = EvidenceID(rawValue: request.evidenceId)
    let mayOperate = call.hasRole(.operate)
    let found = try await context.readExpensively(call) {
      reader throws(StoreError) -> (response: GetEvidenceResponse, body: [UInt8]?)? in
      guard let stored = try reader.evidence(id), stored.evidence.appID == app.id else { return nil }
      let response = try GetEvidenceResponse(stored, in: app, showsOtherCustomer: mayOperate, reader)
      return (response, stored.evidence.content.body)
    }
    guard let (decoded, body) = found else {
      throw Status(
        .notFound, reason: "UNKNOWN_EVIDENCE", "the app has no evidence \(request.evidenceId)",
        field: "evidence_id")
    }
    var response = decoded
    if let body, response.commandJson.isEmpty {
      response.document = Inspection(verifier: context.verifier).inspect(body, deviceIdentifier: [], for: app)
    }
    if request.includeBody { response.body = body ?? [] }
    let customers = response.customerIds + response.events.map(\.customerId)
    CallScope.show(customers, of: "evidence \(request.evidenceId)")
    return response
  }

  /// Returns one event by its sequence. The id of another customer that it involves needs the role `operate`.
  func getEvent(_ request: GetEventRequest, _ call: CallContext) async throws(Status) -> GetEventResponse {
    let app = try context.catalog.value.app(request.app)
    let stored = try await context.read { reader throws(StoreError) -> StoredEvent? in
      guard request.sequence > 0 else { return nil }
      return try reader.events(ofApp: app.id, after: request.sequence - 1, limit: 1).first
    }
    guard let stored, stored.sequence == request.sequence, stored.event.customer.appID == app.id else {
      throw Status(
        .notFound, reason: "UNKNOWN_EVENT", "the app has no event \(request.sequence)", field: "sequence")
    }
    CallScope.show([stored.event.customer.customerID], of: "event \(request.sequence)")
    return .with {
      $0.event = EntitlementEvent(stored, in: app, showsOtherCustomer: call.hasRole(.operate))
    }
  }
}

extension GetEvidenceResponse {
  /// The stored members of the response. Events are searched with each present and former owner of the purchases, and
  /// with the customers that the evidence names.
  fileprivate init(
    _ stored: StoredEvidence, in app: AppDefinition, showsOtherCustomer: Bool, _ reader: any StoreSnapshot
  ) throws(StoreError) {
    let (evidence, subject) = (stored.evidence, EvidenceSubject(stored.evidence))
    self.init()
    evidenceId = stored.id.rawValue
    kind = subject.word
    source = evidence.source.rawValue
    environment = evidence.environment.map(Wire.Environment.init) ?? .unspecified
    receivedAt = GoogleProtobuf.Timestamp(evidence.receivedAt)
    knownAt = GoogleProtobuf.Timestamp(stored.knownAt)
    if case .rejected(let reason) = evidence.verdict { rejectionReason = reason }
    size = Int64(evidence.content.size)
    sha256 = Hex.encode(evidence.content.hash)
    hasBody = evidence.content.body != nil
    if let command = subject.command {
      commandJson = String(decoding: evidence.content.body ?? [], as: UTF8.self)
      actor = command.actor
      note = command.note
    }
    customerIds = subject.customerIDs
    guard let environment = evidence.environment else { return }
    let lines = subject.lineIDs.map { LineKey(appID: app.id, environment: environment, lineID: $0) }
    var formerOwners: [String] = []
    for line in lines {
      for owner in try reader.owners(of: line) where !customerIds.containsID(owner) {
        customerIds.append(owner)
      }
      formerOwners += try reader.ownershipChanges(ofLine: line).map(\.customerID)
    }
    originalTransactionIds = lines.filter(\.isPurchase).map(\.lineID)
    transactions = subject.transactions.map { Wire.Transaction($0, of: app, environment: environment) }
    renewalInfos = subject.renewals.map { Wire.RenewalInfo($0, environment: environment) }
    // A purchase that moved since then has left its events with the owner of that time.
    for id in (customerIds + formerOwners).distinctIDs {
      let customer = CustomerKey(appID: app.id, environment: environment, customerID: id)
      events += try reader.events(of: customer, causedBy: stored.id).map {
        EntitlementEvent($0, in: app, showsOtherCustomer: showsOtherCustomer)
      }
    }
    events.sort { $0.sequence < $1.sequence }
  }
}

extension StoreSnapshot {
  /// The events of a customer that one piece of evidence caused.
  fileprivate func events(
    of customer: CustomerKey, causedBy evidence: EvidenceID
  ) throws(StoreError) -> [StoredEvent] {
    let limit = 1_000
    var (found, last): ([StoredEvent], Int64) = ([], 0)
    while true {
      let page = try events(of: customer, after: last, limit: limit)
      found += page.filter { $0.event.evidenceID == evidence }
      guard page.count == limit, let end = page.last?.sequence else { return found }
      last = end
    }
  }
}
