internal import Foundation

/// A system made of files, in a folder that lasts as long as this.
package final class FileTree {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "tactus-tree-\(UUID())")

    package init() {}

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The folder's path, which ends with a slash.
    package var root: String { folder.path() + "/" }

    /// Writes a file, and makes the folders that it needs.
    package func write(_ path: String, _ text: String) throws {
        try text.write(to: try place(path), atomically: false, encoding: .utf8)
    }

    /// Makes a symbolic link, and the folders that it needs.
    package func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: try place(path).path(), withDestinationPath: target)
    }

    private func place(_ path: String) throws -> URL {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        return file
    }
}
