internal import Foundation
internal import SignedData

/// The fuzzer's main program. `FUZZ_PARSER` selects the parser, `FUZZ_FOLDER` the folder of the seeds, `FUZZ_KIT` that
/// of the conformance kit. Without a parser the program writes the seeds; with one it hands its arguments to libFuzzer.
@main
struct Fuzz {
  static let seeds = Seeds(
    folder: URL(filePath: ProcessInfo.processInfo.environment["FUZZ_FOLDER"] ?? "."),
    kit: URL(filePath: ProcessInfo.processInfo.environment["FUZZ_KIT"] ?? "conformance"))

  /// The selected parser, and a verifier that trusts the kit.
  static let setup: (parser: FuzzedParser, verifier: SignedDataVerifier) = {
    let name = ProcessInfo.processInfo.environment["FUZZ_PARSER"] ?? ""
    guard let parser = FuzzedParser(rawValue: name) else {
      fatalError("FUZZ_PARSER is '\(name)'; there are \(FuzzedParser.allCases.map(\.rawValue))")
    }
    return (parser, try! seeds.verifier())
  }()

  static func main() throws {
    guard ProcessInfo.processInfo.environment["FUZZ_PARSER"] == nil else {
      var count = CommandLine.argc
      var arguments = CommandLine.unsafeArgv
      exit(runDriver(&count, &arguments, testOneInput))
    }
    try seeds.writeDocuments()
    try seeds.writeLegacyDocuments()
    try seeds.writeRequests()
  }
}

/// libFuzzer's driver, which calls `input` with mutated seeds.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ input: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Called for each input; the main function that libFuzzer brings needs the name.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  Fuzz.setup.parser.read(Array(UnsafeBufferPointer(start: start, count: count)), with: Fuzz.setup.verifier)
  return 0
}
