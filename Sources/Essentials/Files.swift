internal import Glibc
package import RealTime

/// Files and folders by their paths.
package enum Files {
    /// The user that owns what is at a path, which may be a link; nil if nothing is.
    package static func owner(of path: String) -> UInt32? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_uid : nil
    }

    /// Whether something exists at a path; false for a broken link.
    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    package static func isFolder(_ path: String) -> Bool { kind(of: path) == .folder }

    /// Whether users other than its owner and group may read the file behind a descriptor.
    package static func isReadableByOthers(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IROTH != 0
    }

    /// The kind of a file.
    package enum Kind: Sendable {
        case folder
        /// A character device or a FIFO.
        case byteStream
        /// Most likely an ordinary file.
        case other
    }

    /// The kind of file at a path; nil if there is none, or it may not be examined.
    package static func kind(of path: String) -> Kind? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return switch status.st_mode & S_IFMT {
        case S_IFDIR: .folder
        case S_IFCHR, S_IFIFO: .byteStream
        default: .other
        }
    }

    /// Identifies the file behind a descriptor, as `device:inode`; nil if it is not open.
    package static func identity(of descriptor: Int32) -> String? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? "\(status.st_dev):\(status.st_ino)" : nil
    }

    /// A path to the file behind a descriptor, whatever is at its own path by now.
    package static func path(of descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

    /// The contents of a file.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - most: most bytes to read; the rest is left out.
    /// - Returns: its bytes.
    /// - Throws: when it does not exist, or may not be read.
    package static func bytes(of path: String, atMost most: Int = 16 << 20) throws(SystemCallError) -> [UInt8] {
        let descriptor = try checked("open \(path)") { open(path, O_RDONLY | O_CLOEXEC) }
        defer { close(descriptor) }
        return try bytes(from: descriptor, atMost: most)
    }

    /// The contents of a descriptor until its end.
    package static func bytes(from descriptor: Int32, atMost most: Int) throws(SystemCallError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < most {
            let wanted = min(most - bytes.count, 1 << 16)
            var failure: Int32?
            let piece = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                let result = read(descriptor, buffer.baseAddress, wanted)
                count = max(0, result)
                if result < 0 { failure = errno }
            }
            if failure == EINTR { continue }
            if let failure { throw SystemCallError(operation: "read", code: failure) }
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }

    /// The contents of a text file; nil if it is missing, unreadable or not UTF-8.
    package static func text(of path: String) -> String? {
        (try? bytes(of: path)).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The sorted names in a folder; empty if it may not be read.
    package static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// The target of a symbolic link; nil if there is none.
    package static func link(_ path: String) -> String? {
        let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { max(0, readlink(path, $0.baseAddress!, $0.count)) }
        }
        return target.isEmpty ? nil : String(decoding: target, as: UTF8.self)
    }

    /// The file that a path leads to through links, even if it does not exist yet.
    package static func target(of path: String) -> String {
        if let real = realpath(path, nil) {
            defer { free(real) }
            return String(cString: real)
        }
        guard let target = link(path) else { return path }
        return target.hasPrefix("/") ? target : "\(folder(of: path))/\(target)"
    }

    /// The folder of a path: `/a` for `/a/b`, `.` for a bare name.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        let folder = path[..<slash]
        return folder.isEmpty ? "/" : String(folder)
    }

    /// The last part of a path.
    package static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }
}
