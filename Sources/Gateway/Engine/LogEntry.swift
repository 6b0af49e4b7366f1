internal import BeatTime
internal import CardOutput
internal import ConfigurationFiles
internal import LinkNetwork
internal import LinkSession
internal import Logging

/// A line for the log: a constant text, and metadata.
struct LogEntry: Sendable {
    var level: Logger.Level
    var text: Logger.Message
    var metadata: Logger.Metadata

    init(_ level: Logger.Level, _ text: Logger.Message, _ metadata: Logger.Metadata = [:]) {
        self.level = level
        self.text = text
        self.metadata = metadata
    }

    /// Something that the user should know.
    init(_ notice: Notice) {
        let (message, fix) = notice.text
        self.init(.warning, "\(message)", ["fix": "\(fix)"])
    }

    /// What has become of the bus on which sound cards are reserved.
    init(_ news: BusNews) {
        switch news {
        case .absent(let error):
            self.init(.info, "no sound server can be asked for sound cards", ["error": "\(error)"])
        case .lost(let error):
            self.init(.warning, "sound servers cannot be asked for sound cards any more", ["error": "\(error)"])
        case .back: self.init(.notice, "sound servers can be asked for sound cards now")
        }
    }
}

extension Logger {
    func write(_ entry: LogEntry) { log(level: entry.level, entry.text, metadata: entry.metadata) }
}

extension LinkState {
    /// The changes of the session to log, which anybody can cause who is on the network or gives commands.
    ///
    /// - Parameter old: the state before.
    /// - Returns: a line for each change.
    func sessionChanges(since old: LinkState) -> [LogEntry] {
        var entries: [LogEntry] = []
        if old.isEnabled != isEnabled { entries.append(.init(.notice, isEnabled ? "Link enabled" : "Link disabled")) }
        if old.peerCount != peerCount { entries.append(.init(.info, "peers changed", ["count": "\(peerCount)"])) }
        if old.peerCount == 0, peerCount > 0, old.sessionID == sessionID {
            entries.append(.init(.notice, "a first peer joined"))
        }
        if old.peerCount > 0, peerCount == 0 {
            entries.append(hasLostPeers ? LogEntry(.peersLost) : .init(.notice, "no peers left, going on alone"))
        }
        if let unreachable, unreachable != old.unreachable { entries.append(LogEntry(.unreachablePeer(unreachable))) }
        return entries
    }

    /// The other changes to log.
    ///
    /// - Parameter old: the state before.
    /// - Returns: a line for each change.
    func changes(since old: LinkState) -> [LogEntry] {
        var entries: [LogEntry] = []
        for failure in failures where !old.failures.contains(failure) {
            entries.append(.init(.warning, "Link cannot use a network interface", ["error": "\(failure)"]))
        }
        if !leftOut.isEmpty, old.leftOut.isEmpty { entries.append(LogEntry(.leftOutAddresses(leftOut))) }
        if let crowdingAddress, old.crowdingAddress == nil {
            entries.append(
                .init(.warning, "more Link peers are announced than can be real", ["address": "\(crowdingAddress)"]))
        }
        if let extremeNumbersAddress, old.extremeNumbersAddress == nil {
            entries.append(
                .init(
                    .warning, "a Link peer announces numbers that no program comes to by itself",
                    ["address": "\(extremeNumbersAddress)"]))
        }
        return entries
    }
}

extension Output {
    /// The changes of the output to log.
    ///
    /// - Parameter old: the output before; nil if it is new in its slot.
    /// - Returns: a line for each change.
    func changes(since old: Output?) -> [LogEntry] {
        let output: Logger.Metadata = ["output": "\(name)"]
        guard presence == .here else {
            return old?.presence == .here ? [.init(.info, "output removed", output)] : []
        }
        var entries: [LogEntry] = []
        if old == nil { entries.append(.init(.info, "output added", output)) }
        if let place = connectedTo, place != old?.connectedTo {
            var metadata = output.merging(["port": "\(place)"]) { $1 }
            if let profile { metadata["profile"] = "\(profile.id)" }
            entries.append(.init(.info, "output connected", metadata))
        } else if let place = old?.connectedTo, connectedTo == nil {
            let metadata = output.merging(["port": "\(place)"]) { $1 }
            let isLost = hasLostDevice && isEnabled
            let text: Logger.Message = isLost ? isMachine ? "device unplugged" : "device gone" : "output away"
            entries.append(.init(isLost ? .warning : .info, text, metadata))
        }
        if isStuck != (old?.isStuck ?? false) {
            let text: Logger.Message = isStuck ? "device accepts nothing" : "device accepts messages again"
            entries.append(.init(.warning, text, output))
        }
        // Logged once while it lasts: the wording may change whenever a port gets another name.
        if let trouble, old?.trouble == nil {
            let details: Logger.Metadata = ["error": "\(trouble.reason)", "fix": "\(trouble.fix)"]
            entries.append(.init(.warning, "output away", output.merging(details) { $1 }))
        }
        return entries
    }
}
