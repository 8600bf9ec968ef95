internal import Foundation
internal import SignedData

// What libFuzzer calls. The parser is named by FUZZ_PARSER, the folder of the seeds by FUZZ_FOLDER; without a
// parser the seeds are written.

private let seeds = Seeds(folder: URL(filePath: ProcessInfo.processInfo.environment["FUZZ_FOLDER"] ?? "."))

private let setup: (parser: FuzzedParser, verifier: SignedDataVerifier) = {
  let name = ProcessInfo.processInfo.environment["FUZZ_PARSER"] ?? ""
  guard let parser = FuzzedParser(rawValue: name) else {
    fatalError("FUZZ_PARSER is '\(name)'; there are \(FuzzedParser.allCases.map(\.rawValue))")
  }
  return (parser, try! seeds.verifier())
}()

/// Called once, before anything else.
@_cdecl("LLVMFuzzerInitialize")
func initialize(_: UnsafeMutablePointer<CInt>, _: UnsafeMutableRawPointer) -> CInt {
  guard ProcessInfo.processInfo.environment["FUZZ_PARSER"] == nil else { return 0 }
  Task {
    try! await seeds.write()
    try! seeds.writeRequests()
    exit(0)
  }
  dispatchMain()
}

/// Called with one input after the other.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  setup.parser.read(Array(UnsafeBufferPointer(start: start, count: count)), with: setup.verifier)
  return 0
}
