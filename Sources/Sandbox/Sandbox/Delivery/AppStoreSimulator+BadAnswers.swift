internal import AppStore
internal import HTTP
internal import JSON
internal import SignedData

/// Answers of the Server API that are not as they should be, when a tester wants them so.
extension AppStoreSimulator {
  /// An answer with the faults that are set up for it.
  func spoiled(_ body: JSONObject) -> HTTPResponse {
    var body = body
    if let change = takeForgery(), let forged = Faults.changed(.object(body), change).objectValue {
      body = forged
    }
    if faults.take(.pageLoop) != nil {
      // The same place for ever, under the name that the answer has for it.
      body[body["revision"] == nil ? "paginationToken" : "revision"] = body["revision"] == nil ? "p_0" : "r_0"
      body["hasMore"] = true
    }
    let bytes = body.serialized()
    return .json(200, faults.take(.truncated) == nil ? bytes : Array(bytes.prefix(bytes.count / 2)))
  }

  /// What is to be done to the next documents that are handed out; `nil` if nothing.
  func takeForgery() -> ((String) -> String)? {
    if faults.take(.wrongSignature) != nil { return Faults.falsified }
    guard faults.take(.foreignChain) != nil, let forger = try? forger() else { return nil }
    return { document in
      (try? UnverifiedJWS(document)).flatMap { try? forger.sign(payload: $0.payload) } ?? document
    }
  }

  /// Signs with a chain of the same shape under a root that nobody trusts.
  private func forger() throws -> JWSSigner {
    if let foreignSigner { return foreignSigner }
    let (start, end) = (
      clock.machineNow(), clock.machineNow().advanced(byMilliseconds: 20 * 365 * 86_400_000)
    )
    func name(_ text: String) -> DistinguishedName {
      DistinguishedName([("CN", text), ("O", "Somebody else")])
    }
    let key = try SigningKey.generate(.p256)
    let root = try CertificateIssuer.root(name("Root"), key: .generate(.p384), from: start, until: end)
    let issuer = try root.intermediate(name("Authority"), key: .generate(.p384), from: start, until: end)
    let leaf = try issuer.leaf(name("Signer"), key: key, from: start, until: end)
    let signer = JWSSigner(key: key, chain: [leaf, issuer.certificate, root.certificate])
    foreignSigner = signer
    return signer
  }

  /// An answer that has nothing to do with the question; `nil` if none is due.
  func strangeAnswer() -> HTTPResponse? {
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

  /// A moment as servers write it (RFC 9110, section 5.6.7).
  private static func httpDate(_ instant: Instant) -> String {
    let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = CalendarTime(instant)
    let weekday = days[Int(instant.millisecondsSince1970 / 86_400_000 % 7)]
    let seconds = date.millisecondOfDay / 1000
    let time = [seconds / 3600, seconds / 60 % 60, seconds % 60].map(two).joined(separator: ":")
    return "\(weekday), \(two(date.day)) \(months[Int(date.month) - 1]) \(date.year) \(time) GMT"
  }
}
