package import JSON

/// The groups of a customer (Get Customer Groups, API 1.22). Informational: access follows from transactions.
package struct GetCustomerGroupsResponse: DecodedPayload {
  package let json: JSONObject

  package let groups: [GroupEntry]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    groups = try json.parts("groups")
  }
}

/// A group and the customer's roles in it.
package struct GroupEntry: DecodedPayload {
  package let json: JSONObject

  /// Identifies the group in Get Group Members.
  package let groupId: String?
  package let groupType: GroupType?
  /// One for each product; only for ``GroupType/organization``.
  package let roles: [RoleEntry]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    groupId = try json.string("groupId")
    groupType = try json.code("groupType")
    roles = try json.parts("roles")
  }
}

/// The kind of buyer of a group's seats (Apple's `groupType`).
package enum GroupType: OpenCode {
  /// An organization, through Volume Purchasing.
  case organization
  /// A subscriber, through Group Purchases.
  case consumer
  case unrecognized(String)

  package static let known: [GroupType] = [.organization, .consumer]

  package var rawValue: String {
    switch self {
    case .organization: "ORGANIZATION"
    case .consumer: "CONSUMER"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// A customer's role for a product of an organization's group (Apple's `role`). Informational.
package enum GroupRole: OpenCode {
  /// May use the product.
  case member
  /// Manages the seats of the product.
  case admin
  case unrecognized(String)

  package static let known: [GroupRole] = [.member, .admin]

  package var rawValue: String {
    switch self {
    case .member: "NONE"
    case .admin: "ADMIN"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// A customer's role in a group for one product.
package struct RoleEntry: DecodedPayload {
  package let json: JSONObject

  package let productId: String?
  package let role: GroupRole?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    productId = try json.string("productId")
    role = try json.code("role")
  }
}

/// A page of the members of a group (Get Group Members, API 1.22).
package struct GetGroupMembersResponse: DecodedPayload {
  package let json: JSONObject

  /// At most 100.
  package let members: [GroupMember]?
  /// Whether there is a next page.
  package let hasMore: Bool?
  /// The token of the next page.
  package let paginationToken: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    members = try json.parts("members")
    hasMore = try json.bool("hasMore")
    paginationToken = try json.string("paginationToken")
  }
}

/// A member of a group.
package struct GroupMember: DecodedPayload {
  package let json: JSONObject

  /// Identifies the member's Apple account within the app.
  package let appTransactionId: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    appTransactionId = try json.string("appTransactionId")
  }
}

/// The seats of one purchase (Get Seat Info, API 1.23).
package struct SeatInfoResponse: DecodedPayload {
  package let json: JSONObject

  /// The number of purchased seats.
  package let totalSeatCount: Int64?
  /// The number of unassigned seats.
  package let availableSeatCount: Int64?
  /// May exceed ``totalSeatCount``: the number of seats decreases at a renewal without Apple unclaiming
  /// seats.
  package let assignedSeatClaimIds: [String]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    totalSeatCount = try json.integer("totalSeatCount")
    availableSeatCount = try json.integer("availableSeatCount")
    assignedSeatClaimIds = try json.strings("assignedSeatClaimIds")
  }
}

/// The response to a seat claim (Claim Seat, API 1.23).
package struct ClaimSeatResponse: DecodedPayload {
  package let json: JSONObject

  /// Identifies the claim, with which the seat is associated and unclaimed.
  package let seatClaimId: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    seatClaimId = try json.string("seatClaimId")
  }
}
