import ALSASequencer
import Arbiter
import BeatTime
import Glibc
import MIDIClock

/// An output's way out and back: a client that hears what the output sends and what comes back, both stamped by the
/// kernel's one clock.
struct ClockLoop {
    /// The name of the port that the output drives; nil if it drives none by itself.
    let device: String?
    private let client: SequencerInput
    private let input: String
    private let sender: PortAddress
    private let source: PortAddress

    /// Subscribes to both ends.
    ///
    /// - Parameters:
    ///   - output: as the gateway shows it.
    ///   - input: the port at which its clock comes back, by name or number.
    /// - Throws: when there is no such port, or no sequencer.
    init(of output: Status.Output, input: String) throws(Failure) {
        let (client, control) = try Self.open()
        let ports = control.ports()
        let source = try Self.returning(input, among: ports)
        let sender = try Self.port(of: output, control, ports)
        guard sender != source else { throw Failure(.unavailable, "\(input) is the gateway's own port") }
        do {
            for port in [sender, source] { try control.subscribe(client.address, to: port) }
        } catch {
            throw Failure(.system, "\(error)")
        }
        device = ports.first { $0.address.description == output.port && output.connected }?.portName
        (self.client, self.input, self.sender, self.source) = (client, input, sender, source)
    }

    /// Takes what both ends send for a while.
    func listen(seconds: Int) async -> [ClockInputEvent] {
        var events: [ClockInputEvent] = []
        let end = ContinuousClock.now.advanced(by: .seconds(seconds))
        while ContinuousClock.now < end {
            try? await Task.sleep(for: .milliseconds(100))
            client.take(into: &events)
        }
        return events
    }

    /// What the events of a while say of the way.
    ///
    /// - Throws: when no clock came back.
    func measured(in events: [ClockInputEvent], seconds: Int) throws(Failure) -> LoopBack {
        func ticks(from port: PortAddress) -> [HostTime] {
            events.compactMap { event in
                guard case .arrival(let arrival) = event, arrival.message == .timingClock else { return nil }
                return "\(arrival.source)" == port.description ? arrival.time : nil
            }
        }
        guard let measured = LoopBack(sent: ticks(from: sender), returned: ticks(from: source)) else {
            throw Failure(
                .unavailable,
                "no clock came back at \(input) in \(seconds) s; see that it is cabled, and that it passes on")
        }
        return measured
    }

    private static func open() throws(Failure) -> (SequencerInput, SequencerControl) {
        ALSAComplaints.capture { _ in }  // the error says as much
        do {
            let client = try SequencerInput(name: "Tactus Calibrate", portName: "Calibrate")
            return (client, try SequencerControl(name: "Tactus Calibrate Control"))
        } catch {
            throw Failure(error.code == -EACCES ? .noPermission : .system, "\(error)")
        }
    }

    private static func returning(_ name: String, among ports: [PortDescription]) throws(Failure) -> PortAddress {
        if case .address(let address) = PortAddress.read(name) {
            guard ports.contains(where: { $0.address == address && $0.isReadable }) else {
                throw Failure(.unavailable, "no port \(name) sends; 'tactus ports' lists those that do")
            }
            return address
        }
        switch PortMatch.find(name, among: ports.filter(\.isReadable)) {
        case .found(let port): return port.address
        case .none: throw Failure(.unavailable, "no port called \(name) sends; 'tactus ports' lists those that do")
        case .ambiguous(let several):
            let names = several.map { "\($0.portName) (\($0.address))" }.joined(separator: ", ")
            throw Failure(.unavailable, "several ports answer to \(name): \(names)")
        }
    }

    /// The gateway's port that carries an output.
    private static func port(
        of output: Status.Output, _ control: SequencerControl, _ ports: [PortDescription]
    ) throws(Failure) -> PortAddress {
        let own = ports.filter { $0.clientName == "Tactus" && $0.portName == output.name }.map(\.address)
        // Where several gateways run, the one whose output drives this device.
        if let port = own.first(where: { control.subscribers(of: $0).map(\.description).contains(output.port ?? "") })
            ?? own.first
        {
            return port
        }
        throw Failure(.unavailable, "\(output.name) has no sequencer port of this machine; raw lines are not measured")
    }
}
