internal import ConfigurationFiles
internal import GatewayStatus
internal import Logging

extension Logger {
    /// Writes down what the user should know.
    func note(_ warning: Status.Warning) { self.warning("\(warning.message)", metadata: ["fix": "\(warning.fix)"]) }

    /// Writes down what has become of an output.
    ///
    /// - Parameters:
    ///   - old: what it was; nil if it is new in its slot.
    ///   - new: what it is.
    func noteChange(from old: Output?, to new: Output) {
        let output: Logger.Metadata = ["output": "\(new.name)"]
        guard new.presence == .here else {
            if old?.presence == .here { info("output no longer wanted", metadata: output) }
            return
        }
        if old == nil { info("output made", metadata: output) }
        if let place = new.connectedTo, place != old?.connectedTo {
            let profile: Logger.Metadata = new.profile.map { ["profile": "\($0.id)"] } ?? [:]
            info("output connected", metadata: output.merging(["port": "\(place)"]) { $1 }.merging(profile) { $1 })
        } else if let place = old?.connectedTo, new.connectedTo == nil {
            let metadata = output.merging(["port": "\(place)"]) { $1 }
            if new.hasLostDevice, new.isEnabled {
                warning(new.isMachine ? "device unplugged" : "device gone", metadata: metadata)
            } else {
                info("output away", metadata: metadata)
            }
        }
        if new.isStuck != (old?.isStuck ?? false) {
            warning(new.isStuck ? "device takes nothing" : "device takes again", metadata: output)
        }
        // Once for as long as it lasts: how trouble is worded may change with every name that somebody gives a port.
        if let trouble = new.trouble, old?.trouble == nil {
            warning("output away", metadata: output.merging(["error": "\(trouble)"]) { $1 })
        }
    }
}
