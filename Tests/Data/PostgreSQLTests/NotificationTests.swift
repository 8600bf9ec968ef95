import PostgreSQL
import PostgresSupport
import Testing

extension PostgresTests {
  @Suite struct NotificationTests {
    private let database: Database

    init() throws { database = try Database() }

    @Test("Notifications arrive after their commit, with channel and payload")
    func notify() throws {
      let (listener, writer) = (try database.connect(), try database.connect())
      try listener.listen(to: "A \"channel\"")
      try writer.execute("BEGIN; NOTIFY \"A \"\"channel\"\"\", 'app 7'")
      #expect(try listener.notifications(waitingAtMost: .milliseconds(20)) == [])
      try writer.execute("COMMIT")
      let received = try listener.notifications(waitingAtMost: .seconds(30))
      #expect(received.map(\.channel) == ["A \"channel\""] && received.map(\.payload) == ["app 7"])
      #expect(try listener.notifications(waitingAtMost: .zero) == [])
    }

    @Test("Waiting for notifications ends when it is interrupted or the session is lost")
    func ends() throws {
      let (listener, other) = (try database.connect(), try database.connect())
      try listener.listen(to: "channel")
      listener.interrupt { true }
      let interrupted = failure { () throws(PostgresError) in
        _ = try listener.notifications(waitingAtMost: .seconds(60))
      }
      #expect(interrupted?.kind == .timedOut)
      listener.interrupt(if: nil)
      let process = try listener.number("SELECT pg_backend_pid()")
      _ = try other.number("SELECT pg_terminate_backend(\(process), 5000)::int")
      let lost = failure { () throws(PostgresError) in
        _ = try listener.notifications(waitingAtMost: .seconds(60))
      }
      #expect(lost?.kind == .unavailable)
      #expect(listener.isBroken)
    }
  }
}
