internal import AppStore
internal import Bytes
internal import CommandSupport
internal import CustomerImport
internal import EntitledClient
internal import Foundation
internal import RPC
internal import Wire

/// The app and environment of an import, with what its catalog defines.
struct ImportTarget {
  let app: String
  let environment: Wire.Environment
  /// Whether the command named the environment.
  let isEnvironmentNamed: Bool
  let entitlements: Set<String>

  /// Fetches the catalog of an app.
  init(_ app: String, _ environment: Wire.Environment, _ client: ClientOptions) async throws {
    let catalog = try await client.withConnection { connection in
      try await connection.getCatalog(
        .with { ($0.app, $0.environment, $0.pageSize) = (app, environment, 1) })
    }
    self.app = app
    self.environment = catalog.environment
    isEnvironmentNamed = environment != .unspecified
    entitlements = Set(catalog.entitlements.map(\.name))
  }

  /// Whether sandbox purchases are imported, and no others; `nil` in environments that other systems do not have.
  var takesSandbox: Bool? {
    switch environment {
    case .production: false
    case .sandbox: true
    default: nil
    }
  }

  /// Fetches the merge targets of the aliases that were merged.
  func mergeTargets(of plan: ImportPlan, _ client: ClientOptions) async throws -> [OpaqueID: String] {
    let aliases = plan.customers.flatMap(\.aliases)
    return try await client.withConnection { connection in
      try await withThrowingTaskGroup(of: (String, String).self) { group in
        var (targets, next, done) = ([OpaqueID: String](), 0, 0)
        while done < aliases.count {
          if next < aliases.count, next - done < ImportRun.concurrency {
            let alias = aliases[next]
            group.addTask { (alias, try await mergeTarget(of: alias, connection)) }
            next += 1
          } else if let (alias, customer) = try await group.next() {
            if !customer.hasSameBytes(as: alias) { targets[OpaqueID(alias)] = customer }
            done += 1
          }
        }
        return targets
      }
    }
  }

  /// The merge target of a customer; the id itself if it has none, or is unknown. An invalid id is refused later.
  func mergeTarget(of id: String, _ connection: ClientConnection) async throws -> String {
    let request = DescribeCustomerRequest.with {
      ($0.app, $0.environment, $0.customerId) = (app, environment, id)
    }
    do throws(ClientError) { return try await connection.describeCustomer(request).customerId } catch {
      guard case .failed(let status) = error, [.notFound, .invalidArgument].contains(status.code) else {
        throw error
      }
      return id
    }
  }

  /// Fetches the grants of purchases in other stores.
  func storedGrants(of sources: Set<String>, _ client: ClientOptions) async throws -> StoredGrants {
    var stored = StoredGrants()
    for source in sources.sorted() {
      var token = ""
      repeat {
        let page = try await client.withConnection { [token] connection in
          try await connection.listGrants(
            .with {
              ($0.app, $0.environment, $0.source) = (app, environment, source)
              ($0.pageSize, $0.pageToken) = (1000, token)
            })
        }
        for grant in page.grants { stored.add(StoredGrant(grant)) }
        token = page.nextPageToken
      } while !token.isEmpty
    }
    return stored
  }
}

extension StoredGrant {
  fileprivate init(_ grant: Grant) {
    self.init()
    (source, externalID, entitlement) = (grant.source, grant.externalId, grant.entitlement)
    (productID, revision, note) = (grant.productId, grant.revision, grant.note)
    since = grant.since?.millisecondsSince1970.map(Instant.init(millisecondsSince1970:))
    until = grant.until?.millisecondsSince1970.map(Instant.init(millisecondsSince1970:))
  }
}
