package import JSON

/// The groups of a customer (Get Customer Groups, API 1.22). Informational: access follows from transactions.
package struct GetCustomerGroupsResponse: DecodedPayload {
  package let json: JSONObject

  package let groups: [GroupEntry]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    groups = try reader.parts("groups")
  }
}

/// A group and the customer's roles in it.
package struct GroupEntry: DecodedPayload {
  package let json: JSONObject

  package let groupId: String?
  /// `ORGANIZATION` or `CONSUMER`.
  package let groupType: String?
  /// One for each product.
  package let roles: [RoleEntry]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    groupId = try reader.string("groupId")
    groupType = try reader.string("groupType")
    roles = try reader.parts("roles")
  }
}

/// A customer's role in a group for one product.
package struct RoleEntry: DecodedPayload {
  package let json: JSONObject

  package let productId: String?
  /// `NONE` or `ADMIN`.
  package let role: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    productId = try reader.string("productId")
    role = try reader.string("role")
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
    let reader = PayloadReader(json: json)
    self.json = json
    members = try reader.parts("members")
    hasMore = try reader.bool("hasMore")
    paginationToken = try reader.string("paginationToken")
  }
}

/// A member of a group.
package struct GroupMember: DecodedPayload {
  package let json: JSONObject

  /// Identifies the member's Apple account within the app.
  package let appTransactionId: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    appTransactionId = try reader.string("appTransactionId")
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
    let reader = PayloadReader(json: json)
    self.json = json
    totalSeatCount = try reader.integer("totalSeatCount")
    availableSeatCount = try reader.integer("availableSeatCount")
    assignedSeatClaimIds = try reader.strings("assignedSeatClaimIds")
  }
}

/// The response to a seat claim (Claim Seat, API 1.23).
package struct ClaimSeatResponse: DecodedPayload {
  package let json: JSONObject

  package let seatClaimId: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    seatClaimId = try reader.string("seatClaimId")
  }
}
