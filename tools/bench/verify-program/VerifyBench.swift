internal import Glibc

/// The Swift side of `tools/bench/verify`.
///
///     verify-bench make FOLDER                 writes documents of every measured kind
///     verify-bench run FOLDER KIND SECONDS     verifies them repeatedly; KIND is transaction,
///                                              notification or uncached
@main enum VerifyBench {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    switch (arguments.first, arguments.count) {
    case ("make", 2): try await BenchDocuments(folder: arguments[2]).make()
    case ("run", 4):
      guard let kind = BenchDocuments.Kind(rawValue: arguments[3]), let seconds = Double(arguments[4]) else {
        fail()
      }
      let measured = try Measurement(of: kind, in: BenchDocuments(folder: arguments[2]), seconds: seconds)
      print("verified=\(measured.count) cpu_seconds=\(measured.cpuSeconds)")
    default: fail()
    }
  }

  private static func fail() -> Never {
    print("usage: verify-bench make FOLDER | run FOLDER transaction|notification|uncached SECONDS")
    exit(2)
  }
}
