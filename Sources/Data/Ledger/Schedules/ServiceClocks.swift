package import AppStore
package import Store

/// A clock of the service: the machine's, or that of a sandbox, which may be set and run faster.
package struct ServiceClock: Sendable {
  /// The current time.
  package let now: @Sendable () -> Instant
  /// The machine's milliseconds until an instant; `nil` if the clock stopped before it.
  package let delay: @Sendable (Instant) -> Int64?
  /// A signal each time that the clock was set or its speed changed.
  package let adjustments: @Sendable () -> AsyncStream<Void>
  /// The environments that follow this clock.
  package let domain: ClockDomain

  package init(
    now: @escaping @Sendable () -> Instant, delay: @escaping @Sendable (Instant) -> Int64?,
    adjustments: @escaping @Sendable () -> AsyncStream<Void>, domain: ClockDomain = .all
  ) {
    self.now = now
    self.delay = delay
    self.adjustments = adjustments
    self.domain = domain
  }

  /// A clock that runs at the machine's speed. It does not signal when the machine's clock is set.
  package init(now: @escaping @Sendable () -> Instant, domain: ClockDomain = .all) {
    self.init(
      now: now, delay: { max(0, $0.milliseconds(since: now())) },
      adjustments: { AsyncStream { $0.finish() } }, domain: domain)
  }

  /// The name of a worker for the environments that follow this clock.
  package func name(ofWorker name: String) -> String { domain == .sandbox ? "\(name)_sandbox" : name }
}

/// The clocks of all environments: one for all, or that of an embedded sandbox beside the machine's.
package struct ServiceClocks: Sendable {
  /// One clock for each domain; together they cover all environments.
  package let all: [ServiceClock]
  /// The times of all environments at this instant. Reads each clock once.
  package let times: @Sendable () -> EnvironmentTimes
  private let sandbox: ServiceClock
  private let others: ServiceClock

  /// Uses one clock for all environments.
  package init(_ clock: ServiceClock) {
    all = [clock]
    times = {
      let now = clock.now()
      return EnvironmentTimes(sandbox: now, others: now)
    }
    (sandbox, others) = (clock, clock)
  }

  /// Uses the clock of an embedded sandbox for the environment `Sandbox`, and the machine's for all others.
  package init(sandbox: ServiceClock, machine: ServiceClock) {
    all = [sandbox, machine]
    times = { EnvironmentTimes(sandbox: sandbox.now(), others: machine.now()) }
    (self.sandbox, others) = (sandbox, machine)
  }

  /// The clock of an environment; the machine's for an unknown one.
  package subscript(environment: Environment?) -> ServiceClock {
    environment == .sandbox ? sandbox : others
  }

  /// The time in an environment.
  package func now(in environment: Environment?) -> Instant { self[environment].now() }
}

/// The times of all environments at one instant of the machine.
package struct EnvironmentTimes: Sendable {
  /// The time of the embedded sandbox, which a tester may advance.
  package let sandbox: Instant
  /// The time of the machine.
  package let others: Instant

  package init(sandbox: Instant, others: Instant) {
    self.sandbox = sandbox
    self.others = others
  }

  /// The time of an environment; `nil` is data without one, which follows the machine's clock.
  package subscript(environment: Environment?) -> Instant { environment == .sandbox ? sandbox : others }
}
