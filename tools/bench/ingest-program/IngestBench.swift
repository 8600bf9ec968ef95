internal import Glibc

/// The Swift side of `tools/bench/ingest` and `tools/crash`.
///
///     ingest-bench FOLDER COUNT CUSTOMERS [FIRST]
///
/// writes COUNT bodies as Apple posts them, one per line, into FOLDER/notifications.txt, and their root
/// certificate into FOLDER/root.der. They are about the purchases that `entitled store seed --customers
/// CUSTOMERS` creates; FIRST (0) is the number of the first one.
@main enum IngestBench {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    let numbers = arguments.dropFirst().map { Int($0) ?? -1 }
    guard let folder = arguments.first, (2...3).contains(numbers.count), numbers.allSatisfy({ $0 >= 0 }),
      numbers[1] > 0
    else {
      print("usage: ingest-bench FOLDER COUNT CUSTOMERS [FIRST]")
      exit(2)
    }
    let first = numbers.count == 3 ? numbers[2] : 0
    try PostedNotifications(customers: numbers[1]).write(first..<first + numbers[0], to: folder)
  }
}
