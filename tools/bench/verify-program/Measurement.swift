internal import AppStore
internal import Glibc
internal import SignedData

/// The number of verified documents and the CPU time.
struct Measurement {
  private(set) var count = 0
  let cpuSeconds: Double

  /// Verifies the documents repeatedly for the given time. Throws at the first rejected one.
  init(of kind: BenchDocuments.Kind, in documents: BenchDocuments, seconds: Double) throws {
    let verifier = try SignedDataVerifier(anchors: .apple().adding(documents.root(kind), for: .sandbox))
    let texts = try documents.read(kind)
    let app = BenchDocuments.app
    func verifyAll() throws {
      for text in texts {
        switch kind {
        case .transaction, .uncached:
          _ = try verifier.verifyTransaction(text, for: app, environments: [.sandbox])
        case .notification:
          _ = try verifier.verifyNotification(text, for: app, environments: [.sandbox])
        }
      }
    }
    try verifyAll()  // The first round fills the caches.
    let start = Self.cpuSeconds
    while Self.cpuSeconds - start < seconds {
      try verifyAll()
      count += texts.count
    }
    cpuSeconds = Self.cpuSeconds - start
  }

  private static var cpuSeconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
