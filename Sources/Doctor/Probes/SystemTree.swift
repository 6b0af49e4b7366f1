internal import Essentials

/// The files in which the system tells about itself, below some root.
struct SystemTree {
    let root: String

    /// The text of a file, such as `proc/self/limits`; nil if it is not there or may not be read.
    func text(_ path: String) -> String? {
        (try? Files.bytes(of: root + path)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The text of a file of one line.
    func line(_ path: String) -> String? {
        text(path).map(\.trimmed)
    }

    /// The names in a folder, sorted; none if it may not be read.
    func names(_ path: String) -> [String] { Files.names(in: root + path) }

    func exists(_ path: String) -> Bool { Files.exists(root + path) }

    /// What a symbolic link says.
    func link(_ path: String) -> String? { Files.link(root + path) }

    /// Whether this system runs in a container, as far as container engines tell.
    ///
    /// A virtual machine may have been made from a container's files; its second process is the kernel's own.
    var isContainer: Bool {
        (exists(".dockerenv") || exists("run/.containerenv")) && line("proc/2/comm") != "kthreadd"
    }
}
