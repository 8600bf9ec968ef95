internal import AppStore
internal import Bytes
internal import HTTP
internal import JSON
internal import SignedData

// DeviceCheck ("Accessing and modifying per-device data"): two bits for each device and the one team of the sandbox.
//
// A device token is the Base64 of the name of a device. What follows a `/` in it is ignored, so that a device can have
// several tokens, as it has at Apple. The texts are Apple's.
extension AppStoreSimulator {
  /// The paths of DeviceCheck.
  static let deviceCheckPaths = ["/v1/validate_device_token", "/v1/query_two_bits", "/v1/update_two_bits"]

  /// Responds to a request: rate limit and faults first, then authentication, then the call.
  func deviceCheck(_ request: HTTPRequest) async -> HTTPResponse {
    let call = String(request.path.dropFirst("/v1/".count))
    if let rejection = countCall(call) { return rejection }
    if let fault = await serveFault() { return fault }
    catchUp()
    guard request.method == "POST" else { return .methodNotAllowed("POST") }
    guard isDeviceCheckToken(request) else { return .text(401, "Unable to verify authorization token") }
    guard let body = try? JSONValue(parsing: request.body).objectValue,
      let device = Self.device(body["device_token"]?.stringValue ?? ""),
      body["transaction_id"]?.stringValue?.isEmpty == false
    else { return .text(400, "Missing or incorrectly formatted device token payload") }
    guard let time = body["timestamp"]?.int64Value, isNow(Instant(millisecondsSince1970: time)) else {
      return .text(400, "Missing or incorrectly formatted time stamp")
    }
    switch call {
    case "validate_device_token": return HTTPResponse(status: 200)
    case "query_two_bits": return bits(of: device)
    default: return await update(device, body)
    }
  }

  /// The bits of a device; a text with status 200 if none were set, as at Apple.
  private func bits(of device: String) -> HTTPResponse {
    guard let bits = world.deviceBits[device] else { return .text(200, "Failed to find bit state") }
    let body: JSONObject = [
      "bit0": .bool(bits.bit0), "bit1": .bool(bits.bit1), "last_update_time": .string(bits.month),
    ]
    return .json(200, body.serialized())
  }

  /// Sets the bits that the body names, with a journal entry.
  private func update(_ device: String, _ body: JSONObject) async -> HTTPResponse {
    let bits = ["bit0", "bit1"].filter { body[$0] != nil }
    guard !bits.isEmpty, bits.allSatisfy({ body[$0]?.boolValue != nil }) else {
      return .text(400, "Missing or incorrectly formatted bits")
    }
    var members: JSONObject = ["device": .string(device)]
    for bit in bits { members[bit] = body[bit] }
    return await mapErrors {
      _ = try self.perform(.deviceBits, Parameters(members))
      return HTTPResponse(status: 200)
    }
  }

  /// The name of the device of a token; `nil` for one that is not Base64 of a name.
  private static func device(_ token: String) -> String? {
    guard let bytes = Base64.standard.decode(token),
      let name = String(validating: bytes, as: UTF8.self)?.split(separator: "/").first
    else { return nil }
    return String(name)
  }

  /// Whether a time is within a day of the machine's or the simulated time. Apple documents no limit.
  private func isNow(_ time: Instant) -> Bool {
    let day = Instant.millisecondsPerDay
    return [clock.machineNow(), world.now].contains { time.milliseconds(since: $0).magnitude <= day }
  }

  /// Whether a request has a provider token: ES256 with a key id, the team id and the time of issue, at most an hour old.
  /// The signature is checked if a public key is registered.
  private func isDeviceCheckToken(_ request: HTTPRequest) -> Bool {
    guard let header = request.header("authorization"), header.hasPrefix("Bearer "),
      let jws = try? UnverifiedJWS(String(header.dropFirst("Bearer ".count))), jws.header["alg"] == "ES256",
      let key = jws.header["kid"]?.stringValue, !key.isEmpty,
      let team = jws.payload["iss"]?.stringValue, team.utf8.count == 10,
      let issued = jws.payload["iat"]?.doubleValue, isCurrent(issued: issued, expires: issued + 3600)
    else { return false }
    return world.keys.isEmpty || isSigned(String(header.dropFirst("Bearer ".count)), by: key)
  }
}
