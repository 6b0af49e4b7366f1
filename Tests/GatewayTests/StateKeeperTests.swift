import Foundation
import GatewayStatus
import Logging
import Synchronization
import Testing

@testable import Gateway

/// What the next run finds on a real disk.
@Suite
struct StateKeeperTests {
    private let parent = URL.temporaryDirectory.appending(path: "tactus-\(UUID().uuidString)").path()
    private var directory: String { "\(parent)/state" }
    private let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private var state: KeptState {
        var state = KeptState()
        (state.link, state.tempo) = (false, 97.3)
        return state
    }

    private func keeper() throws -> StateKeeper { try StateKeeper(directory: directory, log: log) }

    private func removeAll() { try? FileManager.default.removeItem(atPath: parent) }

    private func put(_ contents: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data(contents.utf8).write(to: URL(filePath: "\(directory)/state.json"))
    }

    @Test
    func `the final state is found by the next run, and no other files remain`() throws {
        defer { removeAll() }
        let first = try keeper()
        #expect(first.found == KeptState())
        first.keep(state, .drift)
        first.close()
        let second = try keeper()
        second.close()
        #expect(second.found == state)
        #expect(second.notices.isEmpty)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == ["state.json", "state.lock"])
    }

    @Test
    func `a second run beside the first begins with its settings, and neither stops its machines nor saves anything`()
        throws
    {
        defer { removeAll() }
        var playing = state
        (playing.playing, playing.isInSong) = (["drums"], true)
        let first = try keeper()
        first.keep(playing, .setting)
        first.close()
        let running = try keeper()
        #expect(running.found == playing)
        let second = try keeper()
        #expect(second.found == state)
        #expect(second.notices.map(\.code) == ["state-not-kept"])
        #expect(second.notices.first?.message.hasSuffix("(pid \(getpid())) keeps its own in \(directory)") == true)
        second.keep(KeptState(), .setting)
        second.close()
        running.close()
        let third = try keeper()
        third.close()
        #expect(third.found == playing)
    }

    @Test
    func `of many changes the newest is saved`() throws {
        defer { removeAll() }
        let first = try keeper()
        for tempo in 60...260 {
            var state = state
            state.tempo = Double(tempo)
            first.keep(state, .setting)
        }
        first.close()
        let second = try keeper()
        second.close()
        #expect(second.found.tempo == 260)
    }

    @Test(arguments: ["", "{\"version\":1,\"link\":7}", "{\"version\":9,\"link\":true}"])
    func `every unreadable file is renamed to an unused name, with a warning`(
        contents: String
    ) throws {
        defer { removeAll() }
        for number in 1...2 {
            try put(contents)
            let keeper = try keeper()
            #expect(keeper.found == KeptState())
            #expect(keeper.notices.map(\.code) == ["state-unreadable"])
            keeper.keep(state, .setting)
            keeper.close()
            let aside = "\(directory)/state.json.unreadable-\(number)"
            #expect(try String(contentsOfFile: aside, encoding: .utf8) == contents)
            let next = try self.keeper()
            next.close()
            #expect(next.found == state)
        }
    }

    @Test
    func `a folder or a pipe at the file's path is renamed`() throws {
        defer { removeAll() }
        try FileManager.default.createDirectory(
            atPath: "\(directory)/state.json/inside", withIntermediateDirectories: true)
        let first = try keeper()
        first.keep(state, .setting)
        first.close()
        #expect(FileManager.default.fileExists(atPath: "\(directory)/state.json.unreadable-1/inside"))
        try FileManager.default.removeItem(atPath: "\(directory)/state.json")
        #expect(mkfifo("\(directory)/state.json", 0o600) == 0)
        let second = try keeper()
        #expect(second.notices.map(\.code) == ["state-unreadable"])
        #expect(FileManager.default.fileExists(atPath: "\(directory)/state.json.unreadable-2"))
        second.keep(state, .setting)
        second.close()
        let third = try keeper()
        third.close()
        #expect(third.found == state)
    }

    @Test
    func `a pipe or a link in place of the new file is neither waited for nor followed`() throws {
        defer { removeAll() }
        try put("{\"version\":1}")
        let (draft, foreign) = ("\(directory)/state.json.new", "\(parent)/foreign")
        try Data("foreign".utf8).write(to: URL(filePath: foreign))
        for make in [{ mkfifo(draft, 0o600) }, { symlink(foreign, draft) }] {
            try #require(make() == 0)
            let keeper = try keeper()
            keeper.keep(state, .setting)
            keeper.close()
            #expect(keeper.notices.isEmpty)
            let files = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(files.sorted() == ["state.json", "state.lock"])
        }
        #expect(try String(contentsOfFile: foreign, encoding: .utf8) == "foreign")
        let next = try keeper()
        next.close()
        #expect(next.found == state)
    }

    @Test
    func `a link in place of the file is set aside, not followed`() throws {
        defer { removeAll() }
        try put("{\"version\":1,\"tempo\":97.3}")
        let file = "\(directory)/state.json"
        try FileManager.default.moveItem(atPath: file, toPath: "\(parent)/foreign")
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "\(parent)/foreign")
        let keeper = try keeper()
        keeper.close()
        #expect(keeper.found == KeptState())
        #expect(keeper.notices.map(\.code) == ["state-unreadable"])
    }

    @Test(.timeLimit(.minutes(1)))
    func `a disk that hangs does not hold up the end, and a warning says so`() throws {
        let (disk, answers) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let keeper = try StateKeeper(directory: directory, log: log) { _, _ in
            disk.signal()
            answers.wait()
        }
        keeper.keep(state, .setting)
        disk.wait()
        #expect(keeper.notices.isEmpty)
        keeper.close()
        let warning = try #require(keeper.notices.first)
        #expect(warning.code == "state-not-kept")
        #expect(warning.message.hasSuffix("the disk does not answer"))
        answers.signal()
    }

    @Test(.timeLimit(.minutes(1)))
    func `that a device begins to play is not delayed like what changes by itself`() throws {
        let written = Mutex<[[String]]>([])
        let writes = DispatchSemaphore(value: 0)
        let keeper = try StateKeeper(directory: directory, log: log) { _, contents in
            written.withLock { $0.append((try? KeptState(json: contents))?.playing ?? []) }
            writes.signal()
        }
        keeper.keep(state, .setting)
        writes.wait()
        var playing = state
        playing.playing = ["drums"]
        keeper.keep(playing, .drift)
        writes.wait()
        #expect(written.withLock(\.self) == [[], ["drums"]])
        keeper.close()
    }

    @Test(.timeLimit(.minutes(1)))
    func `that a device plays again while the disk is slow to take its Stop is written right after that`() throws {
        defer { removeAll() }
        var playing = state
        playing.playing = ["drums"]
        let first = try keeper()
        first.keep(playing, .setting)
        first.close()
        let written = Mutex<[[String]]>([])
        let (writes, answers) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let second = try StateKeeper(directory: directory, log: log) { _, contents in
            written.withLock { $0.append((try? KeptState(json: contents))?.playing ?? []) }
            writes.signal()
            answers.wait()
        }
        second.keep(state, .setting)
        writes.wait()
        second.keep(playing, .drift)
        answers.signal()
        writes.wait()
        answers.signal()
        #expect(written.withLock(\.self) == [[], ["drums"]])
        second.close()
    }

    @Test(arguments: ["/proc/tactus", "/dev/null/tactus", nil])
    func `if nothing can be saved, a warning says why`(directory: String?) throws {
        let keeper = try StateKeeper(directory: directory, log: log)
        keeper.keep(state, .setting)
        keeper.close()
        let warning = try #require(keeper.notices.first)
        #expect(warning.code == "state-not-kept")
        #expect(warning.message.contains(directory == nil ? "no home" : "mkdir /"))
    }
}
