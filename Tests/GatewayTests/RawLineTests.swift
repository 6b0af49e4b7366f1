import Essentials
import Foundation
import Testing

@testable import Gateway

/// Opening lines, on real files.
@Suite
struct RawLineTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "tactus-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    @Test
    func `a FIFO without a reader is refused for now, and opens once it has one`() throws {
        let path = folder.appending(path: "fifo").path()
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: RawLine.OpenError.self) { try RawLine.open(path: path, bitsPerSecond: 31_250, for: .writing) }
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let line = try RawLine.open(path: path, bitsPerSecond: 31_250, for: .writing)
        defer { close(line) }
        #expect(write(line, [0xF8], 1) == 1)
        var byte: UInt8 = 0
        #expect(read(reader, &byte, 1) == 1 && byte == 0xF8)
    }

    @Test
    func `a line that is sent to is locked until it is closed, and says by whom; reading needs no lock`() throws {
        let path = folder.appending(path: "shared").path()
        #expect(mkfifo(path, 0o600) == 0)
        let reader = try RawLine.open(path: path, bitsPerSecond: 31_250, for: .reading)
        defer { close(reader) }
        let first = try RawLine.open(path: path, bitsPerSecond: 31_250, for: .writing)
        let link = folder.appending(path: "link").path()
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        for name in [path, link] {
            let error = #expect(throws: RawLine.OpenError.self) {
                try RawLine.open(path: name, bitsPerSecond: 31_250, for: .writing)
            }
            guard case .locked(let holder) = error else { return #expect(Bool(false), "\(String(describing: error))") }
            #expect(holder?.process == Int(getpid()))
            // It is this very program, and no other run.
            #expect(RawLine.otherRun(sendingTo: name) == nil)
        }
        close(first)
        close(try RawLine.open(path: path, bitsPerSecond: 31_250, for: .writing))
    }

    @Test
    func `a folder and an ordinary file are not lines, and a missing one is absent`() throws {
        let file = folder.appending(path: "file")
        try Data().write(to: file)
        #expect(throws: RawLine.OpenError.notALine(path: file.path())) {
            try RawLine.open(path: file.path(), bitsPerSecond: 31_250, for: .writing)
        }
        #expect(throws: RawLine.OpenError.notALine(path: folder.path())) {
            try RawLine.open(path: folder.path(), bitsPerSecond: 31_250, for: .writing)
        }
        #expect(throws: RawLine.OpenError.self) {
            try RawLine.open(path: folder.appending(path: "none").path(), bitsPerSecond: 31_250, for: .writing)
        }
    }
}
