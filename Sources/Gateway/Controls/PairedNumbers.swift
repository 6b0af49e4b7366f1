internal import ALSASequencer
internal import ConfigurationFiles
internal import MIDIClock

/// The numbers that pairs of controllers send: a high part, then a low part.
///
/// A controller's value is at most 127. Song software therefore sends a tempo in two parts: 140 BPM is 1 x 128 + 12.
struct PairedNumbers: Sendable {
    private var highParts: [Controller: Int] = [:]

    private struct Controller: Hashable {
        var source: PortAddress
        var channel: Int
        var number: Int
    }

    /// Takes a message of either controller.
    ///
    /// - Parameters:
    ///   - arrival: the message.
    ///   - pair: the control's two controllers, one of which it is of.
    /// - Returns: the number, 0 to 16 383, once its low part is there. Without a new high part the last one counts; before
    ///   the first one there is no number, because it may have been sent before we listened.
    mutating func number(_ arrival: ControlArrival, of pair: Control.Message) -> Int? {
        let message = arrival.message
        let high = Controller(source: arrival.source, channel: message.channel, number: pair.number)
        guard message.number == pair.low else {
            highParts[high] = message.value
            return nil
        }
        return highParts[high].map { $0 * 128 + message.value }
    }

    /// Forgets what ports have sent that are not there any more.
    mutating func forget(except sources: Set<PortAddress>) {
        highParts = highParts.filter { sources.contains($0.key.source) }
    }
}
