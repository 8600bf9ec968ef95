internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import Ledger
internal import Store

/// What the service believes of the customers behind purchases, to be compared with what it believes later.
struct StateSnapshot: Sendable {
  private let facts: [CustomerKey: CustomerFacts]
  private let app: AppDefinition
  private let moment: Instant

  /// What is believed at `moment` of all who have one of `lines`, or a seat of one.
  init(
    about lines: [LineKey], in app: AppDefinition, at moment: Instant, _ reader: any StoreSnapshot
  ) throws(StoreError) {
    self.app = app
    self.moment = moment
    var facts: [CustomerKey: CustomerFacts] = [:]
    for line in lines {
      for customer in try Self.customers(of: line, reader) where facts[customer] == nil {
        facts[customer] = try reader.facts(of: customer) ?? CustomerFacts()
      }
    }
    self.facts = facts
  }

  /// What a report would say of each customer and entitlement so far.
  var drifts: [Drift] {
    facts.flatMap { customer, facts in
      app.entitlements.map { entitlement in
        Drift(
          customer: customer, entitlement: entitlement, detectedAt: moment,
          before: evaluate(facts, entitlement: entitlement, in: app, at: moment), after: nil)
      }
    }
  }

  /// The customers of whom something else is believed now, about the same moment.
  func changed(_ reader: any StoreSnapshot) throws(StoreError) -> Set<CustomerKey> {
    var changed: Set<CustomerKey> = []
    for drift in drifts where try drift.compared(in: app, reader).hasDrifted {
      changed.insert(drift.customer)
    }
    return changed
  }

  private static func customers(
    of line: LineKey, _ reader: any StoreSnapshot
  ) throws(StoreError) -> [CustomerKey] {
    var customers = try reader.owners(of: line).map(line.customer)
    for seat in try reader.seats(of: line) {
      customers += try reader.owners(of: line.other(seat.seatID)).map(line.customer)
    }
    return customers
  }
}

extension Drift {
  /// The same with what is known now. Those about one customer stand together, and what is known is read once.
  static func compared(
    _ drifts: [Drift], in app: AppDefinition, _ reader: any StoreSnapshot
  ) throws(StoreError) -> [Drift] {
    var last: (customer: CustomerKey, facts: CustomerFacts)?
    return try drifts.map { drift throws(StoreError) in
      let facts: CustomerFacts
      if let last, last.customer == drift.customer {
        facts = last.facts
      } else {
        facts = try reader.facts(of: drift.customer) ?? CustomerFacts()
        last = (drift.customer, facts)
      }
      return drift.compared(with: facts, in: app)
    }
  }

  /// The same with what is known now.
  func compared(in app: AppDefinition, _ reader: any StoreSnapshot) throws(StoreError) -> Drift {
    compared(with: try reader.facts(of: customer) ?? CustomerFacts(), in: app)
  }

  private func compared(with facts: CustomerFacts, in app: AppDefinition) -> Drift {
    Drift(
      customer: customer, entitlement: entitlement, detectedAt: detectedAt, before: before,
      after: evaluate(facts, entitlement: entitlement, in: app, at: detectedAt))
  }

  /// Whether something else came out than was believed, in what a customer has or will have.
  var hasDrifted: Bool {
    guard let after else { return false }
    return before.reason != after.reason || before.accessLevel != after.accessLevel
      || before.until != after.until || before.willRenew != after.willRenew
      || before.deciding?.productID != after.deciding?.productID
  }
}
