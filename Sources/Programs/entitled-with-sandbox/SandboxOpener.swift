internal import AppStore
internal import CommandSupport
internal import Configuration
internal import Entitlements
internal import Ledger
internal import Logging
internal import NIOCore
internal import Platform
internal import Sandbox
internal import SandboxCommands
internal import Store
internal import Synchronization
internal import Transport
internal import entitled

/// Opens the sandbox that runs beside the service, with its listener. A reset does not set its clock back,
/// because the service follows the clock.
struct SandboxOpener: SandboxEmbedding {
  let address: HostAndPort
  /// The simulated time at which a new sandbox begins; `nil` for the present.
  let start: Instant?
  /// The hosts to which it sends, besides this machine and the configured ones.
  let targets: [String]
  /// The host names under which clients reach it, besides `localhost` and the configured ones.
  let hosts: [String]

  func open(
    _ configuration: ServiceConfiguration, data: String, on group: any EventLoopGroup, maxConnections: Int,
    held: PeerBytes, logger: Logger
  ) async throws -> EmbeddedSandbox {
    let storage = SandboxSettings(data: data, start: start, targets: targets, keepsTime: true)
    let worlds = try storage.worlds(configuration)
    let answers = LateAnswers()
    var service = SandboxListener.service(
      SandboxListener.policy(configuration.listeners, hosts: hosts, address: address), worlds,
      answers: answers)
    service.threads = { _ in .shared }
    service.limits.connections = maxConnections
    service.held = held
    do {
      let listener = try await Listener.listen(at: address, on: group, serving: service, logger: logger)
      let main = worlds.main
      let sandbox = EmbeddedSandbox(
        clock: ServiceClock(main.clock), roots: [main.root, main.secondRoot], listener: listener,
        worker: SandboxWorker(worlds: worlds), showAnswers: answers.show)
      try await main.setBaseURL("http://\(listener.address)")
      return sandbox
    } catch {
      throw Failure("\(error)")
    }
  }
}

/// The answers of the service; none until the service is constructed.
private final class LateAnswers: ServiceAnswers {
  private let reader = Mutex<SandboxAnswerReader?>(nil)

  /// Shows the answers from now on.
  func show(_ reader: SandboxAnswerReader) { self.reader.withLock { $0 = reader } }

  func lastChange(of app: String) async -> Int64? {
    await reader.withLock { $0 }?.lastSequence(ofApp: app)
  }

  func changes(of app: String, after number: Int64, limit: Int) async -> [AnswerChange] {
    let events = await reader.withLock { $0 }?.events(ofApp: app, after: number, limit: limit) ?? []
    return events.map { stored in
      let change = stored.event.change
      return AnswerChange(
        customer: stored.event.customer.customerID, entitlement: change.entitlement,
        before: AnswerChange.Answer(change.before), after: AnswerChange.Answer(change.after))
    }
  }
}

extension AnswerChange.Answer {
  fileprivate init(_ status: EntitlementStatus) {
    self.init(reason: status.reason.rawValue, isEntitled: status.isEntitled)
  }
}

/// Advances the worlds of the sandbox.
private struct SandboxWorker: Worker {
  let name = "sandbox"
  let worlds: SandboxWorlds

  func run() async { await worlds.run() }
}

extension ServiceClock {
  fileprivate init(_ clock: SandboxClock) {
    self.init(
      now: { clock.now() }, delay: { clock.milliseconds(until: $0) }, adjustments: { clock.changes() },
      domain: .sandbox)
  }
}
