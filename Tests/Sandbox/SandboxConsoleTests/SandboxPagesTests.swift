import AppStore
import HTTP
import JSON
import Markup
import Pages
import Sandbox
import SandboxPaths
import Testing

@testable import SandboxConsole

@Suite struct SandboxPagesTests {
  private static let hostile = "<script>alert(1)</script>\"'&/..\u{202E}🐚"
  private static let app = SandboxApp(
    id: "de mo/<b>", identity: AppIdentity(bundleID: "com.example", appAppleID: 1),
    products: [
      SandboxProduct(
        productId: "monthly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "pro", level: 2,
        period: Period("P1M"), price: 4990),
      SandboxProduct(
        productId: "yearly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "pro", level: 1,
        period: Period("P1Y"), price: 39990, monthlyPrice: 3990),
      SandboxProduct(productId: "coins", type: .consumable, price: 990),
      SandboxProduct(productId: "free", type: .nonConsumable),
    ])

  private let simulator: AppStoreSimulator
  private let console: SandboxConsole

  init() throws {
    let start = Instant(millisecondsSince1970: 1_767_225_600_000)
    simulator = try AppStoreSimulator(apps: [Self.app], storage: .memory, now: { start })
    console = SandboxConsole(simulator, hosts: OriginPolicy(allowedHosts: []))
  }

  private func link(_ path: [String]) -> String { Link(["apps", Self.app.id] + path).text }

  private func get(_ target: String, _ fields: [(name: String, value: String)] = []) async -> HTTPResponse {
    await console.respond(
      to: HTTPRequest(
        method: "GET", target: target, headers: HeaderFields([("host", "localhost:8090")] + fields)))
  }

  private func post(
    _ operation: String, _ body: String,
    _ fields: [(name: String, value: String)] = [("sec-fetch-site", "same-origin")]
  ) async -> HTTPResponse {
    let headers = [
      ("host", "localhost:8090"), ("content-type", "application/x-www-form-urlencoded"),
    ]
    return await console.respond(
      to: HTTPRequest(
        method: "POST", target: link(["do", operation]), headers: HeaderFields(headers + fields),
        body: Array(body.utf8)))
  }

  private func act(_ path: String, _ members: JSONObject) async -> HTTPResponse {
    await simulator.respond(
      to: HTTPRequest(method: "POST", target: "/sandbox/v1/\(path)", body: members.serialized()))
  }

  private func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

  @Test("The root leads to the only app; unknown pages are not found")
  func addresses() async {
    let root = await get("/")
    #expect(root.status == 303 && root.headers["location"] == link([]))
    for path in [
      "/apps", "/apps/other", link(["nothing"]), link(["accounts", "none"]), link(["do", "none"]),
    ] {
      #expect(await get(path).status == 404, "\(path)")
    }
    #expect(
      !SandboxConsole.serves("/sandbox/v1/apps") && !SandboxConsole.serves("/inApps/v1/subscriptions/1"))
    #expect(
      SandboxConsole.serves("/") && SandboxConsole.serves("/apps/demo") && !SandboxConsole.serves("/appsx"))
  }

  @Test("A form acts, and the next page names the command and the notifications")
  func form() async throws {
    let bought = await post("purchases", "productId=monthly&account=ann&quantity=&offer=")
    #expect(bought.status == 303)
    let location = try #require(bought.headers["location"])
    #expect(location.hasPrefix(link(["accounts", "ann"]) + "?"))
    let page = text(await get(location))
    #expect(page.contains("SUBSCRIBED/INITIAL_BUY"))
    #expect(
      page.contains(
        "entitled sandbox do purchases &#39;app=de mo/&lt;b&gt;&#39; productId=monthly account=ann"))
  }

  @Test("The answers of a service in the same process follow the action, those of another world do not")
  func answers() async throws {
    let console = SandboxConsole(
      simulator, hosts: OriginPolicy(allowedHosts: []), answers: Answers(changed: Self.hostile))
    let page = link([]) + "?did=advance&since=0&change="
    func text(_ target: String, _ console: SandboxConsole) async -> String {
      let request = HTTPRequest(
        method: "GET", target: target, headers: HeaderFields([("host", "localhost:8090")]))
      return self.text(await console.respond(to: request))
    }
    let shown = await text(page + "7", console)
    #expect(shown.contains("✓ subscription active") && shown.contains("✓ in grace period"))
    #expect(shown.contains("&lt;script&gt;alert(1)") && !shown.contains("<script>alert"))
    #expect(await text(page + "8", console).contains("The service answers as before."))
    for target in [page + "x", link([])] {
      #expect(!(await text(target, console)).contains("class=\"answers\""), "\(target)")
    }
    let other = console.of(simulator, WorldName("other"))
    #expect(!(await text(page + "7", other)).contains("class=\"answers\""))
    #expect(!(await text(page + "7", self.console)).contains("class=\"answers\""))
  }

  @Test("A form that is rejected comes back with the reason and what was typed")
  func rejected() async {
    let response = await post("purchases", "productId=monthly&account=ann&quantity=77")
    #expect(response.status == 400)
    let page = text(response)
    #expect(
      page.contains("quantity must be 1") && page.contains("value=\"77\"") && page.contains("role=\"alert\""))
    let json = await post("report-consumption", "transactionId=1&version=v2&information=none")
    #expect(text(json).contains("is not a JSON object"))
  }

  @Test("Every form of another page is refused")
  func foreign() async {
    #expect(await post("advance", "by=1d", []).status == 403)
    #expect(await post("advance", "by=1d", [("sec-fetch-site", "cross-site")]).status == 403)
    #expect(await post("advance", "by=1d", [("origin", "https://evil.example")]).status == 403)
    let rebound = await console.respond(
      to: HTTPRequest(method: "GET", target: "/", headers: HeaderFields([("host", "evil.example")])))
    #expect(rebound.status == 421)
  }

  @Test("Every member of every operation has a field with a label")
  func fields() async {
    for operation in Operation.all {
      let fields = Field.all(of: operation)
      #expect(fields.map(\.name) == operation.members)
      for field in fields where field.kind != .app {
        #expect(
          Text.field(field.name) != field.name || field.name == "notificationUUID",
          "\(operation.name) \(field.name)")
      }
      #expect(
        Text.title(operation) != operation.name && !Text.meaning(operation).isEmpty, "\(operation.name)")
      #expect(Operation(operation.name) == operation)
      #expect(await get(link(["do", operation.name])).status == 200)
    }
  }

  @Test("Text from outside is text on every page, and no page has inline code")
  func escaping() async throws {
    _ = await act(
      "purchases", ["app": .string(Self.app.id), "productId": "monthly", "account": .string(Self.hostile)])
    _ = await act("join-family", ["account": .string(Self.hostile), "family": .string(Self.hostile)])
    _ = await act(
      "offers",
      [
        "app": .string(Self.app.id), "productId": "monthly", "id": .string(Self.hostile), "type": "CODE",
        "mode": "FREE_TRIAL", "period": "P1W",
      ])
    let uuid = try #require(await simulator.notificationViews(of: Self.app.id, limit: 1).views.first?.uuid)
    let paths: [[String]] = [
      [], ["accounts"], ["accounts", Self.hostile], ["shop"], ["catalog"], ["notifications"],
      ["notifications", uuid], ["journal"], ["scenarios"], ["faults"], ["settings"], ["do"],
      ["do", "refund"],
    ]
    for path in paths {
      let response = await get(link(path))
      #expect(response.status == 200, "\(path)")
      let page = text(response)
      #expect(!page.contains("<script>") && !page.contains("<b>") && !page.contains(" style="), "\(path)")
      #expect(page.contains("<h1>") && page.contains("NOTHING HERE IS REAL"), "\(path)")
      #expect(response.headers["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
    }
  }

  @Test("The lanes show periods, failed payments and refunds")
  func lanes() async throws {
    let app = JSONValue.string(Self.app.id)
    _ = await act("renewal-timing", ["chargeLead": "0s", "failureDelay": "0s", "staleFailures": 0])
    _ = await act("grace-period", ["app": app, "days": 16])
    _ = await act("purchases", ["app": app, "productId": "monthly", "account": "ann"])
    _ = await act("billing", ["account": "ann", "fails": true])
    _ = await act("clock/advance", ["by": "60d"])
    _ = await act("billing", ["account": "ann", "fails": false])
    let (account, history) = try #require(await simulator.accountView("ann", in: Self.app.id))
    let id = try #require(account.purchases.first?.transactionId)
    _ = await act("request-consumption", ["transactionId": .string(id)])
    _ = await act("clock/advance", ["by": "1s"])
    _ = await act("refund", ["transactionId": .string(id)])
    #expect(history.failedPayments.count == 2)
    let now = try #require(await simulator.accountView("ann", in: Self.app.id))
    let lanes = AccountLanes.lanes(now.account, now.history)
    #expect(lanes.map(\.name) == ["monthly", "Apple said"])
    #expect(lanes[0].bars.map(\.tone) == [.full, .grace, .retry, .full])
    #expect(lanes[0].marks.map(\.sign) == ["?", "↩"])
  }

  @Test("A consumable is a mark at each purchase and refund, and has no bar")
  func consumables() async throws {
    let app = JSONValue.string(Self.app.id)
    for product in ["coins", "monthly", "coins"] {
      _ = await act("purchases", ["app": app, "productId": .string(product), "account": "ann"])
      _ = await act("clock/advance", ["by": "1d"])
    }
    let (account, history) = try #require(await simulator.accountView("ann", in: Self.app.id))
    let id = try #require(account.purchases.last?.transactionId)
    _ = await act("request-consumption", ["transactionId": .string(id)])
    _ = await act("clock/advance", ["by": "1s"])
    _ = await act("refund", ["transactionId": .string(id)])
    let now = try #require(await simulator.accountView("ann", in: Self.app.id))
    let lanes = AccountLanes.lanes(now.account, now.history)
    #expect(lanes.map(\.name) == ["monthly", "coins", "Apple said"])
    let coins = lanes[1]
    #expect(coins.bars.isEmpty && coins.kind == "2 bought" && coins.marks.map(\.sign) == ["?", "↩"])
    let bought = history.transactions.filter { $0.productId == "coins" }
    #expect(coins.dots.map(\.at) == bought.map(\.date))
  }

  @Test("A period that was upgraded ends at the upgrade, which has a sign")
  func upgrade() async throws {
    let app = JSONValue.string(Self.app.id)
    _ = await act("purchases", ["app": app, "productId": "monthly", "account": "ann"])
    _ = await act("clock/advance", ["by": "10d"])
    _ = await act("purchases", ["app": app, "productId": "yearly", "account": "ann"])
    let (account, history) = try #require(await simulator.accountView("ann", in: Self.app.id))
    let lane = try #require(AccountLanes.lanes(account, history).first)
    try #require(lane.bars.count == 2)
    #expect(lane.bars[0].end == lane.bars[1].start)
    #expect(lane.marks.map(\.sign) == ["↥"] && lane.marks.map(\.at) == [lane.bars[1].start])
  }

  @Test("A line of the journal has its command, and the same call with curl")
  func journalCommands() async {
    _ = await act("purchases", ["app": .string(Self.app.id), "productId": "monthly", "account": "ann"])
    _ = await act("billing", ["account": "ann", "fails": true])
    let page = text(await get(link(["journal"])))
    #expect(page.contains("<code>entitled sandbox do billing account=ann fails=true"))
    let call = "curl -s http://localhost:8090/sandbox/v1/billing -H &#39;content-type: "
    #expect(page.contains("<summary>With curl</summary><pre tabindex=\"0\">\(call)"))
  }

  @Test("The journal's script has each action in order, without deliveries")
  func script() async {
    _ = await act("purchases", ["app": .string(Self.app.id), "productId": "monthly", "account": "ann"])
    _ = await act("clock/advance", ["by": "40d"])
    let script = text(await get(link(["journal.sh"]))).split(separator: "\n")
    #expect(script.first == "#!/bin/sh")
    #expect(script.contains { $0.contains("--start 2026-01-01T00:00:00.000Z") })
    let commands = script.drop { $0 != "set -e" }.dropFirst()
    #expect(
      commands.map { $0.split(separator: " ").dropFirst(2).prefix(2).joined(separator: " ") }
        == ["do clock", "do purchases", "advance 40d", "do clock"])
    #expect(commands.first?.hasSuffix("speed=0") == true && commands.last?.hasSuffix("speed=1") == true)
  }

  @Test("Commands of the journal name transactions, requests and notifications without ids of this sandbox")
  func references() async throws {
    let app = JSONValue.string(Self.app.id)
    _ = await act("purchases", ["app": app, "productId": "monthly", "account": "a/b"])
    _ = await act("clock/advance", ["by": "40d"])
    let (account, _) = try #require(await simulator.accountView("a/b", in: Self.app.id))
    let id = try #require(account.purchases.first?.transactionId)
    _ = await act("refund", ["transactionId": .string(id)])
    let asked = await act(
      "purchases", ["app": app, "productId": "monthly", "account": "ben", "askToBuy": true])
    let request = try #require(try JSONValue(parsing: asked.body).objectValue?["request"]?.stringValue)
    _ = await act("ask-to-buy", ["request": .string(request), "approved": true])
    let script = text(await get(link(["journal.sh"])))
    #expect(script.contains("entitled sandbox do refund transactionId=a/b/monthly/2\n"))
    #expect(script.contains("entitled sandbox do ask-to-buy request=ben/monthly/1 approved=true\n"))
    #expect(!script.contains(id) && !script.contains(request))
    // A reference without a number is the latest transaction.
    let refunded = await act("auto-renew", ["transactionId": "ben/monthly", "enabled": false])
    #expect(refunded.status == 200)
    #expect(await act("auto-renew", ["transactionId": "ben/monthly/9", "enabled": false]).status == 400)
    #expect(await act("auto-renew", ["transactionId": "zoe/monthly", "enabled": false]).status == 400)
  }

  @Test("Every link, form and command of a named world's page is of that world")
  func world() async throws {
    let world = try #require(WorldName("checkout"))
    let pages = console.of(simulator, world)
    _ = await act("purchases", ["app": .string(Self.app.id), "productId": "monthly", "account": "ann"])
    for path in [[], ["accounts"], ["accounts", "ann"], ["shop"], ["journal"], ["do"], ["do", "refund"]] {
      let response = await pages.respond(
        to: HTTPRequest(
          method: "GET", target: link(path), headers: HeaderFields([("host", "localhost:8090")])))
      let body = text(response)
      #expect(response.status == 200 && body.contains("World checkout"), "\(path)")
      for part in body.split(separator: "<").filter({ $0.contains("href=\"/") || $0.contains("action=\"/") })
      {
        #expect(part.contains("\"/w/checkout") || part.contains("\"/assets/"), "\(part)")
      }
      for line in body.split(separator: "\n") where line.contains("entitled sandbox ") {
        #expect(line.contains("--world checkout") || line.contains("entitled sandbox serve"), "\(line)")
      }
    }
    let home = await pages.respond(
      to: HTTPRequest(method: "GET", target: "/", headers: HeaderFields([("host", "localhost:8090")])))
    #expect(home.headers["location"] == "/w/checkout" + link([]))
  }
}

/// A service whose answer about one customer changed after the change 7.
private struct Answers: ServiceAnswers {
  let changed: String

  func lastChange(of app: String) -> Int64? { 8 }

  func changes(of app: String, after number: Int64, limit: Int) -> [AnswerChange] {
    guard number == 7 else { return [] }
    return [
      AnswerChange(
        customer: changed, entitlement: "pro",
        before: AnswerChange.Answer(reason: "SUBSCRIPTION_ACTIVE", isEntitled: true),
        after: AnswerChange.Answer(reason: "IN_GRACE_PERIOD", isEntitled: true))
    ]
  }
}
