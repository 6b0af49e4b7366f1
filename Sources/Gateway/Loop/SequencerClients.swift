internal import ALSASequencer
internal import RealTime
internal import Synchronization

/// The gateway's sequencer clients, as far as they are wanted and could be opened.
struct SequencerClients {
    /// Name of the client whose ports carry the clocks; other runs are known by it.
    static let outputName = "Tactus"

    /// The client whose ports carry the clocks.
    let output: SequencerOutput?
    /// The client that watches ports and makes subscriptions.
    let control: SequencerControl?
    /// Why there is no sequencer although one was wanted.
    private(set) var trouble: ALSAError?

    /// Opens the clients that carry clocks and watch ports.
    init(_ configuration: GatewayConfiguration) {
        let live = configuration.live
        let follow = configuration.follow ?? live.follow
        guard live.outputs.needsSequencer || follow.namesPort || !live.controls.isEmpty else {
            (output, control) = (nil, nil)
            return
        }
        do throws(ALSAError) {
            let output = try SequencerOutput(name: Self.outputName)
            (self.output, control) = (output, try SequencerControl(name: "Tactus Control"))
        } catch {
            (output, control, trouble) = (nil, nil, error)
        }
    }

    /// Opens the input for other machines' clocks.
    ///
    /// - Returns: nil if nothing can be received.
    mutating func input(
        _ configuration: GatewayConfiguration, priority: Int32, into mailbox: Mailbox<GatewayExchange.Message>
    ) throws(SystemCallError) -> ClockInput? {
        guard output != nil || configuration.clockInDevice != nil else { return nil }
        var inputTrouble: ALSAError?
        defer { trouble = trouble ?? inputTrouble }
        return try ClockInput(trouble: &inputTrouble, device: configuration.clockInDevice, priority: priority) {
            mailbox.post(.clocks($0), leaving: 512)
        } deviceChanged: { device in
            _ = mailbox.post(.clockDevice(device))
        }
    }
}

/// Passes a value that is not Sendable to the one thread that will use it.
final class Handover<Value>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: sending Value?) { self.value = Mutex(value) }

    /// Returns the value; only the first call gets it.
    func take() -> sending Value? {
        value.withLock { value in
            let taken = value
            value = nil
            return taken
        }
    }
}
