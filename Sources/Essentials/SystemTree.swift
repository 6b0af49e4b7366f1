/// Reads the machine's files, folders and links, such as those in `/proc`.
///
/// All paths are appended to ``root``, so that tests can replace the machine.
package struct SystemTree: Sendable {
    /// Ends in a slash.
    package let root: String

    /// - Parameter root: a folder, with a slash at its end.
    package init(root: String) { self.root = root }

    /// The text of a file, such as `proc/self/limits`; nil if it cannot be read.
    package func text(_ path: String) -> String? {
        (try? Files.bytes(of: root + path)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The text of a one-line file, without white space at its ends; nil if it cannot be read.
    package func line(_ path: String) -> String? {
        text(path).map(\.trimmed)
    }

    /// The sorted names in a folder; empty if it cannot be read.
    package func names(_ path: String) -> [String] { Files.names(in: root + path) }

    package func exists(_ path: String) -> Bool { Files.exists(root + path) }

    /// The target of a symbolic link; nil if there is none.
    package func link(_ path: String) -> String? { Files.link(root + path) }

    /// Whether this system runs in a container of Docker or Podman.
    ///
    /// These engines mark a container with a file. A virtual machine made from a container image has that file too, but
    /// its process 2 is the kernel's `kthreadd`, which a container normally does not see.
    package var isContainer: Bool {
        (exists(".dockerenv") || exists("run/.containerenv")) && line("proc/2/comm") != "kthreadd"
    }
}
