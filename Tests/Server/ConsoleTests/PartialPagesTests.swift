import HTTP
import RPC
import Synchronization
import Testing
import Wire

@testable import Console
@testable import Services

/// Pages of which some methods fail: the rest is shown, and each failed part is named.
@Suite struct PartialPagesTests {
  private static let status = GetStatusResponse.with {
    $0.apps = [.with { ($0.app, $0.environment) = ("ocean", .sandbox) }]
  }

  private var customerMethod: Method {
    .asyncUnary(Calls.getCustomer.path) {
      (request: GetCustomerRequest, _) async throws(Status) -> GetCustomerResponse in
      .with {
        ($0.customerId, $0.environment, $0.known) = (request.customerId, .sandbox, true)
        $0.evaluatedAt = .with { $0.seconds = 1_800_000_000 }
        $0.entitlements = [.with { ($0.name, $0.reason) = ("pro", "NEVER_PURCHASED") }]
      }
    }
  }

  private func text(_ target: String, _ methods: [Method], status: Int = 200) async throws -> String {
    let response = try await SignedInConsole(methods).get(target)
    #expect(response.status == status)
    return String(decoding: response.body, as: UTF8.self)
  }

  @Test("A customer's page without its other methods shows the answers, and names each part that failed")
  func customer() async throws {
    let page = try await text("/a/ocean/sandbox/customers/ada?explain=pro", [customerMethod])
    #expect(page.contains("never purchased") || page.contains("NEVER_PURCHASED"))
    for part in [
      "What to do and to tell", "The steps of the answer", "Contradictions", "Withdrawn consents",
    ] {
      #expect(page.contains("<strong>\(part) cannot be shown now:"), "\(part)")
    }
    for heading in ["history", "purchases", "timeline", "refunds", "family", "notes", "attributes"] {
      let section = page.components(after: "id=\"\(heading)\"")
      #expect(section?.prefix(400).contains("role=\"alert\"") == true, "\(heading)")
    }
  }

  @Test("A customer's page without its answers is an error")
  func noCustomer() async throws {
    let page = try await text("/a/ocean/sandbox/customers/ada", [], status: 501)
    #expect(page.contains("role=\"alert\""))
  }

  @Test("All parts of a merged customer's page are about the merge target")
  func merged() async throws {
    let asked = Mutex<[String]>([])
    func method<Request: CustomerRequest, Response>(_ call: ContractCall<Request, Response>) -> Method {
      .asyncUnary(call.path) { (request: Request, _) async throws(Status) -> Response in
        asked.withLock { $0.append("\(call.path.split(separator: "/").last ?? "") \(request.customerId)") }
        return Response()
      }
    }
    let description = Method.asyncUnary(Calls.describeCustomer.path) {
      (request: DescribeCustomerRequest, _) async throws(Status) -> DescribeCustomerResponse in
      .with {
        ($0.customerId, $0.summary) = ("ada", "\(request.customerId) was merged into ada.")
        $0.evaluatedAt = .with { $0.seconds = 1_800_000_000 }
      }
    }
    let page = try await text(
      "/a/ocean/sandbox/customers/anon-1?explain=pro",
      [
        description, method(Calls.getCustomer), method(Calls.explain), method(Calls.listTimeline),
        method(Calls.listNotes), method(Calls.listConsumptionRequests),
      ])
    #expect(page.contains(">ada</bdi></h1>"))
    #expect(
      asked.withLock { Set($0) } == [
        "GetCustomer ada", "Explain ada", "ListTimeline ada", "ListNotes ada", "ListConsumptionRequests ada",
      ])
  }

  @Test("The first page has its search box while the state of the apps cannot be read")
  func home() async throws {
    let page = try await text("/", [])
    #expect(page.contains("id=\"home-find\"") && page.contains("role=\"alert\""))
  }

  @Test("The status page names the app whose webhooks cannot be read, and shows the rest")
  func webhooks() async throws {
    let page = try await text(
      "/status",
      [
        .asyncUnary(Calls.getStatus.path) {
          (_: GetStatusRequest, _) async throws(Status) -> GetStatusResponse in Self.status
        }
      ])
    #expect(page.contains("The webhooks of ocean cannot be shown now:") && page.contains("Dependencies"))
  }

  @Test("A migration that failed has its error and what to do about it")
  func failedMigration() async throws {
    let jobs = ListMigrationsResponse.with {
      $0.migrations = [
        .with {
          ($0.migrationId, $0.state, $0.dryRun) = ("migration-1", .failed, true)
          $0.error = "line 1 has no column <receipt>"
        },
        .with { ($0.migrationId, $0.state) = ("migration-2", .finished) },
      ]
    }
    let page = try await text(
      "/a/ocean/sandbox/work/migrations",
      [
        .asyncUnary(Calls.listMigrations.path) {
          (_: ListMigrationsRequest, _) async throws(Status) -> ListMigrationsResponse in jobs
        }
      ])
    #expect(page.contains("✕ failed, dry run") && page.contains("line 1 has no column &lt;receipt&gt;"))
    #expect(page.ranges(of: "start the job again").count == 1, "finished jobs need nothing")
  }

  @Test("A page about a past point in time says why it has no verdict")
  func past() async throws {
    let target = "/a/ocean/sandbox/customers/ada?at=1700000000"
    let failed = try await text(target, [customerMethod])
    #expect(failed.contains("<strong>What the customer has cannot be shown now:"))
    let history = Method.asyncUnary(Calls.getCustomerHistory.path) {
      (_: GetCustomerHistoryRequest, _) async throws(Status) -> GetCustomerHistoryResponse in
      GetCustomerHistoryResponse()
    }
    let empty = try await text(target, [customerMethod, history])
    #expect(empty.contains("<p class=\"empty\">The customer had nothing at this moment"))
  }

  @Test("A work list whose rows cannot be counted says so beside its title")
  func uncounted() async throws {
    let page = try await text("/a/ocean/sandbox/work", [])
    #expect(page.contains("The number of rows cannot be shown now:"))
    let titles = page.split(separator: "<h2>").dropFirst().compactMap { $0.split(separator: "</h2>").first }
    #expect(titles.count == WorkQueue.allCases.count && titles.allSatisfy { !$0.contains("<p") })
  }

  @Test("The overview counts all dead letters, and reads few rows")
  func counted() async throws {
    let sizes = Mutex<[Int32]>([])
    let page = try await text(
      "/a/ocean/sandbox/work",
      [
        .asyncUnary(Calls.listWebhooks.path) {
          (_: ListWebhooksRequest, _) async throws(Status) -> ListWebhooksResponse in
          .with {
            $0.webhooks = [("billing", 240), ("crm", 10)].map { name, count in
              .with { ($0.name, $0.deadLetters) = (name, count) }
            }
          }
        },
        .asyncUnary(Calls.listDeliveries.path) {
          (request: ListDeliveriesRequest, _) async throws(Status) -> ListDeliveriesResponse in
          sizes.withLock { $0.append(request.pageSize) }
          return .with { $0.nextPageToken = "more" }
        },
        .asyncUnary(Calls.listUnclaimedPurchases.path) {
          (request: ListUnclaimedPurchasesRequest, _) async throws(Status) -> ListUnclaimedPurchasesResponse
          in
          sizes.withLock { $0.append(request.pageSize) }
          return .with {
            $0.transactions = (0..<request.pageSize).map { number in
              .with { $0.originalTransactionId = String(number) }
            }
            $0.nextPageToken = "more"
          }
        },
      ])
    #expect(page.contains(">250</span>") && page.contains(">more than 10</span>"))
    #expect(sizes.withLock(\.self) == [10, 10])
  }

  @Test(
    "An empty list of drift says whether a repair has run",
    arguments: [
      (nil, "No repair has run."), (Repair.with { $0.repairId = "1" }, "The repair has found no changed"),
      (.with { ($0.repairId, $0.error) = ("1", "Apple refused the key") }, "The last repair failed"),
      (
        .with {
          $0.repairId = "1"
          $0.finishedAt = .with { $0.seconds = 1 }
        }, "The last repair changed no answer."
      ),
    ])
  func drift(repair: Repair?, expected: String) async throws {
    let page = try await text(
      "/a/ocean/sandbox/work/drift",
      [
        .asyncUnary(Calls.listRepairs.path) {
          (_: ListRepairsRequest, _) async throws(Status) -> ListRepairsResponse in
          .with { $0.repairs = repair.map { [$0] } ?? [] }
        },
        .asyncUnary(Calls.getDriftReport.path) {
          (_: GetDriftReportRequest, _) async throws(Status) -> GetDriftReportResponse in
          GetDriftReportResponse()
        },
      ])
    #expect(page.contains("<p class=\"empty\">\(expected)"))
  }

  @Test("Each empty work list says how it gets filled")
  func empty() {
    #expect(Set(WorkQueue.allCases.map(\.empty)).count == WorkQueue.allCases.count)
  }
}

extension String {
  /// The text after the first `mark`; `nil` without one.
  fileprivate func components(after mark: String) -> Substring? {
    firstRange(of: mark).map { self[$0.upperBound...] }
  }
}
