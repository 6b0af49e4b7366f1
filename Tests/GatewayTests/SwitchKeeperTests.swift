import Foundation
import Testing

@testable import Gateway

/// What the next run finds of the user's switches.
@Suite
struct SwitchKeeperTests {
    private let directory = URL.temporaryDirectory.appending(path: "tactus-\(UUID().uuidString)/state").path()

    @Test
    func `a switch is found again by the next run, and the others are as they were`() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let first = SwitchKeeper(directory: directory)
        #expect(try await first.load() == Switches())
        try await first.note(.enableLink(false), order: 1)
        try await first.note(.enableStartStopSync(true), order: 2)
        try await first.note(.setPlaying(true), order: 3)
        #expect(try await SwitchKeeper(directory: directory).load() == Switches(link: false, startStopSync: true))
        let second = SwitchKeeper(directory: directory)
        _ = try await second.load()
        try await second.note(.enableLink(true), order: 4)
        #expect(try await SwitchKeeper(directory: directory).load() == Switches(link: true, startStopSync: true))
    }

    @Test(arguments: ["", "{", "[]", "{\"link\":7}", "\u{0}\u{0}\u{0}"])
    func `a broken file is named, and replaced by the next switch`(contents: String) async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data(contents.utf8).write(to: URL(filePath: "\(directory)/switches.json"))
        let keeper = SwitchKeeper(directory: directory)
        await #expect(throws: SwitchKeeper.Trouble(description: "\(directory)/switches.json holds no switches")) {
            try await keeper.load()
        }
        try await keeper.note(.enableLink(false), order: 5)
        #expect(try await SwitchKeeper(directory: directory).load() == Switches(link: false))
    }

    @Test
    func `a place that takes no file is named`() async throws {
        let keeper = SwitchKeeper(directory: "/proc/tactus")
        await #expect(throws: SwitchKeeper.Trouble(description: "/proc/tactus cannot be made")) {
            try await keeper.note(.enableLink(true), order: 6)
        }
    }

    @Test
    func `what comes late does not undo what was switched since`() async throws {
        let keeper = SwitchKeeper(directory: directory)
        try await keeper.note(.enableLink(false), order: 2)
        try await keeper.note(.enableLink(true), order: 1)
        try await keeper.note(.enableStartStopSync(true), order: 3)
        #expect(try await SwitchKeeper(directory: directory).load() == Switches(link: false, startStopSync: true))
    }
}
