import ALSASequencer

/// A sequencer client that hears other ports, and the one that subscribes it to them.
struct ListeningClient {
    let input: SequencerInput
    let control: SequencerControl

    /// Opens both.
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
    ///   - ports: all there are.
    /// - Returns: the port.
    /// - Throws: when there is none, or several.
    static func sender(_ name: String, among ports: [PortDescription]) throws(Failure) -> PortDescription {
        if case .address(let address) = PortAddress.read(name) {
            guard let port = ports.first(where: { $0.address == address && $0.isReadable }) else {
                throw Failure(.unavailable, "no port \(name) sends; 'tactus ports' lists those that do")
            }
            return port
        }
        // The gateway's outputs are named like the devices they drive, and the device is meant.
        let senders = ports.filter(\.isReadable)
        let others = PortMatch.find(name, among: senders.filter { $0.clientName != "Tactus" })
        switch others == .none ? PortMatch.find(name, among: senders) : others {
        case .found(let port): return port
        case .none: throw Failure(.unavailable, "no port called \(name) sends; 'tactus ports' lists those that do")
        case .ambiguous(let several):
            let names = several.map { "\($0.portName) (\($0.address))" }.joined(separator: ", ")
            throw Failure(.unavailable, "several ports answer to \(name): \(names)")
        }
    }

    /// Has the input hear a port.
    func hear(_ port: PortAddress) throws(Failure) {
        do {
            try control.subscribe(input.address, to: port)
        } catch {
            throw Failure(.system, "\(error)")
        }
    }
}
