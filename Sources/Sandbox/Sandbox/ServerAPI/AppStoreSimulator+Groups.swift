internal import AppStore
internal import HTTP
internal import JSON

/// Groups and seats (App Store Server API 1.22 and 1.23).
///
/// A purchase with seats forms a group: the purchaser is the administrator, the seat holders are the members.
extension AppStoreSimulator {
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
  private func customerGroups(_ call: ServerAPICall, _ id: String) throws -> JSONObject {
    let account = try account(id, call)
    let lines = world.subscriptions(of: account, in: call.app.id).compactMap { line in
      line.ownership == .assigned ? line.source.flatMap { self.world.lines[$0] } : line
    }
    return [
      "groups": .array(
        lines.filter(isGroup).map { line in
          [
            "groupId": .string(groupID(of: line)), "groupType": "ORGANIZATION",
            "roles": [
              [
                "productId": .string(line.productID),
                "role": line.account == account ? "ADMIN" : "NONE",
              ]
            ],
          ]
        })
    ]
  }

  /// Handles Get Group Members.
  private func groupMembers(_ call: ServerAPICall, _ id: String) throws -> JSONObject {
    guard id.count == 18, id.first == "9", let number = Int64(id.dropFirst()) else {
      throw ServerAPIError.invalidGroupId
    }
    let limit = call.query["limit"].map { Int($0) ?? 0 } ?? Self.maxMembers
    guard (1...Self.maxMembers).contains(limit) else { throw ServerAPIError.invalidLimit }
    guard let line = world.lines[number], line.app == call.app.id, isGroup(line) else {
      throw ServerAPIError.groupNotFound
    }
    let assigned = line.members.compactMap { world.lines[$0] }.filter {
      $0.ownership == .assigned && $0.isRunning
    }
    let accounts = ([line] + assigned).map { appTransactionID(app: $0.app, account: $0.account) }
    let members = accounts + line.claims.compactMap(\.appTransactionID)
    let start = try call.query["paginationToken"].map { try index(of: $0, in: members) } ?? 0
    let page = members[start...].prefix(limit)
    let hasMore = page.endIndex < members.endIndex
    return JSONObject(present: [
      ("members", .array(page.map { ["appTransactionId": .string($0)] })), ("hasMore", .bool(hasMore)),
      ("paginationToken", hasMore ? .string("g_\(page.endIndex)") : nil),
    ])
  }

  private func index(of token: String, in members: [String]) throws(ServerAPIError) -> Int {
    guard token.hasPrefix("g_"), let index = Int(token.dropFirst(2)), members.indices.contains(index) else {
      throw .invalidPaginationToken
    }
    return index
  }

  private func isGroup(_ line: SubscriptionLine) -> Bool {
    line.source == nil && line.isRunning && (world.seats(of: line) > 1 || !line.claims.isEmpty)
  }

  private func groupID(of line: SubscriptionLine) -> String {
    let digits = String(line.id)
    return "9" + String(repeating: "0", count: max(0, 17 - digits.count)) + digits
  }

  private static let maxMembers = 100

  // MARK: Seats

  private func seats(_ method: String, _ call: ServerAPICall, _ path: [String]) throws -> JSONObject? {
    let line = try purchaseWithSeats(path[2], call)
    switch (method, path.count) {
    case ("GET", 4):
      return [
        "totalSeatCount": JSONValue(world.seats(of: line)),
        "availableSeatCount": JSONValue(max(0, world.seats(of: line) - Int64(line.claims.count))),
        "assignedSeatClaimIds": .array(line.claims.map { .string($0.id) }),
      ]
    case ("POST", 4): return try claimSeat(of: line, try call.body())
    case ("POST", 6) where path[5] == "associate":
      guard let account = try call.body()["appTransactionId"]?.stringValue else {
        throw ServerAPIError.generalBadRequest
      }
      return try act(
        .associateSeat, of: line, ["seatClaimId": .string(path[4]), "appTransactionId": .string(account)])
    case ("DELETE", 5): return try act(.releaseSeat, of: line, ["seatClaimId": .string(path[4])])
    default: throw ServerAPIError.generalBadRequest
    }
  }

  /// Returns the subscription if the developer manages its invitations. For an unknown transaction Apple
  /// documents no error, so the response is a plain 404.
  private func purchaseWithSeats(_ id: String, _ call: ServerAPICall) throws -> SubscriptionLine {
    guard let number = Int64(id) else { throw ServerAPIError.invalidOriginalTransactionId }
    guard let sold = world.transaction(number), sold.app == call.app.id else { throw NotFound() }
    guard sold.isFirst else { throw ServerAPIError.transactionIdIsNotOriginal }
    guard let line = world.lines[number], line.source == nil,
      world.invitationManagement(of: line.productID, in: line.app) == .developer
    else { throw ServerAPIError.transactionNotDevManagedGroup }
    return line
  }

  private func claimSeat(of line: SubscriptionLine, _ body: JSONObject) throws -> JSONObject {
    guard let request = body["requestIdentifier"]?.stringValue, !request.isEmpty else {
      throw ServerAPIError.invalidRequestIdentifier
    }
    var members: JSONObject = [
      "transactionId": .string(String(line.id)), "requestIdentifier": .string(request),
    ]
    members["appTransactionId"] = body["appTransactionId"]
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
