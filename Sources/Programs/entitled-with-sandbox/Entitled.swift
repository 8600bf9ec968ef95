internal import AppStore
internal import ArgumentParser
internal import CommandSupport
internal import SandboxCommands
internal import Transport
internal import entitled

@main
enum Main {
  static func main() { Program.start(Entitled.self, as: "entitled") }
}

/// The program with a sandbox beside the service.
struct Entitled: AsyncParsableCommand {
  static let configuration = ServiceCommands.configuration(
    of: Entitled.self, serve: ServeCommand.self, sandbox: SandboxCommand.self)
}

/// `entitled serve`.
struct ServeCommand: AsyncParsableCommand, ServerCommand {
  static let configuration = ServeOptions.command

  @OptionGroup var options: ServeOptions

  @Option(help: "Sandbox address, or 'off' (default: \(ServerOption.sandbox.fallback)).")
  var sandbox: String?

  @Option(help: "Start time of a new sandbox, RFC 3339, not in the future (default: now).")
  var sandboxStart: String?

  @OptionGroup var exposure: SandboxExposure

  func requireLimits() throws(Failure) { try options.requireLimits() }

  func run() async throws { try await options.serve(with: try embedding()) }

  /// The sandbox; `nil` if it is turned off.
  private func embedding() throws(Failure) -> SandboxOpener? {
    let start = try SandboxExposure.start(
      sandboxStart ?? ServerOption.environment("ENTITLED_SANDBOX_START"),
      option: "--sandbox-start (ENTITLED_SANDBOX_START)")
    guard ServerOption.sandbox.value(sandbox) != "off" else { return nil }
    let address = try exposure.checked(ServerOption.sandbox.address(sandbox))
    return SandboxOpener(
      address: address, start: start, targets: exposure.targets, hosts: exposure.hosts)
  }
}
