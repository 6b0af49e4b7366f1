/// What systemd knows of a service that runs Tactus.
struct ServiceFacts {
    /// Whether systemd runs this system.
    var hasSystemd = false
    /// The unit of the system's own service, and what overrides it; nil if there is none.
    var systemUnit: Unit?
    /// Where the unit of a user's service lies.
    var userUnit: String?

    /// What a unit allows its service.
    struct Unit: Hashable {
        /// The file's place.
        var path: String
        /// Nil if it says nothing.
        var realTimePriority: String?
    }
}

extension ServiceFacts.Unit {
    /// Reads a unit's file and those that override it; the last word counts.
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
