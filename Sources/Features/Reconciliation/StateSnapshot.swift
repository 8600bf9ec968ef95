internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import Ledger
internal import Store

/// The state of the customers of some purchases as the facts had it before a lookup. Comparing it with the facts after
/// the lookup shows whether Apple's response changed an answer. Both are evaluated at the same instant, so that time
/// alone causes no difference.
struct StateSnapshot: Sendable {
  private let facts: [CustomerKey: CustomerFacts]
  private let app: AppDefinition
  private let instant: Instant

  /// Reads the state at `instant` of all owners and seat holders of `lines`.
  init(
    about lines: [LineKey], in app: AppDefinition, at instant: Instant, _ reader: any StoreSnapshot
  ) throws(StoreError) {
    self.app = app
    self.instant = instant
    var facts: [CustomerKey: CustomerFacts] = [:]
    for line in lines {
      for customer in try Self.customers(of: line, reader) where facts[customer] == nil {
        facts[customer] = try reader.facts(of: customer) ?? CustomerFacts()
      }
    }
    self.facts = facts
  }

  /// A drift for each customer and entitlement of the app, with the state before and without one after.
  var drifts: [Drift] {
    facts.flatMap { customer, facts in
      app.entitlements.map { entitlement in
        Drift(
          customer: customer, entitlement: entitlement, detectedAt: instant,
          before: evaluate(facts, entitlement: entitlement, in: app, at: instant), after: nil)
      }
    }
  }

  /// Returns the customers whose state at the same instant is different by the current facts.
  func driftedCustomers(_ reader: any StoreSnapshot) throws(StoreError) -> Set<CustomerKey> {
    var drifted: Set<CustomerKey> = []
    for drift in drifts where try drift.compared(in: app, reader).hasDrifted {
      drifted.insert(drift.customer)
    }
    return drifted
  }

  /// The owners of a purchase and of its seats.
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
  /// Returns the drifts with the current state as `after`. Those of one customer must be adjacent, so that its facts are
  /// read once.
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

  /// Returns the drift with the current state as `after`.
  func compared(in app: AppDefinition, _ reader: any StoreSnapshot) throws(StoreError) -> Drift {
    compared(with: try reader.facts(of: customer) ?? CustomerFacts(), in: app)
  }

  private func compared(with facts: CustomerFacts, in app: AppDefinition) -> Drift {
    Drift(
      customer: customer, entitlement: entitlement, detectedAt: detectedAt, before: before,
      after: evaluate(facts, entitlement: entitlement, in: app, at: detectedAt))
  }

  /// Whether the access, its end, its renewal, its reason or its product differ.
  var hasDrifted: Bool {
    guard let after else { return false }
    return before.reason != after.reason || before.accessLevel != after.accessLevel
      || before.until != after.until || before.willRenew != after.willRenew
      || before.deciding?.productID != after.deciding?.productID
  }
}
