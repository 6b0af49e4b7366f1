package import ALSASequencer
package import GatewayStatus
internal import MIDIClock
internal import SoundCalibration

/// Hears what an output sends, stamped by the kernel.
struct SentClock {
    private let input: SequencerInput
    private let control: SequencerControl
    private let sender: PortAddress

    /// Subscribes to an output.
    ///
    /// - Throws: when there is no sequencer, or the output is no port of it.
    init(of output: Status.Output) throws(ListeningProblem) {
        do {
            input = try SequencerInput(name: "Tactus Calibrate", portName: "Calibrate")
            control = try SequencerControl(name: "Tactus Calibrate Control")
        } catch {
            throw ListeningProblem(.system, "\(error); load the sequencer with 'sudo modprobe snd-seq'")
        }
        let ports = control.ports()
        guard let sender = control.port(of: output, among: ports) else {
            throw ListeningProblem(
                .unavailable, "\(output.name) has no sequencer port of this machine, and raw lines cannot be measured; name the device by its "
                    + "port, as 'aconnect -l' lists it")
        }
        self.sender = sender
        do {
            try control.subscribe(input.address, to: sender)
        } catch {
            throw ListeningProblem(.system, "\(error); 'tactus doctor' looks for what is wrong with the sequencer")
        }
    }

    /// The name of the port that an output drives; nil where that cannot be told.
    static func deviceName(of output: Status.Output) -> String? {
        (try? SequencerControl(name: "Tactus Calibrate Control"))?.ports().deviceName(of: output)
    }

    /// Tells a calibration what has been sent since the last call.
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
    /// The gateway's port that carries an output; nil if it has none on this machine.
    package func port(of output: Status.Output, among ports: [PortDescription]) -> PortAddress? {
        let own = ports.filter { $0.clientName == "Tactus" && $0.portName == output.name }.map(\.address)
        // Where several gateways run, the one whose output drives this device.
        return own.first { subscribers(of: $0).map(\.description).contains(output.port ?? "") } ?? own.first
    }
}

extension [PortDescription] {
    /// The name of the port that an output drives, by which its device is recognised.
    package func deviceName(of output: Status.Output) -> String? {
        first { $0.address.description == output.port && output.connected }?.portName
    }
}
