internal import JSON

// Names that mean the same in another sandbox, where ids and UUIDs are others. A script that repeats a journal uses them.
extension World {
  /// Returns the transaction that a reference names: `ACCOUNT/PRODUCT/N`, the Nth transaction of the account for the
  /// product, counted from 1; or `ACCOUNT/PRODUCT`, the latest one. An account can contain slashes.
  func transaction(named reference: String) -> SoldTransaction? {
    let parts = reference.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count > 2, let number = Int(parts[parts.count - 1]) {
      let sold = transactions(
        of: parts.dropLast(2).joined(separator: "/"), for: String(parts[parts.count - 2]))
      return number > 0 ? sold.dropFirst(number - 1).first : nil
    }
    guard parts.count > 1 else { return nil }
    return transactions(of: parts.dropLast().joined(separator: "/"), for: String(parts[parts.count - 1])).last
  }

  /// Returns the members of an action with references in place of the ids and UUIDs that this sandbox issued.
  func portableMembers(of action: Action, _ members: JSONObject) -> JSONObject {
    var portable = members
    if members["transactionId"] != nil, let sold = try? transaction(Parameters(members)) {
      portable["transactionId"] = reference(to: sold).map(JSONValue.string) ?? members["transactionId"]
      if let claim = members["seatClaimId"]?.stringValue,
        let index = lines[sold.originalID]?.claims.firstIndex(where: { $0.id == claim })
      {
        portable["seatClaimId"] = .string(Self.ordinal(index))
      }
    }
    if action == .askToBuy, let id = members["request"]?.stringValue, let order = askToBuyRequests[id]?.order,
      let account = order.account, let index = requests(of: account, for: order.productId).firstIndex(of: id)
    {
      portable["request"] = .string("\(account)/\(order.productId)/\(index + 1)")
    }
    if let uuid = members["notificationUUID"]?.stringValue,
      let index = notifications.indices.first(where: { notifications[$0].uuid == uuid })
    {
      portable["notificationUUID"] = .string(Self.ordinal(index))
    }
    return portable
  }

  /// Returns the pending request that a UUID or a reference `ACCOUNT/PRODUCT/N` names, the Nth of its kind.
  func askToBuyRequest(named name: String) -> String? {
    if askToBuyRequests[name] != nil { return name }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count > 2, let number = Int(parts[parts.count - 1]), number > 0 else { return nil }
    let pending = requests(
      of: parts.dropLast(2).joined(separator: "/"), for: String(parts[parts.count - 2]))
    return pending.dropFirst(number - 1).first
  }

  /// The index that `#N` names, counted from 1 in a reference; `nil` for another text.
  static func index(ofOrdinal text: String) -> Int? {
    guard text.hasPrefix("#"), let number = Int(text.dropFirst()), number > 0 else { return nil }
    return number - 1
  }

  /// The text of an index, counted from 1.
  private static func ordinal(_ index: Int) -> String { "#\(index + 1)" }

  /// The reference to a transaction, which is the same in each sandbox that performs the same actions.
  private func reference(to sold: SoldTransaction) -> String? {
    let all = transactions(of: sold.account, for: sold.productID)
    return all.firstIndex { $0.id == sold.id }.map { "\(sold.account)/\(sold.productID)/\($0 + 1)" }
  }

  /// The transactions of an account for a product, in the order of their creation.
  private func transactions(of account: String, for product: String) -> [SoldTransaction] {
    apps.flatMap { purchases(of: account, in: $0.id) }.filter { $0.productID == product }
      .sorted { $0.id < $1.id }
  }

  /// The pending requests of an account for a product, oldest first.
  private func requests(of account: String, for product: String) -> [String] {
    askToBuyRequests.keys.filter {
      askToBuyRequests[$0]?.order.account == account && askToBuyRequests[$0]?.order.productId == product
    }.sorted { first, second in
      guard let one = askToBuyRequests[first]?.date, let two = askToBuyRequests[second]?.date, one != two
      else { return first < second }
      return one < two
    }
  }
}
