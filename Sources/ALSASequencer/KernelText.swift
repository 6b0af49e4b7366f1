internal import Glibc

/// A file whose contents the kernel generates when it is read.
enum KernelText {
    /// Its present contents; nil if there is no such file, or it cannot be read.
    static func read(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer[..<count] }
        return ferror(file) == 0 ? String(decoding: text, as: UTF8.self) : nil
    }
}
