import RPC
import Testing
import Wire

@testable import Console
@testable import Services

/// The content of pages, drawn from answers that a suite makes up.
@Suite struct PagesTests {
  private func text(_ target: String, _ methods: [Method]) async throws -> String {
    let response = try await SignedInConsole(methods).get(target)
    #expect(response.status == 200)
    return String(decoding: response.body, as: UTF8.self)
  }

  // MARK: Catalog

  private func price(_ milliunits: Int64, _ currency: String, _ reason: String = "PURCHASE")
    -> StorefrontPrice
  {
    .with {
      $0.storefront = currency
      $0.transactionReason = reason
      $0.price = .with { ($0.milliunits, $0.currency) = (milliunits, currency) }
    }
  }

  private func product(_ prices: [StorefrontPrice]) -> CatalogProduct {
    .with {
      $0.productId = "pro.monthly"
      $0.type = .autoRenewableSubscription
      $0.entitlements = [.with { ($0.name, $0.accessLevel) = ("pro", .full) }]
      $0.configuredPrice = .with { ($0.milliunits, $0.currency) = (4_990, "USD") }
      $0.prices = prices
    }
  }

  @Test("A product that grants nothing is a problem, unless it is a consumable")
  func productWithoutEntitlement() {
    var pro = product([])
    #expect(CatalogProblems.problems(pro).isEmpty)
    pro.entitlements = []
    #expect(CatalogProblems.problems(pro).count == 1)
    pro.type = .consumable
    #expect(CatalogProblems.problems(pro).isEmpty)
  }

  @Test("A configured price is a problem if no new customer of its currency pays it")
  func configuredPrice() {
    func isProblem(_ prices: [StorefrontPrice]) -> Bool {
      !CatalogProblems.problems(product(prices)).isEmpty
    }
    #expect(!isProblem([price(4_990, "USD")]) && !isProblem([price(5_990, "EUR")]))
    #expect(!isProblem([price(3_990, "USD", "RENEWAL")]))
    #expect(!isProblem([price(3_990, "USD"), price(4_990, "USD")]))
    let sentences = CatalogProblems.problems(product([price(3_990, "USD"), price(5_990, "USD")]))
    #expect(sentences.count == 1 && sentences.allSatisfy { $0.contains("5.99 USD") })
    var monthly = price(5_990, "USD")
    monthly.billingPlanType = .monthly
    #expect(!isProblem([monthly]))
  }

  private func catalog(_ products: [CatalogProduct]) -> Method {
    .asyncUnary(Calls.getCatalog.path) {
      (_: GetCatalogRequest, _) async throws(Status) -> GetCatalogResponse in .with { $0.products = products }
    }
  }

  private func contradictions(_ kinds: [String]) -> Method {
    .asyncUnary(Calls.listContradictions.path) {
      (_: ListContradictionsRequest, _) async throws(Status) -> ListContradictionsResponse in
      .with {
        $0.contradictions = kinds.map { kind in
          CustomerContradiction.with {
            ($0.customerId, $0.kind, $0.explanation) = ("ada", kind, "The story of \(kind).")
          }
        }
      }
    }
  }

  @Test("The catalog has the purchases that do not fit it, and no other contradictions")
  func contradictionsWithTheCatalog() async throws {
    let target = "/a/ocean/sandbox/catalog"
    let both = contradictions(["UNKNOWN_PRODUCT", "TWO_ACTIVE_IN_GROUP"])
    let page = try await text(target, [catalog([product([])]), both])
    #expect(page.contains("The story of UNKNOWN_PRODUCT.") && !page.contains("The story of TWO_ACTIVE"))
    #expect(page.contains("/a/ocean/sandbox/work/contradictions"))
    let clean = try await text(target, [catalog([product([])]), contradictions([])])
    #expect(clean.contains("No problem is known.") && !clean.contains("work/contradictions"))
    let partial = try await text(target, [catalog([product([])])])
    #expect(partial.contains("Contradictions cannot be shown now:") && partial.contains("pro.monthly"))
  }

  // MARK: Purchase

  private func change(_ customer: String, _ linked: Bool, _ day: Int64, _ kind: String) -> OwnershipChange {
    .with {
      ($0.customerId, $0.linked, $0.kind) = (customer, linked, kind)
      $0.time = .with { $0.seconds = day * 86_400 }
    }
  }

  @Test("The first line of a purchase has its owner since when, and the former owners, the last one first")
  func owners() async throws {
    let changes = [
      change("anna", true, 1, "SIGNED_TRANSACTION"), change("anna", false, 2, "MOVE"),
      change("ben", true, 2, "MOVE"), change("ben", false, 3, "MERGE"), change("ada", true, 3, "MERGE"),
    ]
    let page = try await purchase(.with { ($0.customerIds, $0.ownershipChanges) = (["ada"], changes) })
    let line = try #require(
      page.split(separator: "<ul class=\"facts\">").last?.split(separator: "</ul>").first)
    #expect(line.contains("<span class=\"quiet\">since</span> <time datetime=\"1970-01-04"))
    #expect(line.contains("<bdi>ben</bdi></a> (merged), <a"))
    #expect(line.contains("<bdi>anna</bdi></a> (transferred)"))
  }

  private func purchase(_ purchase: GetPurchaseResponse) async throws -> String {
    var purchase = purchase
    purchase.originalTransactionId = "1000"
    let response = purchase
    return try await text(
      "/a/ocean/sandbox/purchases/1000",
      [
        .asyncUnary(Calls.getPurchase.path) {
          (_: GetPurchaseRequest, _) async throws(Status) -> GetPurchaseResponse in response
        }
      ])
  }

  @Test(
    "A renewal is extended, and a token set, only for the purchaser: Apple refuses others",
    arguments: [(InAppOwnershipType.purchased, true), (.familyShared, false), (.assigned, false)])
  func changesAtApple(ownership: InAppOwnershipType, isOffered: Bool) async throws {
    let page = try await purchase(
      .with {
        $0.customerIds = ["ada"]
        $0.renewalInfo = RenewalInfo()
        $0.transactions = [.with { $0.transaction = .with { $0.inAppOwnershipType = ownership } }]
      })
    #expect(page.contains("/do/extend?") == isOffered && page.contains("/do/set-token?") == isOffered)
    #expect(page.contains("/do/transfer?"))
  }

  // MARK: Migrations

  @Test(
    "Only what Apple does not confirm counts as forged; other failures have the advice of their reason",
    arguments: [
      ("BAD_SIGNATURE", true), ("VERIFY_RECEIPT_21003", true), ("DOCUMENT_TOO_LARGE", false),
      ("MALFORMED_FIELD", false), ("WRONG_APP", false),
    ] as [(String, Bool)])
  func advice(reason: String, isForged: Bool) {
    let failure = MigrationFailure.with { ($0.reason, $0.outcome) = (reason, .rejected) }
    #expect(failure.advice.contains("Apple does not confirm it") == isForged)
  }

  // MARK: Segments

  private func segment(_ ends: [Int64?], next: String) -> Method {
    .asyncUnary(Calls.listCustomers.path) {
      (_: ListCustomersRequest, _) async throws(Status) -> ListCustomersResponse in
      .with {
        $0.nextPageToken = next
        $0.rows = ends.map { end in
          SegmentRow.with {
            $0.customerId = "ends-\(end ?? 0)"
            $0.endsAt = end.map { seconds in GoogleProtobuf.Timestamp.with { $0.seconds = seconds } }
          }
        }
      }
    }
  }

  @Test("A segment of one page begins with the earliest end; a longer one keeps its order")
  func order() async throws {
    let target = "/a/ocean/sandbox/segments/built-in/in-grace"
    let ends = [300, nil, 100, 200] as [Int64?]
    func order(next: String, page: String = "") async throws -> [Substring] {
      try await text(target + page, [segment(ends, next: next)]).matches(of: /<bdi>ends-([0-9]+)</).map(\.1)
    }
    #expect(try await order(next: "") == ["100", "200", "300", "0"])
    #expect(try await order(next: "more") == ["300", "0", "100", "200"])
    #expect(try await order(next: "", page: "?page=more") == ["300", "0", "100", "200"])
  }
}
