import Testing

@testable import Transport

@Suite struct ConnectionLifetimeTests {
  private var times: ConnectionTimes {
    var times = ConnectionTimes()
    times.request = 30
    times.idle = 600
    times.age = 1_000
    times.ageGrace = 100
    times.keepalive = 60
    times.keepaliveTimeout = 20
    times.stall = 120
    return times
  }

  private let busy = ConnectionLifetime.Observation(hasReceived: true, hasSent: true, openStreams: 1)

  @Test("A connection with calls is retired at its maximum age and closed after the grace period")
  func age() {
    var lifetime = ConnectionLifetime(times, now: 0, jitter: 0)
    #expect(lifetime.tick(now: 999, busy) == .nothing)
    #expect(lifetime.tick(now: 1_000, busy) == .retire)
    #expect(lifetime.tick(now: 1_099, busy) == .nothing)
    #expect(lifetime.tick(now: 1_100, busy) == .close(.retired))
  }

  @Test(
    "Connections that start together do not reach their maximum age together",
    arguments: [(-1.0, 900), (1.0, 1_100)])
  func jitter(jitter: Double, end: Int64) {
    var lifetime = ConnectionLifetime(times, now: 0, jitter: jitter)
    #expect(lifetime.tick(now: end - 1, busy) == .nothing)
    #expect(lifetime.tick(now: end, busy) == .retire)
  }

  @Test("A connection without calls is idle even if its peer sends frames")
  func idle() {
    var lifetime = ConnectionLifetime(times, now: 0, jitter: 0)
    _ = lifetime.tick(now: 100, busy)
    let chatter = ConnectionLifetime.Observation(hasReceived: true)
    #expect(lifetime.tick(now: 699, chatter) == .nothing)
    #expect(lifetime.tick(now: 700, chatter) == .retire)
  }

  @Test("A connection whose calls all end between two checks is not idle")
  func shortCalls() {
    var lifetime = ConnectionLifetime(times, now: 0, jitter: 0)
    let calls = ConnectionLifetime.Observation(hasReceived: true, hasSent: true, hasOpened: true)
    #expect(lifetime.tick(now: 599, calls) == .nothing)
    #expect(lifetime.tick(now: 999, calls) == .nothing)
    #expect(lifetime.tick(now: 1_000, calls) == .retire)
  }

  @Test("A silent peer receives one ping, and is disconnected if it does not acknowledge it")
  func keepalive() {
    var lifetime = ConnectionLifetime(times, now: 0, jitter: 0)
    let silent = ConnectionLifetime.Observation(openStreams: 1)
    #expect(lifetime.tick(now: 59, silent) == .nothing)
    #expect(lifetime.tick(now: 60, silent) == .ping)
    #expect(lifetime.tick(now: 70, silent) == .nothing)
    #expect(lifetime.tick(now: 79, .init(hasReceived: true, openStreams: 1)) == .nothing)
    #expect(lifetime.tick(now: 139, silent) == .ping)
    #expect(lifetime.tick(now: 159, silent) == .close(.silent))
  }

  @Test("A peer that reads no responses is disconnected, a slow one is not")
  func stall() {
    var lifetime = ConnectionLifetime(times, now: 0, jitter: 0)
    var waiting = busy
    waiting.hasUnsent = true
    for now in stride(from: Int64(0), through: 480, by: 60) {
      #expect(lifetime.tick(now: now, waiting) == .nothing)
    }
    waiting.hasSent = false
    #expect(lifetime.tick(now: 599, waiting) == .nothing)
    #expect(lifetime.tick(now: 600, waiting) == .close(.stalled))
  }

  @Test("The timeout of a header block restarts with each request")
  func headers() {
    var lifetime = ConnectionLifetime(times, now: 0, jitter: 0)
    var reading = busy
    reading.openHeaderBlock = 1
    #expect(lifetime.tick(now: 10, reading) == .nothing)
    reading.openHeaderBlock = 3
    #expect(lifetime.tick(now: 39, reading) == .nothing)
    #expect(lifetime.tick(now: 68, reading) == .nothing)
    #expect(lifetime.tick(now: 69, reading) == .close(.slowHeaders))
  }
}
