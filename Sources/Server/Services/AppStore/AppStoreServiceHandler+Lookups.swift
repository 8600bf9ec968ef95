internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Bytes
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Single documents from Apple, and groups, which are informational.
extension AppStoreServiceHandler {
  /// Ingests the transaction, so it takes effect here. `changed` reports whether the document was new.
  /// Apple's page: *Get Transaction Info*.
  ///
  /// - Throws: `APP_STORE_RESPONSE_NOT_GENUINE` if the document does not verify.
  func getTransactionInfo(
    _ request: GetTransactionInfoRequest, _ call: CallContext
  ) async throws(Status) -> GetTransactionInfoResponse {
    try RequestValidation.given(request.transactionId, "transaction_id")
    let call = try self.call(request.app, request.environment, call)
    let answer: TransactionInfoResponse = try await send(.transactionInfo(request.transactionId), call)
    guard let document = answer.signedTransactionInfo else {
      throw Status(AppStoreClientError.missing(field: "signedTransactionInfo"))
    }
    let result = try await ingest([document], lookupRequest(request.transactionId, call))
    CallScope.show(result.customerIDs, of: "transaction \(request.transactionId)")
    return .with {
      $0.transaction = call.messages(result.transactions[...]).first
      $0.customerId = result.customerIDs.first ?? ""
      $0.changed = result.newDocuments > 0
    }
  }

  /// Submits the app transaction as the app would, with Apple as its source; with `customer_id`, on behalf of that
  /// customer. A document that does not verify is stored as rejected evidence, and fails with
  /// `APP_STORE_RESPONSE_NOT_GENUINE`.
  /// Apple's page: *Get App Transaction Info*.
  func getAppTransactionInfo(
    _ request: GetAppTransactionInfoRequest, _ call: CallContext
  ) async throws(Status) -> GetAppTransactionInfoResponse {
    try RequestValidation.given(request.transactionId, "transaction_id")
    let call = try self.call(request.app, request.environment, call)
    let answer: AppTransactionInfoResponse = try await send(
      .appTransactionInfo(of: request.transactionId), call)
    guard let document = answer.signedAppTransactionInfo else {
      throw Status(AppStoreClientError.missing(field: "signedAppTransactionInfo"))
    }
    let submission = Submission(
      appID: call.app.id, customerID: request.customerId.given, signedAppTransaction: document,
      environment: call.environment, source: .appStoreServerAPI)
    let submitted: SubmissionResult
    do throws(LedgerError) {
      submitted = try await context.ledger.submit(submission)
    } catch {
      guard case .rejected(let rejection, let evidence) = error else { throw Status(error) }
      throw Status(LookupError.rejectedDocument(rejection, evidence: evidence))
    }
    CallScope.show(
      submitted.customerID.map { [$0] } ?? [], of: "transaction \(request.transactionId)")
    return .with { response in
      response.customerId = submitted.customerID ?? ""
      response.changed = !submitted.isDuplicate
      guard let install = submitted.documents.appTransactionPayload else { return }
      response.appTransactionId = install.appTransactionId ?? ""
      response.originalApplicationVersion = install.originalApplicationVersion ?? ""
      response.originalPurchaseDate = install.originalPurchaseDate.map(GoogleProtobuf.Timestamp.init)
      response.preorderDate = install.preorderDate.map(GoogleProtobuf.Timestamp.init)
      response.originalPlatform = install.originalPlatform?.rawValue ?? ""
    }
  }

  /// Stores nothing, because a group grants nothing. Apple's words are returned unchanged, also those that this version
  /// does not define.
  /// Apple's page: *Get Customer Groups*.
  func getCustomerGroups(
    _ request: GetCustomerGroupsRequest, _ call: CallContext
  ) async throws(Status) -> Wire.GetCustomerGroupsResponse {
    try RequestValidation.given(request.transactionId, "transaction_id")
    let call = try self.call(request.app, request.environment, call)
    let answer: AppStore.GetCustomerGroupsResponse = try await send(
      .customerGroups(of: request.transactionId), call)
    return .with { response in
      response.groups = (answer.groups ?? []).map { group in
        .with {
          $0.groupId = group.groupId ?? ""
          $0.groupType = group.groupType?.rawValue ?? ""
          $0.roles = (group.roles ?? []).map { role in
            .with {
              $0.productId = role.productId ?? ""
              $0.role = role.role?.rawValue ?? ""
            }
          }
        }
      }
    }
  }

  /// The position of a page is Apple's token. Apple's pages have at most 100 members. Members are app installs to
  /// Apple; the customers are the owners of the purchases that are stored for each install.
  /// Apple's page: *Get Group Members*.
  func listGroupMembers(
    _ request: ListGroupMembersRequest, _ call: CallContext
  ) async throws(Status) -> ListGroupMembersResponse {
    try RequestValidation.given(request.groupId, "group_id")
    let size = min(100, try RequestValidation.pageSize(request.pageSize))
    let page = try context.pageTokens.page(request)
    let call = try self.call(request.app, request.environment, call)
    let answer: AppStore.GetGroupMembersResponse = try await send(
      .groupMembers(of: request.groupId, limit: size, paginationToken: page.position), call)
    let installs = (answer.members ?? []).map { $0.appTransactionId ?? "" }
    let members = try await context.read { reader throws(StoreError) in
      try installs.map { install throws(StoreError) in
        let lines = try reader.lines(ofAppInstall: install, of: call.app.id, in: call.environment)
        var owners: [String] = []
        for line in lines {
          for owner in try reader.owners(of: line) where !owners.containsID(owner) { owners.append(owner) }
        }
        return Wire.GroupMember.with { [owners] in
          $0.appTransactionId = install
          $0.customerIds = owners
        }
      }
    }
    CallScope.show(members.flatMap(\.customerIds), of: "group \(request.groupId)")
    let next = try nextPageToken(answer, page)
    return .with {
      $0.members = members
      $0.nextPageToken = next
    }
  }

  /// Returns Apple's count of seats, which may differ from the seats that ``listSeats(_:_:)`` has here.
  /// Apple's page: *Get Seat Info*.
  func getSeatInfo(
    _ request: GetSeatInfoRequest, _ call: CallContext
  ) async throws(Status) -> GetSeatInfoResponse {
    try RequestValidation.given(request.originalTransactionId, "original_transaction_id")
    let call = try self.call(request.app, request.environment, call)
    let answer: SeatInfoResponse = try await send(.seats(of: request.originalTransactionId), call)
    return .with {
      $0.totalSeatCount = answer.totalSeatCount ?? 0
      $0.availableSeatCount = answer.availableSeatCount ?? 0
      $0.assignedSeatClaimIds = answer.assignedSeatClaimIds ?? []
    }
  }
}
