internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import Platform
internal import Sandbox
internal import Transport

/// TLS under a root certificate of the sandbox.
struct SandboxTLSOptions: ParsableArguments {
  @Option(help: "Address with TLS, besides the one without (default: none). Port 0 selects a free port.")
  var tls: String?
  @Option(
    help: "Further name in the TLS certificate; repeatable (default: localhost and this machine's name).")
  var tlsName: [String] = []
  @Option(help: "File to which the root of the TLS certificate is written (default: none).") var tlsRoot:
    String?

  /// The listener with a certificate for its names; `nil` without `--tls`. In a data directory the root stays the same,
  /// so clients keep their trust.
  func listener(_ exposure: SandboxExposure, data: String?) throws(Failure) -> SandboxTLSListener? {
    guard let text = tls ?? ServerOption.environment("ENTITLED_TLS_ADDRESS") else {
      guard tlsName.isEmpty, tlsRoot == nil else {
        throw Failure("--tls-name and --tls-root need --tls", status: 64)
      }
      return nil
    }
    guard let address = HostAndPort(text) else {
      throw Failure("--tls (ENTITLED_TLS_ADDRESS) takes ADDRESS:PORT, not '\(text)'", status: 64)
    }
    let checked = try exposure.checked(address)
    let names = tlsName + SandboxExposure.list("ENTITLED_TLS_NAME") + exposure.hosts
    let authority: SandboxTLSAuthority
    do throws(SandboxError) {
      authority = try SandboxTLSAuthority(
        directory: data.map { "\($0)/sandbox-tls" }, names: names + Self.ownNames(address.host),
        now: SystemClock.now())
    } catch {
      throw Failure(error.description)
    }
    try write(authority.root)
    do throws(TLSError) {
      return SandboxTLSListener(
        address: checked, identity: try TLSIdentity(chain: authority.certificate, key: authority.key),
        names: names, root: authority.root)
    } catch {
      throw Failure(error.description)
    }
  }

  /// Writes the root to the file of the option, for clients that are to trust it.
  private func write(_ root: String) throws(Failure) {
    guard let path = tlsRoot ?? ServerOption.environment("ENTITLED_TLS_ROOT") else { return }
    do { try Data(root.utf8).write(to: URL(filePath: path), options: .atomic) } catch {
      throw Failure("cannot write '\(path)': \(error.localizedDescription)")
    }
  }

  /// The names of this machine that every certificate has.
  private static func ownNames(_ host: String) -> [String] {
    ["localhost", "127.0.0.1", "::1", host, ProcessInfo.processInfo.hostName]
  }
}

/// The settings of a listener with TLS.
struct SandboxTLSListener: Sendable {
  let address: HostAndPort
  let identity: TLSIdentity
  /// The names besides addresses and `localhost` under which clients reach it.
  let names: [String]
  /// In PEM.
  let root: String
}
