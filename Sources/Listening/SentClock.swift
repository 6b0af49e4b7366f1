package import ALSASequencer
package import GatewayStatus
internal import MIDIClock
internal import SoundCalibration

/// What an output sends.
protocol OutputClock {
    /// Passes to a calibration everything that the output has sent since the last call.
    mutating func tell(_ calibration: inout SoundCalibration)
}

/// Receives what an output sends, with the kernel's timestamps.
struct SentClock: OutputClock {
    private let input: SequencerInput
    private let control: SequencerControl
    private let sender: PortAddress

    /// Subscribes to an output.
    ///
    /// - Throws: if there is no sequencer, or if the output is not a port of the sequencer.
    init(of output: Status.Output) throws(ListeningProblem) {
        do {
            input = try SequencerInput(name: "Tactus Calibrate", portName: "Calibrate")
            control = try SequencerControl(name: "Tactus Calibrate Control")
        } catch {
            throw ListeningProblem(.system, "\(error); \(error.openingFix)")
        }
        let ports = control.ports()
        guard let sender = control.port(of: output, among: ports) else {
            throw ListeningProblem(
                .unavailable,
                "\(output.name) has no sequencer port on this machine, and raw lines cannot be measured; name the "
                    + "device by its port, as 'tactus ports' lists it")
        }
        self.sender = sender
        do {
            try control.subscribe(input.address, to: sender)
        } catch {
            throw ListeningProblem(.system, "\(error); run 'tactus doctor' to see what is wrong with the sequencer")
        }
    }

    /// The name of the port that an output drives; nil if it is not known.
    static func deviceName(of output: Status.Output) -> String? {
        (try? SequencerControl(name: "Tactus Calibrate Control"))?.ports().deviceName(of: output)
    }

    func tell(_ calibration: inout SoundCalibration) {
        var events: [ClockInputEvent] = []
        input.take(into: &events)
        for event in events {
            switch event {
            case .overflow: calibration.lost()
            case .arrival(let arrival):
                guard "\(arrival.source)" == sender.description else { continue }
                calibration.sent(arrival.message, at: arrival.time)
            }
        }
    }
}

extension SequencerControl {
    /// The gateway's port that sends an output's clock; nil if there is none on this computer.
    package func port(of output: Status.Output, among ports: [PortDescription]) -> PortAddress? {
        let own = ports.filter { $0.clientName == "Tactus" && $0.portName == output.name }.map(\.address)
        // If several gateways run, take the port that is connected to this output's device.
        return own.first { subscribers(of: $0).map(\.description).contains(output.port ?? "") } ?? own.first
    }
}

extension [PortDescription] {
    /// The name of the port that an output drives, by which a profile recognises the device.
    package func deviceName(of output: Status.Output) -> String? {
        first { $0.address.description == output.port && output.connected }?.portName
    }
}
