internal import AppStore
package import Entitlements
internal import FamilySharing
internal import Ledger
package import Store
package import Wire

// Events as messages of the contract.

extension Wire.EntitlementEvent {
  /// A committed event; `app` is the current definition of the app. `showsOtherCustomer`: whether the receiver
  /// may learn the id of another customer that the event involves. `erasedCustomerID`: the id of the customer of a
  /// `CUSTOMER_ERASED` event, if it is known.
  package init(
    _ stored: StoredEvent, in app: AppDefinition, showsOtherCustomer: Bool = false,
    erasedCustomerID: String? = nil
  ) {
    self.init()
    let (event, change) = (stored.event, stored.event.change)
    sequence = stored.sequence
    self.app = event.customer.appID
    environment = Wire.Environment(event.customer.environment)
    customerId = event.customer.customerID
    entitlement = change.entitlement
    type = change.kind.rawValue
    explanation = change.kind.sentence
    if !change.entitlement.isEmpty {
      before = .init(change.before, of: event, in: app)
      after = .init(change.after, of: event, in: app)
    }
    effectiveAt = GoogleProtobuf.Timestamp(change.effectiveAt)
    recordedAt = GoogleProtobuf.Timestamp(event.recordedAt)
    evidenceId = event.evidenceID?.rawValue
    actor = event.actor
    if let subject = change.subject { add(subject, in: app) }
    otherCustomerRole = event.counterparty.map { Wire.OtherCustomerRole($0.role) } ?? .unspecified
    erasedCustomerId = erasedCustomerID ?? ""
    if showsOtherCustomer { otherCustomerId = event.counterparty?.customerID ?? "" }
  }

  private mutating func add(_ subject: EventSubject, in app: AppDefinition) {
    segment = subject.segment ?? ""
    transactionId = subject.transactionID
    originalTransactionId = subject.originalTransactionID
    productId = subject.productID
    let catalogType = app.products[subject.productID]?.type
    switch subject.type ?? catalogType {
    case .unrecognized(let word)?:
      productType = catalogType.map(Wire.ProductType.init) ?? .unspecified
      productTypeRaw = word
    case let type?: productType = Wire.ProductType(type)
    case nil: break
    }
    quantity = Int32(clamping: subject.quantity)
    revokedSeatQuantity = Int32(clamping: subject.revokedSeatQuantity ?? 0)
    let mayReceivePrice = PurchaseRole(subject.ownership).isPayer
    billingPlanType = subject.billingPlanType.map(Wire.BillingPlanType.init) ?? .unspecified
    billingPlanTypeRaw = subject.billingPlanType?.unknownWord ?? ""
    commitmentInfo = subject.commitment.map {
      Wire.TransactionCommitmentInfo(
        $0, price: subject.price, currency: mayReceivePrice ? subject.currency : nil)
    }
    guard mayReceivePrice else { return }
    price = Wire.Money(milliunits: subject.price, currency: subject.currency)
  }
}

extension Entitlement {
  fileprivate init(_ status: EntitlementStatus, of event: NewEvent, in app: AppDefinition) {
    self.init(
      status, of: event.change.entitlement, in: app,
      at: event.evidenceID == nil ? event.change.effectiveAt : event.recordedAt)
  }
}

extension Wire.OtherCustomerRole {
  fileprivate init(_ role: Counterparty.Role) {
    switch role {
    case .owner: self = .owner
    case .claimant: self = .claimant
    case .tokenOwner: self = .tokenOwner
    }
  }
}

extension CommandResult {
  /// The events of the command. Events of a dry run have no sequence and no evidence.
  func events(in app: AppDefinition, isDryRun: Bool) -> [Wire.EntitlementEvent] {
    events.map { stored in
      // Commands need the role to operate.
      var event = Wire.EntitlementEvent(stored, in: app, showsOtherCustomer: true)
      if isDryRun {
        event.sequence = 0
        event.evidenceId = nil
      }
      return event
    }
  }
}
