internal import Foundation
internal import RealTime

/// What the user has switched; nil where never.
public struct Switches: Codable, Hashable, Sendable {
    public var link: Bool?
    public var startStopSync: Bool?

    public init(link: Bool? = nil, startStopSync: Bool? = nil) {
        self.link = link
        self.startStopSync = startStopSync
    }
}

/// Keeps the user's switches in a file, across runs and power cuts.
///
/// The file is whole at any moment: a new version is written beside it, forced to the disk, and then takes its name.
public actor SwitchKeeper {
    /// Why switches are not kept, or not known, as a clause.
    public struct Trouble: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String

        init(description: String) { self.description = description }
    }

    private let directory: String
    private var switches = Switches()
    /// The newest command known of each switch, by the order they were carried out.
    private var newest = (link: UInt64(0), startStopSync: UInt64(0))

    /// - Parameter directory: is made when there is something to keep.
    public init(directory: String) { self.directory = directory }

    private var path: String { "\(directory)/switches.json" }

    /// Reads what earlier runs kept.
    ///
    /// - Returns: nothing switched, where there was no run yet.
    /// - Throws: when a file is there and says nothing; the next change replaces it.
    public func load() throws(Trouble) -> Switches {
        do {
            switches = try JSONDecoder().decode(Switches.self, from: Data(contentsOf: URL(filePath: path)))
        } catch CocoaError.fileReadNoSuchFile {
        } catch is DecodingError {
            throw Trouble(description: "\(path) holds no switches")
        } catch {
            throw Trouble(description: "\(path) cannot be read")
        }
        return switches
    }

    /// Keeps what a command has switched; one that switches nothing is nothing to keep.
    ///
    /// - Parameters:
    ///   - command: one that has been carried out.
    ///   - order: rises with every command; what comes here late does not undo what was switched since.
    /// - Throws: when the disk does not take it.
    func note(_ command: Command, order: UInt64) throws(Trouble) {
        var changed = switches
        switch command {
        case .enableLink(let isEnabled) where order > newest.link:
            (changed.link, newest.link) = (isEnabled, order)
        case .enableStartStopSync(let isEnabled) where order > newest.startStopSync:
            (changed.startStopSync, newest.startStopSync) = (isEnabled, order)
        default: return
        }
        switches = changed
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try replaceFile(with: JSONEncoder().encode(changed))
        } catch let error as SystemCallError {
            throw Trouble(description: error.description)
        } catch {
            throw Trouble(description: "\(directory) cannot be made")
        }
    }

    private func replaceFile(with contents: Data) throws(SystemCallError) {
        let draft = "\(path).new"
        let file = try checked("open \(draft)") { open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
        defer { close(file) }
        let written = contents.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        guard written == contents.count else {
            throw SystemCallError(operation: "write \(draft)", code: written < 0 ? errno : ENOSPC)
        }
        try checked("fsync \(draft)") { fsync(file) }
        try checked("rename \(draft)") { rename(draft, path) }
        // The new name, too, must be on the disk.
        let folder = try checked("open \(directory)") { open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(folder) }
        try checked("fsync \(directory)") { fsync(folder) }
    }
}
