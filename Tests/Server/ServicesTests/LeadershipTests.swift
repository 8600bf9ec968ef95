import Store
import Testing

@testable import Services

/// The preparation of a replica that became the leader.
@Suite(.timeLimit(.minutes(10))) struct LeadershipTests {
  private struct Failure: Error {}

  private let replication = FakeReplication()

  @Test("A leader whose preparation fails lets another replica lead, and prepares again when it leads again")
  func failing() async {
    let leadership = Leadership(replication, .init(failing: .zero))
    let (leads, lead) = AsyncStream.makeStream(of: Void.self)
    var stepDowns = replication.stepDowns.makeAsyncIterator()
    let replication = replication
    let run = Task {
      await leadership.run {
        guard replication.epoch == 2 else { throw Failure() }
      } lead: {
        lead.yield()
      }
    }
    replication.set(.leader(epoch: 1))
    await stepDowns.next()
    #expect(replication.role == .follower && !leadership.executesWrites)
    replication.set(.leader(epoch: 2))
    for await _ in leads { break }
    #expect(leadership.executesWrites)
    run.cancel()
    await run.value
  }

  @Test("A leader whose preparation does not end lets another replica lead")
  func unfinished() async {
    let leadership = Leadership(replication, .init(unfinished: .zero))
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    var stepDowns = replication.stepDowns.makeAsyncIterator()
    // Nothing ends this preparation, neither an error nor the cancellation of its task.
    let hanging = Task { for await _ in ends {} }
    let run = Task {
      await leadership.run {
        await hanging.value
      } lead: {
      }
    }
    for epoch in 1...2 {
      replication.set(.leader(epoch: Int64(epoch)))
      await stepDowns.next()
      #expect(replication.role == .follower && !leadership.executesWrites)
    }
    end.finish()
    run.cancel()
    await run.value
  }
}

extension FakeReplication {
  fileprivate var epoch: Int64? {
    if case .leader(let epoch) = role { epoch } else { nil }
  }
}
