import ALSASequencer
import Gateway

/// A sequencer client that receives from other ports, and a second one that subscribes it to them.
struct ListeningClient {
    let input: SequencerInput
    let control: SequencerControl

    /// Opens both clients.
    ///
    /// - Parameters:
    ///   - name: as other programs list the client.
    ///   - portName: as they list its port.
    /// - Throws: when there is no sequencer, or no permission to use it.
    init(name: String, portName: String) throws(Failure) {
        (input, control) = try openSequencer { () throws(ALSAError) in
            (try SequencerInput(name: name, portName: portName), try SequencerControl(name: "\(name) Control"))
        }
    }

    /// Finds a port that sends, as users name it.
    ///
    /// - Parameters:
    ///   - name: its number, or a name that only it has.
    ///   - ports: all ports.
    /// - Returns: the port.
    /// - Throws: when there is none, or several.
    static func sender(_ name: String, among ports: [PortDescription]) throws(Failure) -> PortDescription {
        // The gateway's outputs have the names of the devices they drive, but the user means the device.
        let senders = ports.filter { $0.isReadable && $0.isUsable }
        let others = senders.filter { $0.clientName != "Tactus" }
        do throws(UnclearName) {
            return try NameMatch.resolve(
                name, among: NameMatch(name, among: others) == .none ? senders : others, called: "sending port")
        } catch {
            throw Failure(.unavailable, error.description)
        }
    }

    /// Subscribes the input to a port.
    func hear(_ port: PortAddress) throws(Failure) {
        do {
            try control.subscribe(input.address, to: port)
        } catch {
            throw Failure(.system, "\(error)")
        }
    }
}
