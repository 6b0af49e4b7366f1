internal import Essentials

/// The system's information files, below a root.
struct SystemTree {
    let root: String

    /// The text of a file, such as `proc/self/limits`; nil if it cannot be read.
    func text(_ path: String) -> String? {
        (try? Files.bytes(of: root + path)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The text of a file of one line.
    func line(_ path: String) -> String? {
        text(path).map(\.trimmed)
    }

    /// The sorted names in a folder; empty if it cannot be read.
    func names(_ path: String) -> [String] { Files.names(in: root + path) }

    func exists(_ path: String) -> Bool { Files.exists(root + path) }

    /// The target of a symbolic link.
    func link(_ path: String) -> String? { Files.link(root + path) }

    /// Whether this system runs in a container, as far as container engines mark it.
    ///
    /// A virtual machine may be made from a container's files; its second process belongs to the kernel.
    var isContainer: Bool {
        (exists(".dockerenv") || exists("run/.containerenv")) && line("proc/2/comm") != "kthreadd"
    }
}
