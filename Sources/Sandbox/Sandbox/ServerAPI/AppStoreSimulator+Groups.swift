internal import AppStore
internal import HTTP
internal import JSON

/// Groups and seats (App Store Server API 1.22 and 1.23).
///
/// Each running multiseat purchase is a group of the purchaser and the members who hold its seats.
extension AppStoreSimulator {
  /// Routes the calls about groups and seats.
  func groups(_ call: ServerAPICall) throws -> JSONObject? {
    let path = call.path
    switch (call.request.method, path.count) {
    case ("GET", 3) where path[1] == "currentGroups": return try customerGroups(call, path[2])
    case ("GET", 3) where path[1] == "group": return try groupMembers(call, path[2])
    case (let method, 4...6) where path[1] == "transactions" && path[3] == "seats":
      return try seats(method, call, path)
    default: throw ServerAPIError.generalBadRequest
    }
  }

  /// Handles Get Customer Groups.
  ///
  /// A customer without a group gets Apple's placeholder for tests of organizations (Apple: Get Customer Groups, "in the
  /// sandbox environment").
  private func customerGroups(_ call: ServerAPICall, _ id: String) throws -> JSONObject {
    let account = try account(id, call)
    let lines = world.subscriptions(of: account, in: call.app.id).compactMap { line in
      line.ownership == .assigned && line.isRunning ? line.source.flatMap { self.world.lines[$0] } : line
    }
    let groups = lines.filter(isGroup).map { line in entry(of: line, for: account) }
    return ["groups": .array(groups.isEmpty ? [placeholder(call.app)] : groups)]
  }

  /// Returns a customer's group. Only organizations have roles (Apple: role).
  private func entry(of line: SubscriptionLine, for account: String) -> JSONValue {
    guard line.isOrganization else {
      return [
        "groupId": .string(groupID(of: line)), "groupType": .string(GroupType.consumer.rawValue),
      ]
    }
    let role: GroupRole = line.account == account ? .admin : .member
    return [
      "groupId": .string(groupID(of: line)), "groupType": .string(GroupType.organization.rawValue),
      "roles": [["productId": .string(line.productID), "role": .string(role.rawValue)]],
    ]
  }

  /// The organization that Apple's sandbox returns: the customer administers the first product and none of the others.
  private func placeholder(_ app: SandboxApp) -> JSONValue {
    let products = app.products.filter { $0.type == .autoRenewableSubscription }
    return [
      "groupId": "900000000000000000", "groupType": .string(GroupType.organization.rawValue),
      "roles": .array(
        products.enumerated().map { index, product in
          let role: GroupRole = index == 0 ? .admin : .member
          return ["productId": .string(product.productId), "role": .string(role.rawValue)]
        }),
    ]
  }

  /// Handles Get Group Members: the purchaser, those with an assigned seat, and the app installs of claimed seats. A
  /// page token is a position, so that a change between two pages may repeat or leave out a member.
  private func groupMembers(_ call: ServerAPICall, _ id: String) throws -> JSONObject {
    guard id.count == 18, id.first == "9", let number = Int64(id.dropFirst()) else {
      throw ServerAPIError.invalidGroupId
    }
    let limit = call.query["limit"].map { Int($0) ?? 0 } ?? Self.maxMembers
    guard (1...Self.maxMembers).contains(limit) else { throw ServerAPIError.invalidLimit }
    guard let line = world.lines[number], line.app == call.app.id, isGroup(line) else {
      throw ServerAPIError.groupNotFound
    }
    let accounts = ([line] + world.assignedMembers(of: line)).map {
      appTransactionID(app: $0.app, account: $0.account)
    }
    let members = accounts + line.claims.compactMap(\.appTransactionID)
    let start = try call.query["paginationToken"].map { try index(of: $0, in: members) } ?? 0
    let page = members[start...].prefix(limit)
    let hasMore = page.endIndex < members.endIndex
    return JSONObject(present: [
      ("members", .array(page.map { ["appTransactionId": .string($0)] })), ("hasMore", .bool(hasMore)),
      ("paginationToken", hasMore ? .string("g_\(page.endIndex)") : nil),
    ])
  }

  /// The position in the list at which a page begins.
  private func index(of token: String, in members: [String]) throws(ServerAPIError) -> Int {
    guard token.hasPrefix("g_"), let index = Int(token.dropFirst(2)), members.indices.contains(index) else {
      throw .invalidPaginationToken
    }
    return index
  }

  /// Whether the subscription has seats and an account that pays for it.
  private func isGroup(_ line: SubscriptionLine) -> Bool {
    line.source == nil && line.isRunning && line.invitations != nil
  }

  /// Apple's form of a group id: 18 digits, of which the first is 9.
  private func groupID(of line: SubscriptionLine) -> String {
    let digits = String(line.id)
    return "9" + String(repeating: "0", count: max(0, 17 - digits.count)) + digits
  }

  /// The number of members of a page, by default and at most.
  private static let maxMembers = 100

  // MARK: Seats

  /// Handles the calls about the seats of one purchase.
  private func seats(_ method: String, _ call: ServerAPICall, _ path: [String]) throws -> JSONObject? {
    let line = try purchaseWithSeats(path[2], call)
    switch (method, path.count) {
    case ("GET", 4):
      return [
        "totalSeatCount": JSONValue(world.seats(of: line)),
        "availableSeatCount": JSONValue(max(0, world.memberSeats(of: line) - Int64(line.claims.count))),
        "assignedSeatClaimIds": .array(line.claims.map { .string($0.id) }),
      ]
    case ("POST", 4): return try claimSeat(of: line, call)
    case ("POST", 6) where path[5] == "associate":
      try requireClaim(path[4], of: line)
      guard let account = try call.body()["appTransactionId"]?.stringValue else {
        throw ServerAPIError.generalBadRequest
      }
      try requireInstall(account, of: call.app)
      return try act(
        .associateSeat, of: line, ["seatClaimId": .string(path[4]), "appTransactionId": .string(account)])
    case ("DELETE", 5):
      try requireClaim(path[4], of: line)
      return try act(.releaseSeat, of: line, ["seatClaimId": .string(path[4])])
    default: throw ServerAPIError.generalBadRequest
    }
  }

  /// Returns the subscription if the developer manages its invitations. For an unknown transaction Apple
  /// documents no error, so the response is a plain 404.
  private func purchaseWithSeats(_ id: String, _ call: ServerAPICall) throws -> SubscriptionLine {
    guard let number = Int64(id) else { throw ServerAPIError.invalidOriginalTransactionId }
    guard let sold = world.transaction(number), sold.app == call.app.id else { throw NotFound() }
    guard sold.isFirst else { throw ServerAPIError.transactionIdIsNotOriginal }
    guard let line = world.lines[number], line.source == nil, line.invitations == .developer else {
      throw ServerAPIError.transactionNotDevManagedGroup
    }
    return line
  }

  /// Throws unless the subscription has the claim.
  private func requireClaim(_ id: String, of line: SubscriptionLine) throws(ServerAPIError) {
    guard line.claims.contains(where: { $0.id == id }) else { throw .seatClaimIdNotFound }
  }

  /// Throws unless a customer of the app has the `appTransactionId`.
  private func requireInstall(_ id: String, of app: SandboxApp) throws(ServerAPIError) {
    let isKnown = world.accounts.keys.contains { account in
      world.accounts[account]?.appInstalls[app.id] != nil
        && appTransactionID(app: app.id, account: account) == id
    }
    guard isKnown else { throw .appTransactionIdNotFound }
  }

  /// Handles Claim Seat; a repeated request returns the same claim.
  private func claimSeat(of line: SubscriptionLine, _ call: ServerAPICall) throws -> JSONObject {
    let body = try call.body()
    guard let request = body["requestIdentifier"]?.stringValue, !request.isEmpty else {
      throw ServerAPIError.invalidRequestIdentifier
    }
    var members: JSONObject = [
      "transactionId": .string(String(line.id)), "requestIdentifier": .string(request),
    ]
    if let account = body["appTransactionId"]?.stringValue {
      try requireInstall(account, of: call.app)
      members["appTransactionId"] = .string(account)
    }
    let outcome = try perform(.claimSeat, members, or: ServerAPIError.noAvailableSeats)
    return JSONObject(outcome.members.map { ($0.0, .string($0.1)) })
  }

  /// Performs an action whose response has no body.
  private func act(_ action: Action, of line: SubscriptionLine, _ members: JSONObject) throws -> JSONObject? {
    var members = members
    members["transactionId"] = .string(String(line.id))
    _ = try perform(action, members, or: ServerAPIError.generalBadRequest)
    return nil
  }
}

/// A 404 without an error code of Apple's.
struct NotFound: Error {}
