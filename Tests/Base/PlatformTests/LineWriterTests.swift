import Glibc
import Platform
import Testing

@Suite("Lines for a reader that may stop reading")
struct LineWriterTests {
  private let reading: CInt
  private let writing: CInt

  init() throws {
    var ends: [CInt] = [0, 0]
    let result = pipe(&ends)
    try #require(result == 0)
    // A process that another test starts must not keep an end open.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    reading = ends[0]
    writing = ends[1]
  }

  private static func line(_ number: Int) -> String {
    "line \(number) \(String(repeating: "x", count: 90))\n"
  }

  /// Reads up to the line `last`, or to the end of the output.
  private static func lines(from descriptor: CInt, upTo last: String? = nil) -> [Substring] {
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4_096)
    var count = read(descriptor, &part, part.count)
    while count > 0 {
      text += part.prefix(count)
      if let last, text.suffix(last.utf8.count).elementsEqual(last.utf8) { break }
      count = read(descriptor, &part, part.count)
    }
    close(descriptor)
    return String(decoding: text, as: UTF8.self).split(separator: "\n")
  }

  @Test("A line is written at once")
  func atOnce() {
    let writer = LineWriter(writing) { _ in }
    writer.write("one\n")
    writer.write("two\n")
    close(writing)
    #expect(Self.lines(from: reading) == ["one", "two"])
  }

  @Test(
    "Without a reader no line waits long; some are dropped, and their number is reported when the others are read"
  )
  func stopped() async {
    let (counts, count) = AsyncStream<Int>.makeStream()
    let writer = LineWriter(writing, maxBytes: 100_000) { count.yield($0) }
    // More than a pipe and the limit hold.
    for number in 0..<10_000 { writer.write(Self.line(number)) }
    let (results, result) = AsyncStream<[Substring]>.makeStream()
    let threads = BackgroundThreads(count: 1)
    threads.async { [reading] in result.yield(Self.lines(from: reading, upTo: "the last one\n")) }
    var dropped = 0
    for await count in counts {
      dropped = count
      break
    }
    writer.write("the last one\n")
    var lines: [Substring] = []
    for await found in results {
      lines = found
      break
    }
    close(writing)
    #expect(writer.lostLines == dropped)
    #expect(dropped > 5_000 && lines.count == 10_000 - dropped + 1)
    #expect(lines.last == "the last one")
    let numbers = lines.dropLast().compactMap { Int($0.split(separator: " ")[1]) }
    #expect(
      numbers == numbers.sorted() && lines.dropLast().elementsEqual(numbers.map { Self.line($0).dropLast() }))
  }

  @Test("Lines that the descriptor does not accept are counted")
  func refused() throws {
    close(reading)
    close(writing)
    // As that of a full disk, a write fails.
    let descriptor = open("/dev/null", O_RDONLY)
    defer { close(descriptor) }
    try #require(descriptor >= 0)
    let writer = LineWriter(descriptor) { _ in Issue.record("no line was dropped") }
    writer.write("one\n")
    writer.write("\(String(repeating: "x", count: 10_000))\n")
    writer.flush()
    #expect(writer.lostLines == 2)
  }

  @Test("A line that is longer than a pipe arrives complete")
  func long() async {
    let writer = LineWriter(writing) { _ in }
    let (results, result) = AsyncStream<[Substring]>.makeStream()
    let threads = BackgroundThreads(count: 1)
    threads.async { [reading] in result.yield(Self.lines(from: reading)) }
    let long = String(repeating: "x", count: 200_000)
    writer.write("\(long)\n")
    writer.write("short\n")
    writer.flush()
    close(writing)
    for await found in results {
      #expect(found == [Substring(long), "short"])
      break
    }
  }
}
