internal import CommandSupport
internal import CustomerImport
internal import EntitledClient
internal import Foundation
internal import RPC
internal import Wire

/// The numbers of an import's effects.
struct ImportCounts {
  var merged = 0
  var migrated = 0
  var unchanged = 0
  var grantsChanged = 0
}

/// Performs the plan of an import: merges aliases, fetches purchases from Apple, sets attributes, reports grants. Each step
/// can be repeated, so that an interrupted import is completed by the same command.
struct ImportRun {
  /// The number of calls at once.
  static let concurrency = 16

  private var note: String { ImportNote.text(from: origin) }

  let client: ClientOptions
  let target: ImportTarget
  let actor: String
  /// The name of the other system.
  let origin: String
  /// Whether the ids of Apple's purchases may be those of later transactions.
  let resolvesTransactions: Bool

  /// Performs `plan` and adds to it what the service refused.
  func perform(_ plan: inout ImportPlan) async throws -> ImportCounts {
    var (counts, refused) = (ImportCounts(), [ImportOmission]())
    try await forEachCustomer(of: plan, &counts, &refused, "merging", mergeAliases)
    if resolvesTransactions { refused += try await resolveTransactions(of: &plan) }
    refused += try await ImportMigration(run: self).migrate(plan, &counts)
    try await forEachCustomer(of: plan, &counts, &refused, "importing", importAttributesAndGrants)
    plan.omissions += refused
    return counts
  }

  private func forEachCustomer(
    of plan: ImportPlan, _ counts: inout ImportCounts, _ refused: inout [ImportOmission], _ verb: String,
    _ step:
      @escaping @Sendable (ImportedCustomer, ClientConnection) async throws -> (
        ImportCounts, [ImportOmission]
      )
  ) async throws {
    let progress = ProgressLine()
    defer { progress.finish() }
    let customers = plan.customers
    let results = try await client.withUnmappedErrors { connection in
      try await withThrowingTaskGroup(of: (ImportCounts, [ImportOmission]).self) { group in
        var (results, next) = ([(ImportCounts, [ImportOmission])](), 0)
        while next < customers.count || !group.isEmpty {
          if next < customers.count, next - results.count < Self.concurrency {
            let customer = customers[next]
            group.addTask { try await step(customer, connection) }
            next += 1
          } else if let result = try await group.next() {
            results.append(result)
            progress.update(verb, results.count, of: Int64(customers.count))
          }
        }
        return results
      }
    }
    for (more, omissions) in results {
      counts.merged += more.merged
      counts.grantsChanged += more.grantsChanged
      refused += omissions
    }
  }

  @Sendable private func mergeAliases(
    _ customer: ImportedCustomer, _ connection: ClientConnection
  ) async throws -> (ImportCounts, [ImportOmission]) {
    var (counts, refused) = (ImportCounts(), [ImportOmission]())
    for alias in customer.aliases {
      let request = MergeCustomersRequest.with {
        ($0.app, $0.environment, $0.actor, $0.note) = (target.app, target.environment, actor, note)
        ($0.fromCustomerId, $0.intoCustomerId) = (alias, customer.id)
      }
      refused += try await Self.refusal(customer, "alias \(alias)") { () async throws(ClientError) in
        if try await !connection.mergeCustomers(request).transferId.isEmpty { counts.merged += 1 }
      }
    }
    return (counts, refused)
  }

  @Sendable private func importAttributesAndGrants(
    _ customer: ImportedCustomer, _ connection: ClientConnection
  ) async throws -> (ImportCounts, [ImportOmission]) {
    var (counts, refused) = (ImportCounts(), [ImportOmission]())
    if !customer.attributes.isEmpty {
      // Without an idempotency key: a later export may have the values of an earlier one again.
      let request = SetCustomerAttributesRequest.with {
        ($0.app, $0.environment, $0.actor, $0.note) = (target.app, target.environment, actor, note)
        $0.customerId = customer.id
        $0.attributes = customer.attributes.map { attribute in
          .with { ($0.name, $0.value) = (attribute.name, attribute.value) }
        }
      }
      refused += try await Self.refusal(customer, "attributes") { () async throws(ClientError) in
        _ = try await connection.setCustomerAttributes(request)
      }
    }
    for grant in customer.grants {
      let request = request(for: grant, of: customer)
      refused += try await Self.refusal(customer, "\(grant.source) \(grant.externalID)") {
        () async throws(ClientError) in
        if try await !connection.grant(request).events.isEmpty { counts.grantsChanged += 1 }
      }
    }
    return (counts, refused)
  }

  private func request(for grant: ImportedGrant, of customer: ImportedCustomer) -> GrantRequest {
    .with {
      ($0.app, $0.environment, $0.actor) = (target.app, target.environment, actor)
      $0.note = ImportNote.text(from: origin, period: grant.period)
      ($0.customerId, $0.entitlement, $0.accessLevel) = (customer.id, grant.entitlement, .full)
      ($0.source, $0.externalId, $0.productId) = (grant.source, grant.externalID, grant.productID)
      $0.revision = grant.revision
      $0.since = grant.since?.timestamp
      $0.until = grant.until?.timestamp
      $0.refundedAt = grant.refundedAt?.timestamp
    }
  }

  /// Replaces the ids of later transactions by those of their purchases, which Apple returns.
  private func resolveTransactions(of plan: inout ImportPlan) async throws -> [ImportOmission] {
    var refused: [ImportOmission] = []
    for index in plan.customers.indices {
      var purchases: [String] = []
      for id in plan.customers[index].purchases {
        let request = GetTransactionInfoRequest.with {
          ($0.app, $0.environment, $0.transactionId, $0.note) = (target.app, target.environment, id, note)
        }
        let omissions = try await client.withUnmappedErrors { connection in
          try await Self.refusal(plan.customers[index], "transaction \(id)") { () async throws(ClientError) in
            let transaction = try await connection.getTransactionInfo(request).transaction
            if let original = transaction?.originalTransactionId, !purchases.contains(original) {
              purchases.append(original)
            }
          }
        }
        refused += omissions
      }
      plan.customers[index].purchases = purchases
    }
    return refused
  }

  /// Runs a call; returns what the service refused. Errors that concern all calls end the import.
  private static func refusal(
    _ customer: ImportedCustomer, _ subject: String, _ call: () async throws(ClientError) -> Void
  ) async throws -> [ImportOmission] {
    do throws(ClientError) {
      try await call()
      return []
    } catch {
      guard case .failed(let status) = error,
        ![.unavailable, .unauthenticated, .permissionDenied, .resourceExhausted].contains(status.code)
      else { throw Failure("\(error.description); repeat the command to complete the import") }
      let detail = "\(status.reason ?? status.code.name): \(subject): \(status.message)"
      return [ImportOmission(line: nil, .refused, customerID: customer.id, detail: detail)]
    }
  }
}
