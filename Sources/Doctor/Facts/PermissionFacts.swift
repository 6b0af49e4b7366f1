/// The user's permissions.
struct PermissionFacts {
    /// Whether and how a thread of this process got real-time priority; nil if no thread could be made to try it.
    var realTime: RealTime? = .byLimits
    /// Whether it allowed this process to lock memory.
    var isMemoryLockGranted = true
    var user = User()
    var limits = Limits()
    /// Limits that the system's files grant at login.
    var grants: [LimitGrant] = []
    var isContainer = false

    /// How a thread of this process got real-time priority.
    enum RealTime: Hashable {
        /// The kernel gave it priority 80.
        case byLimits
        /// The kernel refused, and rtkit granted a lower priority.
        case byRealTimeKit(priority: Int)
        /// Both refused; what rtkit said, or why it could not be asked.
        case refused(String)

        var isGranted: Bool { if case .refused = self { false } else { true } }
    }

    /// The user of this process, and its groups.
    struct User: Hashable {
        var name = ""
        var isRoot = false
        /// The user who called sudo, if any.
        var caller: String?
        var isInAudio = false
        /// Whether the user is listed in the group; that takes effect at the next login.
        var isListedInAudio = false
        var hasAudioGroup = true
    }

    /// Hard limits of this process; nil means no limit.
    struct Limits: Hashable {
        /// The highest real-time priority.
        var realTimePriority: Int? = 0
        /// In bytes.
        var lockedMemory: Int? = 0
    }
}

extension PermissionFacts.Limits {
    /// Reads `/proc/self/limits`; missing limits count as zero.
    init(_ text: String) {
        for line in text.split(separator: "\n") {
            // The soft limit, then the hard one.
            if line.hasPrefix("Max realtime priority") { realTimePriority = Self.hard(line) }
            if line.hasPrefix("Max locked memory") { lockedMemory = Self.hard(line) }
        }
    }

    private static func hard(_ line: Substring) -> Int? {
        let values = line.split(separator: " ").dropFirst(3)
        guard let value = values.dropFirst().first else { return 0 }
        return value == "unlimited" ? nil : Int(value) ?? 0
    }
}

extension PermissionFacts.User {
    /// Determines the user of this process.
    ///
    /// - Parameters:
    ///   - status: the text of `/proc/self/status`.
    ///   - passwords: the text of `/etc/passwd`.
    ///   - groups: the text of `/etc/group`.
    ///   - caller: the user who called sudo.
    init(status: String, passwords: String, groups: String, caller: String?) {
        func numbers(_ key: String) -> [String] {
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(key):") }
            return line?.dropFirst(key.count + 1).split(whereSeparator: \.isWhitespace).map(String.init) ?? []
        }
        // Real, effective, saved and file system IDs.
        let id = numbers("Uid").dropFirst().first ?? ""
        let user = Self.rows(passwords).first { $0.count > 3 && $0[2] == id }
        let audio = Self.rows(groups).first { $0.count > 3 && $0[0] == "audio" }
        name = user?[0] ?? ""
        isRoot = id == "0"
        self.caller = caller
        hasAudioGroup = audio != nil
        isInAudio = audio.map { (numbers("Gid") + numbers("Groups")).contains($0[2]) } ?? false
        isListedInAudio =
            audio.map { $0[3].split(separator: ",").contains(Substring(name)) || user?[3] == $0[2] } ?? false
    }

    private static func rows(_ text: String) -> [[String]] {
        text.split(separator: "\n").map {
            $0.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        }
    }
}

/// A line that raises a limit, from `/etc/security/limits.conf` or the files beside it.
struct LimitGrant: Hashable {
    /// A user, a group after an `@`, or `*` for all.
    var domain: String
    /// `rtprio`, `memlock` and others.
    var item: String
    /// Nil means no limit.
    var value: Int?

    /// Reads all such lines of a file.
    static func list(_ text: String) -> [LimitGrant] {
        text.split(separator: "\n").compactMap { line in
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map(String.init)
            // A soft limit alone grants nothing.
            guard words.count == 4, words[1] == "-" || words[1] == "hard" else { return nil }
            let isWithoutLimit = ["unlimited", "infinity", "-1"].contains(words[3])
            guard isWithoutLimit || Int(words[3]) != nil else { return nil }
            return LimitGrant(domain: words[0], item: words[2], value: Int(words[3]).flatMap { $0 < 0 ? nil : $0 })
        }
    }
}
