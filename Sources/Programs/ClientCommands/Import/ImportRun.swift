internal import CommandSupport
internal import CustomerImport
internal import EntitledClient
internal import Foundation
internal import RPC
internal import Wire

/// The numbers of an import's effects.
struct ImportCounts {
  /// Aliases that the import merged, without those that were merged before.
  var merged = 0
  /// Purchases of which the migration job stored something new.
  var migrated = 0
  /// Purchases of which everything was stored before.
  var unchanged = 0
  /// Grants that caused an event.
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

  /// Performs `plan` and adds to it what the service refused.
  ///
  /// - Throws: ``Failure`` for an error that concerns all calls, such as a missing permission, and if the migration job
  ///   fails; steps before it keep their effects.
  func perform(_ plan: inout ImportPlan) async throws -> ImportCounts {
    var (counts, refused) = (ImportCounts(), [ImportOmission]())
    func add(_ results: [(ImportCounts, [ImportOmission])]) {
      for (more, omissions) in results {
        counts.merged += more.merged
        counts.grantsChanged += more.grantsChanged
        refused += omissions
      }
    }
    add(try await forEachCustomer(of: plan, "merging", mergeAliases))
    if plan.customers.contains(where: { !$0.transactions.isEmpty }) {
      let resolved = try await forEachCustomer(of: plan, "looking up", originalTransactions)
      for (index, result) in resolved.enumerated() {
        (plan.customers[index].purchases, plan.customers[index].transactions) = (result.purchases, [:])
      }
      refused += resolved.flatMap(\.refused)
      plan.settleOwners()
    }
    refused += try await ImportMigration(run: self).migrate(plan, &counts)
    add(try await forEachCustomer(of: plan, "importing", importAttributesAndGrants))
    plan.omissions += refused
    return counts
  }

  /// Runs a step for each customer, several at once; returns the results in the order of the customers.
  private func forEachCustomer<StepResult: Sendable>(
    of plan: ImportPlan, _ verb: String,
    _ step: @escaping @Sendable (ImportedCustomer, ClientConnection) async throws -> StepResult
  ) async throws -> [StepResult] {
    let progress = ProgressLine()
    defer { progress.finish() }
    let customers = plan.customers
    let results = try await client.withUnmappedErrors { connection in
      try await withThrowingTaskGroup(of: (Int, StepResult).self) { group in
        var (results, next) = ([Int: StepResult](), 0)
        while next < customers.count || !group.isEmpty {
          if next < customers.count, next - results.count < Self.concurrency {
            let (index, customer) = (next, customers[next])
            group.addTask { (index, try await step(customer, connection)) }
            next += 1
          } else if let (index, result) = try await group.next() {
            results[index] = result
            progress.update(verb, results.count, of: Int64(customers.count))
          }
        }
        return results
      }
    }
    return customers.indices.compactMap { results[$0] }
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

  /// Sets the attributes of a customer with one call, so that they are refused together, and reports each grant with
  /// its own.
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

  /// The original transaction ids of a customer's purchases, with those of the transactions, from Apple.
  @Sendable private func originalTransactions(
    _ customer: ImportedCustomer, _ connection: ClientConnection
  ) async throws -> (purchases: [String: RowOrder], refused: [ImportOmission]) {
    var (purchases, refused) = (customer.purchases, [ImportOmission]())
    for (id, order) in customer.transactions {
      let request = GetTransactionInfoRequest.with {
        ($0.app, $0.environment, $0.transactionId, $0.note) = (target.app, target.environment, id, note)
      }
      refused += try await Self.refusal(customer, "transaction \(id)") { () async throws(ClientError) in
        let transaction = try await connection.getTransactionInfo(request).transaction
        if let original = transaction?.originalTransactionId {
          purchases.merge([original: order], uniquingKeysWith: max)
        }
      }
    }
    return (purchases, refused)
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
