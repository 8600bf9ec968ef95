package import AppStore
internal import SignedData

/// Connects to the public host name as Apple does, and judges the certificates that it presents.
package struct TLSCheck: DoctorCheck {
  /// Fewer days left are a fault, because automatic renewals happen earlier.
  static let fewestDays: Int64 = 14

  package let name = "tls"
  package var subject: String { "\(host):\(port)" }
  package let timeLimit = Duration.seconds(10)
  private let host: String
  private let port: Int
  private let authorities: String?
  private let now: @Sendable () -> Instant

  /// `authorities` is a PEM file with the trusted authorities; `nil` selects those of the system.
  package init(host: String, port: Int, authorities: String? = nil, now: @escaping @Sendable () -> Instant) {
    self.host = host
    self.port = port
    self.authorities = authorities
    self.now = now
  }

  /// Judges the certificate first, so that an expired one is reported as such and not as an untrusted chain.
  package func run() async -> Finding {
    let probe = TLSProbe(host: host, port: port, authorities: authorities)
    let chain: [Certificate]
    do { chain = try await probe.presentedChain() } catch {
      return .fault(
        "no TLS connection: \(error.description)",
        action: "start the proxy that terminates TLS, and open the port \(port)")
    }
    guard let leaf = chain.first else {
      return .fault("no certificate", action: "configure a certificate for \(host)")
    }
    if let fault = Self.fault(of: leaf, for: host, at: now()) { return fault }
    do { try await probe.requireTrust() } catch {
      return .fault(
        "the chain is not trusted: \(chain.count) certificates up to \(chain.last?.issuer ?? "")",
        action: "send the intermediate certificates, of an authority that Apple trusts")
    }
    let days = Self.days(until: leaf.notAfter, from: now())
    guard days >= Self.fewestDays else {
      return .fault("the certificate ends in \(days) days, on \(leaf.notAfter)", action: "renew it")
    }
    return .ok("\(leaf.subject), \(chain.count) certificates, \(days) days left")
  }

  /// A fault that the certificate itself shows: its dates, or another name; `nil` without one.
  static func fault(of leaf: Certificate, for host: String, at now: Instant) -> Finding? {
    if leaf.notAfter < now {
      return .fault("the certificate ended on \(leaf.notAfter)", action: "renew it and reload the proxy")
    }
    if now < leaf.notBefore {
      return .fault(
        "the certificate begins on \(leaf.notBefore)", action: "set the clock, or use one that is valid now")
    }
    if !leaf.isIssued(for: host) {
      return .fault(
        "the certificate is for \(leaf.subject), not for \(host)",
        action: "get a certificate that names \(host)")
    }
    return nil
  }

  /// The number of whole days between two instants.
  static func days(until end: Instant, from now: Instant) -> Int64 {
    end.milliseconds(since: now) / Instant.millisecondsPerDay
  }
}
