package import AppStore
internal import Synchronization

/// The simulated time: the machine's time, optionally faster or stopped. It goes back only when the world begins again.
/// The service beside a sandbox reads the time of the sandbox's environment from it.
package final class SandboxClock: Sendable {
  /// A simulated time with the corresponding machine time, and the speed since then.
  struct Setting: Hashable, Sendable {
    var sandbox: Instant
    var machine: Instant
    /// 1 is real time, 0 stops the clock.
    var speed: Int64
  }

  /// The end of the year 9999, at which the clock stops: later times have no text in RFC 3339.
  static let latest = Instant(millisecondsSince1970: 253_402_300_799_999)

  private let machine: @Sendable () -> Instant
  private let state: Mutex<Setting>
  private let listeners = Mutex<[AsyncStream<Void>.Continuation]>([])

  /// A clock that shows the machine's time.
  init(machine: @escaping @Sendable () -> Instant) {
    self.machine = machine
    let now = machine()
    state = Mutex(Setting(sandbox: now, machine: now, speed: 1))
  }

  /// The simulated time now.
  package func now() -> Instant {
    let machine = machine()
    return state.withLock { $0.time(at: machine) }
  }

  /// The machine's time, for checks of requests from outside.
  func machineNow() -> Instant { machine() }

  /// The current setting.
  var setting: Setting { state.withLock { $0 } }

  /// Restores a setting from the journal.
  func restore(_ setting: Setting) { state.withLock { $0 = setting } }

  /// Advances the clock or changes its speed from now on. An earlier time than now leaves the time as it is.
  func set(to time: Instant? = nil, speed: Int64? = nil) {
    let machine = machine()
    state.withLock { setting in
      let now = setting.time(at: machine)
      setting = Setting(sandbox: max(now, time ?? now), machine: machine, speed: speed ?? setting.speed)
    }
    announceChange()
  }

  /// Sets the clock of a world that begins again. This is the only way in which the time goes back.
  func restart(at time: Instant, speed: Int64) {
    restore(Setting(sandbox: time, machine: machine(), speed: speed))
    announceChange()
  }

  /// Wakes the listeners; those whose reader has ended are removed.
  private func announceChange() {
    listeners.withLock { listeners in
      listeners.removeAll {
        if case .terminated = $0.yield() { true } else { false }
      }
    }
  }

  /// Returns a stream with an element for each change of time or speed. Changes during a slow consumer are
  /// merged.
  package func changes() -> AsyncStream<Void> {
    let (stream, listener) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    listeners.withLock { $0.append(listener) }
    return stream
  }

  /// Milliseconds of machine time until the simulated time is `instant`; `nil` if the clock is stopped, or
  /// stops before it.
  package func milliseconds(until instant: Instant) -> Int64? {
    let setting = setting
    guard setting.speed > 0, instant <= Self.latest else { return nil }
    return max(0, instant.milliseconds(since: now()) / setting.speed)
  }
}

extension SandboxClock.Setting {
  /// The simulated time at an instant of the machine; that of the setting for an earlier instant, and for a product
  /// that overflows.
  fileprivate func time(at machine: Instant) -> Instant {
    let (elapsed, overflow) = max(0, machine.milliseconds(since: self.machine))
      .multipliedReportingOverflow(by: speed)
    let remaining = max(0, SandboxClock.latest.milliseconds(since: sandbox))
    return sandbox.advanced(byMilliseconds: overflow ? 0 : min(elapsed, remaining))
  }
}
