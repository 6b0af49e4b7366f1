import ConfigurationFiles
import Glibc
import Testing

/// A temporary folder, deleted with this object, with functions to read and write files.
final class Folder {
    let root: String

    /// The checkout that contains the tests.
    static let project = String(#filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" })

    init() throws {
        var template = Array("/tmp/profiles-XXXXXX".utf8CString)
        root = String(cString: try #require(mkdtemp(&template)))
    }

    deinit {
        func clear(_ path: String) {
            // A file or a link is deleted directly, a folder once it is empty.
            guard remove(path) != 0 else { return }
            for name in (try? Self.allNames(in: path)) ?? [] { clear("\(path)/\(name)") }
            remove(path)
        }
        clear(root)
    }

    /// Writes a file, in a subfolder if its name says so.
    func write(_ name: String, _ text: String) throws {
        if let slash = name.lastIndex(of: "/") { mkdir("\(root)/\(name[..<slash])", 0o755) }
        let file = try #require(fopen("\(root)/\(name)", "w"))
        defer { fclose(file) }
        #expect(fwrite(Array(text.utf8), 1, text.utf8.count, file) == text.utf8.count)
    }

    /// A library that reads the subfolders, or files.
    func library(_ names: String...) -> ProfileLibrary { ProfileLibrary(folders: names.map { "\(root)/\($0)" }) }

    static func read(_ path: String) throws -> String {
        let file = try #require(fopen(path, "r"), "\(path)")
        defer { fclose(file) }
        var text = [UInt8](repeating: 0, count: 1 << 20)
        text.removeLast(text.count - fread(&text, 1, text.count, file))
        return String(decoding: text, as: UTF8.self)
    }

    /// The sorted names of the files in a folder, without hidden ones.
    static func names(in path: String) throws -> [String] {
        try allNames(in: path).filter { !$0.hasPrefix(".") }.sorted()
    }

    private static func allNames(in path: String) throws -> [String] {
        let folder = try #require(opendir(path), "\(path)")
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let start = try #require(entry.pointer(to: \.d_name))
            names.append(String(cString: UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)))
        }
        return names.filter { $0 != "." && $0 != ".." }
    }
}
