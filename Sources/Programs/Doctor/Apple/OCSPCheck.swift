package import AppStore
package import AppStoreClient
package import SignedData

/// Checks the revocation of Apple's certificates at the responder that they name (OCSP, RFC 6960).
package struct OCSPCheck: DoctorCheck {
  /// Apple's responder, for a machine that has no document yet.
  private static let responder = "http://ocsp.apple.com"

  package let name = "ocsp"
  package let subject = ""
  package let timeLimit = Duration.seconds(20)
  private let accesses: [AppleAccess]
  private let verifier: SignedDataVerifier
  private let exchange: any HTTPExchange
  private let isRequired: Bool
  private let now: @Sendable () -> Instant

  /// `isRequired` says whether an app is configured to check its documents; otherwise an unreachable responder is no
  /// fault.
  package init(
    _ accesses: [AppleAccess], verifier: SignedDataVerifier, exchange: any HTTPExchange, isRequired: Bool,
    now: @escaping @Sendable () -> Instant
  ) {
    self.accesses = accesses
    self.verifier = verifier
    self.exchange = exchange
    self.isRequired = isRequired
    self.now = now
  }

  /// Uses the first document with a responder. Without one, only checks that the responder answers.
  package func run() async -> Finding {
    for document in accesses.flatMap(\.documents) {
      guard let chain = try? verifier.certificates(of: .jws(document)),
        let responder = chain.first?.ocspResponder
      else { continue }
      return await status(of: chain, at: responder)
    }
    return await reachability()
  }

  /// The status of the certificates of a document that Apple returned.
  private func status(of chain: [Certificate], at responder: String) async -> Finding {
    let checks = OnlineChecks(fetcher: OCSPClient(exchange: exchange), now: now)
    do throws(OnlineCheckError) {
      _ = try await checks.check(chain, policy: .hard)
    } catch {
      switch error {
      case .revoked:
        return .fault(error.description, action: "do not trust documents of this key, and ask Apple")
      case .unavailable(let detail, _): return unreachable(responder, detail)
      }
    }
    return .ok("\(responder) answers, and Apple's certificates are good")
  }

  /// Without a document, any answer shows that the way is open.
  private func reachability() async -> Finding {
    let request = OutgoingRequest(method: "GET", url: Self.responder, headers: [], body: [])
    do throws(HTTPExchangeError) {
      _ = try await exchange.send(request, timeout: .seconds(10), limit: 1 << 20)
    } catch {
      return unreachable(Self.responder, error.description)
    }
    return .ok("\(Self.responder) answers; there was no signed document to ask about")
  }

  /// A fault if an app needs the responder, otherwise a check that was not made.
  private func unreachable(_ responder: String, _ problem: String) -> Finding {
    let detail = "no answer: \(problem)"
    let action = "allow connections to \(responder), port 80"
    return isRequired
      ? .fault(detail, action: "\(action), or set online_checks: off")
      : .notChecked(detail, action: "\(action), before you turn online_checks on")
  }
}
