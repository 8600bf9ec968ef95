internal import Bytes
internal import Markup
internal import Pages
internal import RPC
internal import Wire

// The first lines of a purchase: its owners, its token, the calls to Apple, and the actions.
extension PurchasePage {
  /// The owners, each with the time since which the purchase is theirs.
  static func owners(_ purchase: GetPurchaseResponse, _ scope: Scope) -> Markup {
    guard !purchase.customerIds.isEmpty else { return Part.chip(Text.unclaimed, .grace) }
    return purchase.customerIds.map { id in
      let since = purchase.ownershipChanges.last { $0.linked && $0.customerId.hasSameBytes(as: id) }?.time
      let time: Markup = since.map { " <span class=\"quiet\">\(Text.since)</span> \(Format.time($0))" } ?? ""
      return "\(scope.customerLink(id))\(time)" as Markup
    }.joined(separator: ", ")
  }

  /// The former owners, the last one first, with the command that ended the ownership.
  static func formerOwners(_ purchase: GetPurchaseResponse, _ scope: Scope) -> Markup {
    var named = Set(purchase.customerIds.map(OpaqueID.init))
    let ends = purchase.ownershipChanges.reversed().filter { change in
      !change.linked && named.insert(OpaqueID(change.customerId)).inserted
    }
    guard !ends.isEmpty else { return "" }
    let owners = ends.prefix(maxFormerOwners).map { change in
      let end = Text.endOfOwnership(change.kind).map { " (\($0))" } ?? ""
      return "\(scope.customerLink(change.customerId))\(end)" as Markup
    }
    let rest = ends.count - owners.count
    return """
      <li><span class="quiet">\(Text.formerOwners)</span> \(owners.joined(separator: ", "))\
      \(rest > 0 ? Text.andMore(rest) : "")</li>

      """
  }

  private static let maxFormerOwners = 5

  /// The subscription group in the catalog; without one there, Apple's identifier. Empty for what is no subscription.
  static func group(_ purchase: GetPurchaseResponse, _ scope: Scope, _ visit: Visit) async -> Markup {
    guard let latest = purchase.transactions.last?.transaction,
      let identifier = latest.subscriptionGroupIdentifier.given
    else { return "" }
    let name = await product(latest.productId, scope, visit)?.subscriptionGroup.given
    return " <span class=\"quiet\">\(Text.groupOfPurchase)</span> \(Format.name(name ?? identifier))"
  }

  /// A product of the catalog; `nil` if the catalog does not have it, or cannot be read.
  static func product(_ id: String, _ scope: Scope, _ visit: Visit) async -> CatalogProduct? {
    let catalog = await visit.attempt(
      Calls.getCatalog,
      .about(scope) {
        $0.productIds = [id]
      })
    return (try? catalog.get())?.products.first
  }

  /// The token with which Apple's documents link it to a customer.
  static func token(_ purchase: GetPurchaseResponse) -> Markup {
    guard let token = purchase.appAccountToken else { return "" }
    return "<li><span class=\"quiet\">\(Text.appAccountToken)</span> \(Format.id(token))</li>"
  }

  /// When status polling asks Apple next, and the lookup that waits to be repeated after a failure.
  static func lookup(_ purchase: GetPurchaseResponse) -> Markup {
    var facts: [Markup] = []
    if let next = purchase.nextPollAt { facts.append("\(Text.nextPoll) \(Format.time(next))") }
    if let pending = purchase.pendingLookup {
      facts.append(
        "\(Text.pendingLookup(pending.attempts)) \(Format.time(pending.nextAttemptAt)) <code>\(pending.reason)</code>"
      )
    }
    return facts.map { "<li>\($0)</li>\n" as Markup }.joined()
  }

  /// The buttons of the actions on this purchase that the person may perform.
  static func actions(_ purchase: GetPurchaseResponse, _ scope: Scope, _ visit: Visit) -> Markup {
    let id = purchase.originalTransactionId
    let owner = purchase.customerIds.first
    let offered: [(ActionName, Bool)] = [
      (.refresh, visit.mayCall(Calls.refreshPurchase)),
      (.link, owner == nil && visit.mayCall(Calls.linkPurchase)),
      (.transfer, owner != nil && visit.mayCall(Calls.transferPurchase)),
      (
        .extend,
        purchase.renewalInfo != nil && purchase.isPaidByOwner && visit.mayCall(Calls.extendRenewalDate)
      ),
      (.setToken, purchase.isPaidByOwner && visit.mayCall(Calls.setAppAccountToken)),
    ]
    let links = offered.filter(\.1).map { action, _ in
      "<a class=\"button\" href=\"\(scope.action(action, [("purchase", id), ("transaction", id), ("customer", owner)]))\">\(action.title)…</a>\n"
        as Markup
    }
    return links.isEmpty ? "" : "<p class=\"row actions\">\(links)</p>"
  }
}

extension GetPurchaseResponse {
  /// Whether it is neither shared by a family nor a seat, for which Apple refuses changes.
  fileprivate var isPaidByOwner: Bool {
    ![.familyShared, .assigned].contains(transactions.last?.transaction?.inAppOwnershipType)
  }
}
