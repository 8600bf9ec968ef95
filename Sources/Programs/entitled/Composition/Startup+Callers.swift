internal import AppStore
internal import Callers
internal import Configuration
internal import Foundation
internal import SignedData
internal import Transport

extension Startup {
  /// Who is let in. `fetch` is told when the keys of the identity provider are to be fetched.
  ///
  /// - Throws: if everybody would be let in at an address that others than this machine reach, and the
  ///   configuration does not say that this is meant.
  static func admission(
    _ configuration: ServiceConfiguration, at addresses: [HostAndPort], fetch: JWKSRefresher
  ) throws -> CallerPolicy {
    switch configuration.callers {
    case .open: return .open
    case .listed(let definitions):
      let issuer = try configuration.tokenIssuer.map { try tokenIssuer($0, fetch) }
      return .listed(CallerDirectory(definitions, issuer: issuer))
    case .unspecified:
      guard let exposed = addresses.first(where: { !$0.isLoopback }) else { return .open }
      throw Failure(
        "others than this machine can reach \(exposed), and the configuration does not say who may call: "
          + "list them under callers, or write callers: open if everybody who reaches it may")
    }
  }

  private static func tokenIssuer(
    _ configuration: TokenIssuerConfiguration, _ fetch: JWKSRefresher
  ) throws -> TokenIssuer {
    switch configuration.keys {
    case .file(let path):
      guard let bytes = FileManager.default.contents(atPath: path) else {
        throw Failure("cannot read the keys of the token_issuer in \(path)")
      }
      do {
        return TokenIssuer(configuration.terms, keys: try JSONWebKeySet(parsing: Array(bytes)))
      } catch {
        throw Failure("the keys of the token_issuer in \(path): \(error)")
      }
    case .url(let url):
      let issuer = TokenIssuer(configuration.terms, keys: nil) { fetch.request() }
      fetch.begin(from: url, for: issuer)
      return issuer
    }
  }
}
