package import AppStore
internal import Synchronization

/// The sandbox's time: the machine's, faster than it, or status still until it is turned. It never goes back.
package final class SandboxClock: Sendable {
  /// Where the sandbox's time was at a moment of the machine's, and how fast it goes since.
  struct Setting: Hashable, Sendable {
    var sandbox: Instant
    var machine: Instant
    /// 1: as fast as the machine's; 0: it stands still.
    var speed: Int64
  }

  private let machine: @Sendable () -> Instant
  private let state: Mutex<Setting>
  private let listeners = Mutex<[AsyncStream<Void>.Continuation]>([])

  /// A clock that shows the machine's time.
  init(machine: @escaping @Sendable () -> Instant) {
    self.machine = machine
    let now = machine()
    state = Mutex(Setting(sandbox: now, machine: now, speed: 1))
  }

  /// The sandbox's time now.
  package func now() -> Instant {
    let machine = machine()
    return state.withLock { $0.time(at: machine) }
  }

  /// The machine's time, by which those who call from outside go.
  func machineNow() -> Instant { machine() }

  /// How it goes.
  var setting: Setting { state.withLock { $0 } }

  /// Goes on as it was remembered.
  func restore(_ setting: Setting) { state.withLock { $0 = setting } }

  /// Turns the clock forward, or changes how fast it goes from now on.
  func set(to time: Instant? = nil, speed: Int64? = nil) {
    let machine = machine()
    state.withLock { setting in
      let now = setting.time(at: machine)
      setting = Setting(sandbox: max(now, time ?? now), machine: machine, speed: speed ?? setting.speed)
    }
    listeners.withLock { listeners in
      listeners.removeAll {
        if case .terminated = $0.yield() { true } else { false }
      }
    }
  }

  /// Tells each time that the clock was turned or goes at another pace; what comes while the listener is busy
  /// is told once.
  package func changes() -> AsyncStream<Void> {
    let (stream, listener) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    listeners.withLock { $0.append(listener) }
    return stream
  }

  /// Milliseconds of the machine's time until the sandbox's is `instant`; `nil` if it stands still.
  package func milliseconds(until instant: Instant) -> Int64? {
    let setting = setting
    guard setting.speed > 0 else { return nil }
    return max(0, instant.milliseconds(since: now()) / setting.speed)
  }
}

extension SandboxClock.Setting {
  fileprivate func time(at machine: Instant) -> Instant {
    let (elapsed, overflow) = max(0, machine.milliseconds(since: self.machine))
      .multipliedReportingOverflow(by: speed)
    return sandbox.advanced(byMilliseconds: overflow ? 0 : elapsed)
  }
}
