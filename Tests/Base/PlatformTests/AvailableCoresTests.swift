import Foundation
import Testing

@testable import Platform

@Suite struct AvailableCoresTests {
  @Test(
    "The CPU quota of a control group and of those around it limits the cores, rounded up",
    arguments: [
      ("/cpu.max", "max 100000", nil), ("/cpu.max", "150000 100000", 2), ("/cpu.max", "200000 100000", 2),
      ("/cpu.max", "1000 100000", 1), ("/cpu.max", "", nil), ("/pod/cpu.max", "50000 100000", 1),
      ("/pod/app/cpu.max", "300000 100000", 3), ("/other/cpu.max", "50000 100000", nil),
    ] as [(String, String, Int?)])
  func quota(_ file: String, _ text: String, _ cores: Int?) throws {
    try withFiles([file: text]) { root in
      #expect(ControlGroup(root: root, membership: "0::/pod/app").coreLimit == cores)
    }
  }

  @Test("The lowest of several quotas counts")
  func lowestQuota() throws {
    let files = ["/cpu.max": "max 100000", "/a/cpu.max": "200000 100000", "/a/b/cpu.max": "400000 100000"]
    try withFiles(files) { root in
      #expect(ControlGroup(root: root, membership: "0::/a/b").coreLimit == 2)
      #expect(ControlGroup(root: root, membership: "0::/").coreLimit == nil)
    }
  }

  @Test("The quota of version 1 counts too", arguments: [("250000", 3), ("-1", nil)] as [(String, Int?)])
  func firstVersion(_ quota: String, _ cores: Int?) throws {
    let files = ["/cpu/cpu.cfs_quota_us": quota, "/cpu/cpu.cfs_period_us": "100000"]
    try withFiles(files) { root in
      #expect(ControlGroup(root: root, membership: "5:cpu:/a").coreLimit == cores)
    }
  }

  @Test("The memory limit is that of the own group, or otherwise of the root")
  func memory() throws {
    try withFiles(["/a/memory.max": "1000", "/memory.max": "max"]) { root in
      #expect(ControlGroup(root: root, membership: "0::/a").memoryLimit == 1000)
      #expect(ControlGroup(root: root, membership: "0::/").memoryLimit == nil)
    }
  }

  @Test(
    "The number is the lower one of affinity and quota, and at least 1",
    arguments: [(8, nil, 8), (8, 2, 2), (2, 8, 2), (1, 1, 1), (8, 0, 1)] as [(Int, Int?, Int)])
  func combined(_ affinity: Int, _ limit: Int?, _ count: Int) {
    #expect(AvailableCores.combined(affinity: affinity, limit: limit) == count)
  }

  /// Runs `body` with a folder that has these files.
  private func withFiles(_ files: [String: String], _ body: (_ root: String) throws -> Void) throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "cgroup-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: root) }
    for (path, text) in files {
      let folder = (root + path as NSString).deletingLastPathComponent
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try "\(text)\n".write(toFile: root + path, atomically: false, encoding: .utf8)
    }
    try body(root)
  }
}
