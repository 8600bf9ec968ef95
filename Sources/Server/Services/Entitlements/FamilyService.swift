internal import Entitlements
internal import FamilySharing
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `GetProbableFamily` of `entitled.v1.EntitlementService`: who may be the family of a customer, for people in
/// support. It decides nothing. One instance for each event loop, since its reader belongs to one.
struct FamilyService {
  /// How many periods of the customer, lines with one of them, and other customers are looked at.
  private enum Limit {
    static let periods = 24
    static let lines = 32
    static let candidates = 64
  }

  private let reader: any StoreReader
  private let catalog: CurrentCatalog

  init(reader: any StoreReader, catalog: CurrentCatalog) {
    self.reader = reader
    self.catalog = catalog
  }

  var methods: [Method] {
    [
      .unary("/\(EntitlementService.name)/GetProbableFamily") {
        (request: GetProbableFamilyRequest, _) throws(Status) in try probableFamily(request)
      }
    ]
  }

  private func probableFamily(
    _ request: GetProbableFamilyRequest
  ) throws(Status) -> GetProbableFamilyResponse {
    let app = try catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    try RequestValidation.customerID(request.customerId)
    let customer = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    let members: [FamilySharing.ProbableFamilyMember]
    do throws(StoreError) {
      let facts = try reader.facts(of: customer) ?? CustomerFacts()
      members = FamilySharing.probableFamily(of: facts, among: try candidates(for: customer, facts))
    } catch {
      throw Status(error)
    }
    return .with { $0.members = members.map(Wire.ProbableFamilyMember.init) }
  }

  /// Those who have a purchase of the same product with the same dates as one of the customer's.
  private func candidates(
    for customer: CustomerKey, _ facts: CustomerFacts
  ) throws(StoreError) -> [FamilyCandidate] {
    var found: [String] = []
    let latest = facts.transactions.filter(\.canBeShared).sorted { $0.purchaseDate > $1.purchaseDate }
    for period in latest.prefix(Limit.periods) {
      let lines = try reader.lines(
        sharing: period.productID, at: period.sharedInstant, of: customer.appID, in: customer.environment,
        limit: Limit.lines)
      for line in lines where found.count < Limit.candidates {
        for owner in try reader.owners(of: line) where owner != customer.customerID && !found.contains(owner)
        {
          found.append(owner)
        }
      }
    }
    var candidates: [FamilyCandidate] = []
    for id in found.prefix(Limit.candidates) {
      let key = CustomerKey(appID: customer.appID, environment: customer.environment, customerID: id)
      guard let facts = try reader.facts(of: key) else { continue }
      candidates.append(FamilyCandidate(customerID: id, facts: facts))
    }
    return candidates
  }
}

extension Wire.ProbableFamilyMember {
  fileprivate init(_ member: FamilySharing.ProbableFamilyMember) {
    self.init()
    customerId = member.customerID
    originalTransactionId = member.originalTransactionID
    inAppOwnershipType = Wire.InAppOwnershipType(member.ownership)
    confidence = member.confidence
    grounds = member.grounds
  }
}
