internal import AppStore
internal import HTTP
internal import JSON
internal import SignedData

// Faulty responses of the Server API.
extension AppStoreSimulator {
  /// Returns the response with the active faults applied.
  func applyFaults(to body: JSONObject, of call: ServerAPICall) -> HTTPResponse {
    var body = body
    if let change = takeSignatureFault(), let changed = Faults.changed(.object(body), change).objectValue {
      body = changed
    }
    if faults.take(.pageLoop) != nil {
      // The token is valid and always leads to the same page.
      if body["revision"] == nil {
        let first = HistoryPageToken(index: 0, issued: clock.machineNow(), body: (try? call.body()) ?? [:])
        body["paginationToken"] = .string(call.query["paginationToken"] ?? first.text)
      } else {
        body["revision"] = "r_0"
      }
      body["hasMore"] = true
    }
    let bytes = body.serialized()
    return .json(200, faults.take(.truncated) == nil ? bytes : Array(bytes.prefix(bytes.count / 2)))
  }

  /// Returns the change for the signed documents of the next response, or `nil` if no fault applies.
  func takeSignatureFault() -> ((String) -> String)? {
    if faults.take(.wrongSignature) != nil { return Faults.falsified }
    guard faults.take(.foreignChain) != nil, let signer = try? makeForeignSigner() else { return nil }
    return { document in
      (try? UnverifiedJWS(document)).flatMap { try? signer.sign(payload: $0.payload) } ?? document
    }
  }

  /// Returns a signer whose chain has the same shape under an untrusted root.
  private func makeForeignSigner() throws -> JWSSigner {
    if let foreignSigner { return foreignSigner }
    let (start, end) = (
      clock.machineNow(), clock.machineNow().advanced(byDays: 20 * 365)
    )
    func name(_ text: String) -> DistinguishedName {
      DistinguishedName([("CN", text), ("O", "Foreign issuer")])
    }
    let key = try SigningKey.generate(.p256)
    let root = try CertificateIssuer.root(name("Root"), key: .generate(.p384), from: start, until: end)
    let issuer = try root.intermediate(name("Authority"), key: .generate(.p384), from: start, until: end)
    let leaf = try issuer.leaf(name("Signer"), key: key, from: start, until: end)
    let signer = JWSSigner(key: key, chain: [leaf, issuer.certificate, root.certificate])
    foreignSigner = signer
    return signer
  }

  /// Returns a response that replaces the regular one, or `nil` if no fault applies.
  func replacementResponse() -> HTTPResponse? {
    if faults.take(.html) != nil {
      return HTTPResponse(
        status: 200, headers: HeaderFields([("content-type", "text/html")]),
        body: Array("<!DOCTYPE html><html><title>Please sign in to the network</title></html>".utf8))
    }
    if faults.take(.empty) != nil { return HTTPResponse(status: 200) }
    guard let length = faults.take(.clockOff) else { return nil }
    let date = clock.machineNow().advanced(byMilliseconds: length)
    return HTTPResponse(status: 401, headers: HeaderFields([("date", Self.httpDate(date))]))
  }

  /// Formats a time for the `Date` header (RFC 9110, section 5.6.7).
  static func httpDate(_ instant: Instant) -> String {
    let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = CalendarTime(instant)
    let weekday = days[Int(instant.millisecondsSince1970 / Instant.millisecondsPerDay % 7)]
    let seconds = date.millisecondOfDay / 1000
    let time = [seconds / 3600, seconds / 60 % 60, seconds % 60].map(two).joined(separator: ":")
    return "\(weekday), \(two(date.day)) \(months[Int(date.month) - 1]) \(date.year) \(time) GMT"
  }
}
