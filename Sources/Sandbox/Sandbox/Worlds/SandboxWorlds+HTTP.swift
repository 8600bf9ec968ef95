internal import AppStore
internal import Bytes
package import HTTP
internal import JSON
package import SandboxPaths

/// The calls about worlds, and the way to each world.
///
///     GET    /sandbox/v1/worlds           the named worlds
///     POST   /sandbox/v1/worlds           creates one
///     DELETE /sandbox/v1/worlds/NAME      removes one
///     GET    /sandbox/v1/tls-root         the root of the TLS certificates, PEM
///     PUT    …/sandbox/v1/snapshot        with `{"world": …}` continues from the present state of another world
///     /w/NAME/…                           a world, with every path that exists at /
extension SandboxWorlds {
  private static let path = "/sandbox/v1/worlds"
  private static let tlsRootPath = "/sandbox/v1/tls-root"

  /// Responds to a request for `rest`, the path in the world `name`; `nil` is the world at `/`.
  package func respond(to request: HTTPRequest, in name: WorldName?, at rest: String) async -> HTTPResponse {
    do throws(WorldError) {
      if name == nil, rest == Self.path || rest.hasPrefix(Self.path + "/") {
        return try await manage(request, String(rest.dropFirst(Self.path.count + 1)))
      }
      if name == nil, rest == Self.tlsRootPath { return tlsRootResponse(request) }
      let simulator = try world(name)
      var inner = request
      inner.path = rest
      if rest == "/sandbox/v1/snapshot", request.method == "PUT",
        let parameters = try? Parameters(body: request.body), parameters.json["world"] != nil
      {
        return try await copy(parameters, into: simulator)
      }
      return await simulator.respond(to: inner)
    } catch {
      return error.response
    }
  }

  /// The root of the TLS certificates; not found without TLS.
  private func tlsRootResponse(_ request: HTTPRequest) -> HTTPResponse {
    guard request.method == "GET" else { return .methodNotAllowed("GET") }
    guard let tlsRoot else {
      return .error(404, code: "NOT_FOUND", message: "the sandbox has no TLS; start it with --tls")
    }
    return .pem(tlsRoot)
  }

  /// Lists, creates or removes named worlds.
  private func manage(_ request: HTTPRequest, _ name: String) async throws(WorldError) -> HTTPResponse {
    switch (name, request.method) {
    case ("", "GET"): return .json(["worlds": .array(await views())])
    case ("", "POST"): return try await create(request.body)
    case ("", _): return .methodNotAllowed("GET, POST")
    case (_, "DELETE"):
      let text = PercentEncoding.decode(name)
      guard let world = WorldName(text) else { throw .invalidName(text) }
      try await remove(world)
      return .json(["removed": .string(world.text)])
    default: return .methodNotAllowed("DELETE")
    }
  }

  /// The named worlds, by name.
  private func views() async -> [JSONValue] {
    var views: [JSONValue] = []
    for name in names {
      guard let world = existing(name) else { continue }
      views.append(.object(await world.worldView(name)))
    }
    return views
  }

  /// Creates a world: `{"name": …, "from": …, "start": …, "storekit": …, "bundleId": …, "app": …}`.
  private func create(_ body: [UInt8]) async throws(WorldError) -> HTTPResponse {
    let order: WorldOrder
    do throws(ActionError) {
      order = try WorldOrder(
        body.isEmpty ? Parameters([:]) : Parameters(body: body), now: main.clock.machineNow())
    } catch {
      return .error(400, code: error.code, message: error.description)
    }
    let source = try order.from.map { reference throws(WorldError) in try find(reference) }
    guard let name = order.name ?? unusedName() else { throw .tooMany(limit: limit) }
    let catalog =
      order.imported?.catalog
      ?? source.map { SandboxCatalog(apps: $0.apps, settings: $0.settings) } ?? self.catalog
    let simulator = try create(name, catalog, start: order.start)
    if let source {
      do throws(WorldError) { try await copy(source, into: simulator) } catch {
        try await remove(name)
        throw error
      }
    }
    var json = await simulator.worldView(name)
    if let imported = order.imported {
      json["notImported"] = .array(imported.notImported.map(JSONValue.string))
    }
    return .json(json)
  }

  /// Replaces a world by a copy of the one that the request names.
  private func copy(_ parameters: Parameters, into simulator: AppStoreSimulator) async throws(WorldError)
    -> HTTPResponse
  {
    let reference: WorldReference?
    do throws(ActionError) {
      try parameters.allow(only: ["world"])
      reference = try parameters.worldIfPresent("world")
    } catch {
      return .error(400, code: error.code, message: error.description)
    }
    try await copy(try find(reference), into: simulator)
    return .json(await simulator.clockState)
  }

  /// Replaces a world by a copy of another one, with a new origin of ids.
  private func copy(_ source: AppStoreSimulator, into simulator: AppStoreSimulator) async throws(WorldError) {
    do throws(SandboxError) { try await simulator.restore(source.snapshot()) } catch { throw .failed(error) }
  }

  /// The world that a request names.
  private func find(_ reference: WorldReference?) throws(WorldError) -> AppStoreSimulator {
    guard let name = reference?.name else { return main }
    guard let world = existing(name) else { throw .unknown(name) }
    return world
  }
}

/// A world that a request names.
private struct WorldReference {
  /// `nil` is the world at `/`.
  let name: WorldName?
}

/// The request for a new world.
private struct WorldOrder {
  let name: WorldName?
  /// The world to copy.
  let from: WorldReference?
  let start: Instant?
  let imported: StoreKitImport?

  /// Decodes a request.
  ///
  /// - Throws: ``ActionError`` for members that contradict each other, such as a start for a copy.
  init(_ parameters: Parameters, now: Instant) throws(ActionError) {
    try parameters.allow(only: ["name", "from", "start", "storekit", "bundleId", "app"])
    let reference = try parameters.worldIfPresent("name")
    guard reference == nil || reference?.name != nil else {
      throw .wrongType(member: "name", expected: "a name, because the world at / exists")
    }
    name = reference?.name
    from = try parameters.worldIfPresent("from")
    start = try parameters.instantIfPresent("start")
    guard start == nil || from == nil else {
      throw .wrongType(member: "start", expected: "none with from, because a copy has the time of its source")
    }
    guard start.map({ $0 <= now }) ?? true else {
      throw .wrongType(member: "start", expected: "a time that is not in the future")
    }
    guard let storekit = parameters.json["storekit"] else {
      imported = nil
      return
    }
    guard from == nil, let document = storekit.objectValue else {
      throw .wrongType(member: "storekit", expected: "a StoreKit configuration file, without from")
    }
    imported = try StoreKitImport(
      document, bundleID: try parameters.string("bundleId"), app: try parameters.stringIfPresent("app"))
  }
}

extension Parameters {
  /// Reads the name of a world; `/` is the world at `/`.
  fileprivate func worldIfPresent(_ member: String) throws(ActionError) -> WorldReference? {
    guard let text = try stringIfPresent(member) else { return nil }
    if text == "/" { return WorldReference(name: nil) }
    guard let name = WorldName(text) else {
      throw .wrongType(member: member, expected: "1 to 64 letters, digits, '-', '_' and '.'")
    }
    return WorldReference(name: name)
  }
}

extension AppStoreSimulator {
  /// A world in the list of worlds.
  fileprivate func worldView(_ name: WorldName) -> JSONObject {
    catchUp()
    return [
      "world": .string(name.text), "path": .string(WorldPath.base(of: name)),
      "now": .string(clock.now().description), "speed": JSONValue(clock.setting.speed),
      "accounts": JSONValue(Int64(world.accounts.count)), "apps": .array(apps.map { .string($0.id) }),
    ]
  }
}

extension WorldError {
  fileprivate var response: HTTPResponse {
    switch self {
    case .invalidName: .error(400, code: "INVALID_WORLD_NAME", message: description)
    case .unknown: .error(404, code: "NOT_FOUND", message: description)
    case .exists: .error(409, code: "WORLD_EXISTS", message: description)
    case .tooMany: .error(429, code: "TOO_MANY_WORLDS", message: description)
    case .failed(.actionFailed(let error)): .error(400, code: error.code, message: error.description)
    case .failed: .error(500, code: "INTERNAL", message: description)
    }
  }
}

extension WorldError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .invalidName(let name):
      "invalid name of a world \(name.prefix(100).debugDescription); a name has 1 to 64 letters, digits, '-', '_' "
        + "and '.'"
    case .unknown(let name): "unknown world '\(name)'"
    case .exists(let name): "the world '\(name)' exists"
    case .tooMany(let limit):
      "there are \(limit) worlds; remove one with DELETE /sandbox/v1/worlds/NAME, or set --max-worlds"
    case .failed(let error): error.description
    }
  }
}
