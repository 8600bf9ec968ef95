import AppStore
import HTTP
import JSON
import SandboxPaths
import SignedData
import Testing

@testable import Sandbox

@Suite struct WorldsTests {
  private func worlds(limit: Int = 10, keepsTime: Bool = false) throws -> SandboxWorlds {
    let main = try AppStoreSimulator(
      apps: [DemoWorld.app], storage: .memory, now: { DemoWorld.start }, keepsTime: keepsTime)
    return SandboxWorlds(main: main, catalog: SandboxCatalog(apps: [DemoWorld.app]), limit: limit)
  }

  @Test("Worlds have their own accounts, clock and faults, and one root")
  func independence() async throws {
    let worlds = try worlds()
    _ = try await worlds.buy("/w/a", "ann")
    _ = try await worlds.post("/w/b/sandbox/v1/clock/advance", ["by": "35d"])
    _ = try await worlds.post("/w/b/sandbox/v1/faults", ["kind": "drop"])
    #expect(try await worlds.accounts("/w/a") == ["ann"])
    #expect(try await worlds.accounts("/w/b") == [])
    #expect(try await worlds.accounts("") == [])
    #expect(try await worlds.get("/w/a/sandbox/v1/faults") == [:])
    #expect(try await worlds.get("/w/a/sandbox/v1/clock")["now"] == "2026-01-01T00:00:00.000Z")
    #expect(try await worlds.get("/w/b/sandbox/v1/clock")["now"] == "2026-02-05T00:00:00.000Z")
    let roots = await [
      worlds.send("GET", "/sandbox/v1/root").body, worlds.send("GET", "/w/a/sandbox/v1/root").body,
    ]
    #expect(roots[0] == roots[1])
  }

  @Test(
    "No world issues a transaction id or a notification UUID of another one, also after a reset and a restore"
  )
  func ids() async throws {
    let worlds = try worlds()
    let snapshot = try await worlds.get("/w/a/sandbox/v1/snapshot")
    var ids: Set<String> = []
    for base in ["", "/w/a", "/w/b"] {
      ids.insert(try await worlds.buy(base, "ann"))
      _ = try await worlds.post("\(base)/sandbox/v1/reset", [:])
      ids.insert(try await worlds.buy(base, "ann"))
    }
    _ = try await worlds.put("/w/a/sandbox/v1/snapshot", snapshot)
    ids.insert(try await worlds.buy("/w/a", "ann"))
    #expect(ids.count == 7)
    #expect(ids.allSatisfy { $0.count == 16 && $0.hasPrefix("2") })
    var uuids: [String] = []
    for base in ["", "/w/a", "/w/b"] {
      let list = try await worlds.get("\(base)/sandbox/v1/notifications")["notifications"]?.arrayValue
      uuids += (list ?? []).compactMap { $0.objectValue?["notificationUUID"]?.stringValue }
    }
    #expect(uuids.count == 3 && Set(uuids).count == 3)
  }

  @Test("A reset removes accounts, faults and the rate limit, and the clock is the machine's again")
  func reset() async throws {
    let worlds = try worlds()
    _ = try await worlds.buy("/w/a", "ann")
    _ = try await worlds.post("/w/a/sandbox/v1/clock/advance", ["by": "35d"])
    _ = try await worlds.post("/w/a/sandbox/v1/clock", ["speed": 0])
    _ = try await worlds.post("/w/a/sandbox/v1/faults", ["kind": "drop"])
    let answer = try await worlds.post("/w/a/sandbox/v1/reset", [:])
    #expect(answer["now"] == "2026-01-01T00:00:00.000Z" && answer["speed"] == 1)
    #expect(try await worlds.accounts("/w/a") == [])
    #expect(try await worlds.get("/w/a/sandbox/v1/faults") == [:])
    let past = try await worlds.post("/w/a/sandbox/v1/reset", ["start": "2025-01-01T00:00:00Z"])
    #expect(past["now"] == "2025-01-01T00:00:00.000Z")
    let future = await worlds.send("POST", "/w/a/sandbox/v1/reset", ["start": "2027-01-01T00:00:00Z"])
    #expect(future.status == 400)
  }

  @Test("The documents of a world verify, however early it begins or begins again")
  func past() async throws {
    let worlds = try worlds()
    let anchors = try TrustAnchors.apple().adding(worlds.main.root, for: .sandbox)
    let verifier = try SignedDataVerifier(anchors: anchors)
    let start = "2008-07-10T00:00:00.000Z"
    func expectVerified(_ world: String) async throws {
      let base = "/w/\(world)/sandbox/v1"
      let id = try await worlds.buy("/w/\(world)", "ann")
      let jws = try await worlds.get("\(base)/transactions/\(id)")["signedTransactionInfo"]?.stringValue
      let verified = try verifier.verifyTransaction(
        #require(jws), for: DemoWorld.app.identity, environments: [.sandbox])
      #expect(verified.payload.signedDate == Instant(rfc3339: start))
    }
    _ = try await worlds.post("/sandbox/v1/worlds", ["name": "a", "start": .string(start)])
    try await expectVerified("a")
    _ = try await worlds.post("/w/b/sandbox/v1/reset", ["start": .string(start)])
    try await expectVerified("b")
    _ = try await worlds.put("/w/c/sandbox/v1/snapshot", worlds.get("/w/a/sandbox/v1/snapshot"))
    try await expectVerified("c")
  }

  @Test("No world begins before 1970, when the certificates begin")
  func before1970() async throws {
    let worlds = try worlds()
    for (method, path) in [("POST", "/sandbox/v1/worlds"), ("POST", "/sandbox/v1/reset")] {
      #expect(await worlds.send(method, path, ["start": "1969-12-31T23:59:59Z"]).status == 400)
      #expect(await worlds.send(method, path, ["start": "1970-01-01T00:00:00Z"]).status == 200)
    }
  }

  @Test("A restored world continues as the one of the snapshot did, with its faults and clock")
  func restore() async throws {
    let worlds = try worlds()
    let id = try await worlds.buy("/w/a", "ann")
    _ = try await worlds.post("/w/a/sandbox/v1/clock/advance", ["by": "10d"])
    _ = try await worlds.post(
      "/w/a/sandbox/v1/faults", ["kind": "rate-limit", "count": 3, "every": 2, "by": "5s"])
    _ = try await worlds.post("/w/a/sandbox/v1/call-limit", ["perSecond": 5, "burst": 7])
    let snapshot = try await worlds.get("/w/a/sandbox/v1/snapshot")
    _ = try await worlds.post("/w/a/sandbox/v1/refund", ["transactionId": .string(id)])
    _ = try await worlds.put("/w/b/sandbox/v1/snapshot", snapshot)
    #expect(try await worlds.get("/w/b/sandbox/v1/clock")["now"] == "2026-01-11T00:00:00.000Z")
    #expect(try await worlds.get("/w/b/sandbox/v1/faults") == ["rate-limit": 3])
    let again = try await worlds.get("/w/b/sandbox/v1/snapshot")
    #expect(again["faults"] == snapshot["faults"] && again["callLimit"] == snapshot["callLimit"])
    #expect(again["callLimit"] == ["perSecond": 5, "burst": 7])
    _ = try await worlds.post("/w/b/sandbox/v1/clock/advance", ["by": "25d"])
    let ann = try await worlds.get("/w/b/sandbox/v1/accounts/ann")
    let transactions = ann["apps"]?.arrayValue?[0].objectValue?["transactions"]?.arrayValue ?? []
    #expect(transactions.count == 2 && transactions[0].objectValue?["transactionId"] == .string(id))
    #expect(transactions.allSatisfy { $0.objectValue?["revocationDate"] == nil })
  }

  @Test("A world is copied from another one at its creation and by a restore")
  func copies() async throws {
    let worlds = try worlds()
    _ = try await worlds.buy("/w/base", "ann")
    let made = try await worlds.post("/sandbox/v1/worlds", ["name": "copy", "from": "base"])
    #expect(made["path"] == "/w/copy" && made["accounts"] == 1)
    _ = try await worlds.buy("/w/copy", "ben")
    #expect(try await worlds.accounts("/w/copy") == ["ann", "ben"])
    _ = try await worlds.put("/w/copy/sandbox/v1/snapshot", ["world": "base"])
    #expect(try await worlds.accounts("/w/copy") == ["ann"])
    _ = try await worlds.put("/w/copy/sandbox/v1/snapshot", ["world": "/"])
    #expect(try await worlds.accounts("/w/copy") == [])
    #expect(await worlds.send("PUT", "/w/copy/sandbox/v1/snapshot", ["world": "none"]).status == 404)
    #expect(await worlds.send("POST", "/sandbox/v1/worlds", ["from": "none"]).status == 404)
    #expect(try await worlds.names("/sandbox/v1/worlds") == ["base", "copy"])
  }

  @Test("Worlds are limited, and a removed one can be created again without its accounts")
  func limit() async throws {
    let worlds = try worlds(limit: 2)
    _ = try await worlds.buy("/w/a", "ann")
    let made = try await worlds.post("/sandbox/v1/worlds", [:])
    #expect(made["world"] == "world-1")
    #expect(await worlds.send("GET", "/w/c/sandbox/v1/clock").status == 429)
    #expect(await worlds.send("POST", "/sandbox/v1/worlds", ["name": "a"]).status == 409)
    #expect(await worlds.send("DELETE", "/sandbox/v1/worlds/a").status == 200)
    #expect(await worlds.send("DELETE", "/sandbox/v1/worlds/a").status == 404)
    #expect(try await worlds.accounts("/w/a") == [])
  }

  @Test(
    "An invalid name is rejected",
    arguments: ["", ".", "..", ".hidden", "a b", "ä", "a%2Fb", String(repeating: "a", count: 65)])
  func names(name: String) async throws {
    #expect(WorldPath("/w/\(name)/sandbox/v1/clock") == nil)
    let worlds = try worlds()
    if !name.isEmpty {
      #expect(await worlds.send("POST", "/sandbox/v1/worlds", ["name": .string(name)]).status == 400)
    }
  }

  @Test("A path names a world and the path within it")
  func paths() {
    #expect(WorldPath("/inApps/v1/x")?.world == nil && WorldPath("/inApps/v1/x")?.rest == "/inApps/v1/x")
    #expect(WorldPath("/w/a")?.rest == "/" && WorldPath("/w/a")?.world == WorldName("a"))
    #expect(WorldPath("/w/a/w/b")?.rest == "/w/b" && WorldPath("/web")?.world == nil)
  }

  @Test("A world whose clock a service follows keeps its time at a reset and refuses to go back")
  func following() async throws {
    let worlds = try worlds(keepsTime: true)
    let snapshot = try await worlds.get("/sandbox/v1/snapshot")
    _ = try await worlds.buy("", "ann")
    _ = try await worlds.post("/sandbox/v1/clock/advance", ["by": "35d"])
    let answer = try await worlds.post("/sandbox/v1/reset", [:])
    #expect(answer["now"] == "2026-02-05T00:00:00.000Z")
    #expect(try await worlds.accounts("") == [])
    #expect(await worlds.send("PUT", "/sandbox/v1/snapshot", snapshot).status == 400)
    _ = try await worlds.put("/w/a/sandbox/v1/snapshot", snapshot)
  }

  @Test("A document that is no snapshot of these products is rejected, and indices in it are checked")
  func malformed() async throws {
    let worlds = try worlds()
    _ = try await worlds.buy("/w/a", "ann")
    let snapshot = try await worlds.get("/w/a/sandbox/v1/snapshot")
    for name in ["format", "now", "speed", "catalog", "journal"] {
      var broken = snapshot
      broken[name] = "x"
      #expect(await worlds.send("PUT", "/w/a/sandbox/v1/snapshot", broken).status == 400, "\(name)")
      broken[name] = nil
      #expect(await worlds.send("PUT", "/w/a/sandbox/v1/snapshot", broken).status == 400, "\(name)")
    }
    var lines = try #require(snapshot["journal"]?.arrayValue)
    let at = try #require(snapshot["now"]?.stringValue.flatMap { Instant(rfc3339: $0) })
    for entry: JSONValue in [
      ["attempt": 99, "result": "SUCCESS"], ["attempt": -1, "result": "SUCCESS"], ["postponed": 99, "to": 1],
    ] {
      var changed = snapshot
      changed["journal"] = .array(lines + [["at": JSONValue(at), "entry": entry]])
      #expect(await worlds.send("PUT", "/w/a/sandbox/v1/snapshot", changed).status == 200)
    }
    for passed: JSONValue in [-1, 9_223_372_036_854_775_807] {
      var changed = snapshot
      changed["faults"] = [["kind": "delay", "count": 1, "by": "1h", "every": 2, "passed": passed]]
      #expect(await worlds.send("PUT", "/w/a/sandbox/v1/snapshot", changed).status == 400)
    }
    lines.append(["at": JSONValue(at), "entry": ["origin": 9_223_372_036_854_775_807, "seed": 1]])
    var changed = snapshot
    changed["journal"] = .array(lines)
    #expect(await worlds.send("PUT", "/w/a/sandbox/v1/snapshot", changed).status != 200)
    #expect(try await worlds.accounts("/w/a") == ["ann"])
  }

  @Test("A reset aborts the delivery in flight and discards the pending ones")
  func delivery() async throws {
    let (posts, calls) = AsyncStream.makeStream(of: Void.self)
    let store = try AppStoreSimulator(
      apps: [DemoWorld.app], storage: .memory, now: { DemoWorld.start }, poster: SilentPoster(calls: calls))
    _ = try await store.perform(.notificationURL, Parameters(["app": "demo", "url": "http://service"]))
    _ = try await store.perform(.testNotification, Parameters(["app": "demo"]))
    let running = Task { await store.run() }
    _ = await posts.first { _ in true }
    try await store.reset()
    let world = await store.world
    #expect(world.notifications.isEmpty && world.outbox.count == 0)
    running.cancel()
    await running.value
  }
}

extension SandboxWorlds {
  /// Sends a request as a listener does.
  func send(_ method: String, _ target: String, _ members: JSONObject = [:]) async -> HTTPResponse {
    let request = HTTPRequest(
      method: method, target: target, body: method == "GET" ? [] : members.serialized())
    guard let path = WorldPath(request.path) else { return HTTPResponse(status: 404) }
    return await respond(to: request, in: path.world, at: path.rest)
  }

  func post(_ target: String, _ members: JSONObject) async throws -> JSONObject {
    try await json("POST", target, members)
  }

  func put(_ target: String, _ members: JSONObject) async throws -> JSONObject {
    try await json("PUT", target, members)
  }

  private func json(_ method: String, _ target: String, _ members: JSONObject) async throws -> JSONObject {
    let response = await send(method, target, members)
    let json = try #require(JSONValue(parsing: response.body).objectValue)
    #expect(response.status == 200, "\(target): \(json.text)")
    return json
  }

  func get(_ target: String) async throws -> JSONObject {
    try #require(JSONValue(parsing: await send("GET", target).body).objectValue)
  }

  /// Buys a subscription in the world at `base`; returns the transaction id.
  func buy(_ base: String, _ account: String) async throws -> String {
    let order: JSONObject = ["app": "demo", "productId": "monthly", "account": .string(account)]
    return try #require(try await post("\(base)/sandbox/v1/purchases", order)["transactionId"]?.stringValue)
  }

  func accounts(_ base: String) async throws -> [String] {
    let list = try await get("\(base)/sandbox/v1/accounts?app=demo")["accounts"]?.arrayValue ?? []
    return list.compactMap { $0.objectValue?["account"]?.stringValue }
  }

  func names(_ path: String) async throws -> [String] {
    let list = try await get(path)["worlds"]?.arrayValue ?? []
    return list.compactMap { $0.objectValue?["world"]?.stringValue }
  }
}
