internal import Bytes
internal import CustomerImport
internal import Store

/// RevenueCat's events that decide together about a customer's access: those that name the customer, and in turn all that
/// name a customer or a purchase of these. Customers who were merged here are one customer.
struct ConnectedEvents: Sendable {
  /// The events, each once.
  private(set) var events: [RevenueCatEvent] = []
  /// Whether these are all events. Otherwise they are the nearest to the customer.
  private(set) var isComplete = true

  /// The maximum number of events, and of bytes of their bodies before the last one.
  private static let maxEvents = 2_000
  private static let maxBytes = 8 << 20
  /// The maximum number of events that connect others by one id or purchase: an id that an app gives to all its customers
  /// would connect them all.
  private static let maxEventsOfLink = 500
  /// The maximum number of ids and purchases whose events are read: each costs several queries, and an event may name ten
  /// thousand.
  private static let maxLinks = 2_000

  /// What events have in common.
  private enum Link: Hashable {
    case customer(OpaqueID)
    case purchase(OpaqueID)
  }

  /// Reads the events of `customer`.
  init(of customer: CustomerKey, _ reader: any StoreSnapshot) throws(StoreError) {
    var links = [Link.customer(OpaqueID(customer.customerID))]
    var knownLinks = Set(links)
    func follow(_ found: [Link]) { links += found.filter { knownLinks.insert($0).inserted } }
    var known: Set<OpaqueID> = []
    var bytes = 0
    var position = 0
    while position < links.count {
      guard position < Self.maxLinks else {
        isComplete = false
        return
      }
      let link = links[position]
      position += 1
      follow(try Self.mergedCustomers(at: link, of: customer, reader))
      // One more than fits is the sign that there are more.
      let limit = position == 1 ? Self.maxEvents : Self.maxEventsOfLink
      let ids = try Self.eventIDs(at: link, of: customer, limit: limit + 1, reader)
      if position > 1, ids.count > limit {
        isComplete = false
        continue
      }
      for id in ids where known.insert(OpaqueID(id)).inserted {
        guard events.count < Self.maxEvents, bytes < Self.maxBytes else {
          isComplete = false
          return
        }
        let body = try reader.importedEvent(id, of: customer.appID, in: customer.environment) ?? []
        guard let event = try? RevenueCatEvent(body) else { continue }
        events.append(event)
        bytes += body.count
        follow(Self.links(of: event))
      }
    }
  }

  private static func links(of event: RevenueCatEvent) -> [Link] {
    [event.purchase].compactMap { $0 }.map { .purchase(OpaqueID($0)) }
      + event.allCustomerIDs.map { .customer(OpaqueID($0)) }
  }

  private static func mergedCustomers(
    at link: Link, of customer: CustomerKey, _ reader: any StoreSnapshot
  ) throws(StoreError) -> [Link] {
    guard case .customer(let id) = link else { return [] }
    let key = customer.other(id.text)
    let ids = try [reader.finalMergeTarget(of: key).customerID] + reader.mergedCustomers(into: key)
    return ids.map { .customer(OpaqueID($0)) }
  }

  private static func eventIDs(
    at link: Link, of customer: CustomerKey, limit: Int, _ reader: any StoreSnapshot
  ) throws(StoreError) -> [String] {
    switch link {
    case .customer(let id):
      try reader.importedEventIDs(naming: customer.other(id.text), limit: limit)
    case .purchase(let purchase):
      try reader.importedEventIDs(
        aboutPurchase: purchase.text, of: customer.appID, in: customer.environment, limit: limit)
    }
  }
}
