internal import CALSA

extension SequencerSender {
    /// A message that the witness received, or the kernel's note that one was refused.
    ///
    /// The witness is our own port that receives everything the outputs send. The kernel sends the note if a
    /// subscriber refused a queued message.
    package struct Heard: Sendable, Hashable, BitwiseCopyable {
        /// The output port it came from.
        package var port: UInt8
        /// Its tag in the queue; 0 if it was sent directly.
        package var tag: UInt8
        /// When the witness received it, in nanoseconds of queue time.
        package var queueTime: Int64
        /// Whether a subscriber refused it; only the port is meaningful then.
        package var isRefusal: Bool

        package init(port: UInt8, tag: UInt8, queueTime: Int64, isRefusal: Bool = false) {
            self.port = port
            self.tag = tag
            self.queueTime = queueTime
            self.isRefusal = isRefusal
        }
    }
}

extension SequencerSender.Heard {
    /// Selects our own messages and the kernel's refusals from the events read.
    ///
    /// Anyone may send to our ports.
    ///
    /// - Parameters:
    ///   - events: as the kernel returns them; data of variable length directly follows its event, in event-sized
    ///     slots.
    ///   - client: our client number.
    ///   - heard: receives them; has room for as many as `events`.
    /// - Returns: the number of those selected.
    static func read(
        _ events: UnsafeBufferPointer<snd_seq_event_t>, by client: UInt8, into heard: UnsafeMutablePointer<Self>
    ) -> Int {
        var (found, index) = (0, 0)
        while index < events.count {
            let event = events[index]
            // The data of a refusal is a copy of the message, which the witness has heard as well.
            index += 1 + slotsOfData(behind: event)
            if event.type == UInt8(SND_SEQ_EVENT_BOUNCE.rawValue), event.source.client == UInt8(SND_SEQ_CLIENT_SYSTEM) {
                heard[found] = Self(port: event.dest.port, tag: 0, queueTime: 0, isRefusal: true)
            } else if event.source.client == client {
                let time = event.time.time
                heard[found] = Self(
                    port: event.source.port, tag: event.tag,
                    queueTime: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
            } else {
                continue
            }
            found += 1
        }
        return found
    }

    private static func slotsOfData(behind event: snd_seq_event_t) -> Int {
        guard Int32(event.flags) & SND_SEQ_EVENT_LENGTH_MASK == SND_SEQ_EVENT_LENGTH_VARIABLE else { return 0 }
        let size = MemoryLayout<snd_seq_event_t>.stride
        return (Int(event.data.ext.len) + size - 1) / size
    }
}
