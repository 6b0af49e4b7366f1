/// Facts from systemd about a service that runs Tactus.
struct ServiceFacts {
    /// Whether systemd runs this system.
    var hasSystemd = false
    /// The unit of a system service with its overrides; nil if there is none.
    var systemUnit: Unit?
    /// Path of the unit of a user service.
    var userUnit: String?

    /// The limits that a unit sets.
    struct Unit: Hashable {
        /// Path of its file.
        var path: String
        /// Nil if not set.
        var realTimePriority: String?
    }
}

extension ServiceFacts.Unit {
    /// Reads a unit's file and its overrides; the last one counts.
    init(path: String, texts: [String]) {
        self.path = path
        for line in texts.flatMap({ $0.split(separator: "\n") }) {
            let sides = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, sides[0].split(separator: " ").joined() == "LimitRTPRIO" else { continue }
            let value = sides[1].split(separator: " ").joined()
            realTimePriority = value.isEmpty ? nil : value
        }
    }
}
