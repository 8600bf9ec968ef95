internal import Foundation
internal import SignedData

// Entry points for libFuzzer. FUZZ_PARSER selects the parser, FUZZ_FOLDER the folder of the seeds, FUZZ_KIT that of the
// conformance kit; without a parser the program writes the seeds.

private let seeds = Seeds(
  folder: URL(filePath: ProcessInfo.processInfo.environment["FUZZ_FOLDER"] ?? "."),
  kit: URL(filePath: ProcessInfo.processInfo.environment["FUZZ_KIT"] ?? "conformance"))

private let setup: (parser: FuzzedParser, verifier: SignedDataVerifier) = {
  let name = ProcessInfo.processInfo.environment["FUZZ_PARSER"] ?? ""
  guard let parser = FuzzedParser(rawValue: name) else {
    fatalError("FUZZ_PARSER is '\(name)'; there are \(FuzzedParser.allCases.map(\.rawValue))")
  }
  return (parser, try! seeds.verifier())
}()

/// Called once at the start.
@_cdecl("LLVMFuzzerInitialize")
func initialize(_: UnsafeMutablePointer<CInt>, _: UnsafeMutableRawPointer) -> CInt {
  guard ProcessInfo.processInfo.environment["FUZZ_PARSER"] == nil else { return 0 }
  try! seeds.writeDocuments()
  try! seeds.writeLegacyDocuments()
  try! seeds.writeRequests()
  exit(0)
}

/// Called for each input.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  setup.parser.read(Array(UnsafeBufferPointer(start: start, count: count)), with: setup.verifier)
  return 0
}
