internal import CALSA

extension SequencerSender {
    /// A message that the witness has heard, or the kernel's word that a subscriber refused one that the queue sent.
    package struct Heard: Sendable, Hashable, BitwiseCopyable {
        /// The output port it came from.
        package var port: UInt8
        /// 0 if it was sent directly.
        package var tag: UInt8
        /// When, in nanoseconds of queue time.
        package var queueTime: Int64
        /// Whether a subscriber refused it; the port alone counts then.
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
    /// Picks out of what was read what is ours; anyone may send to our ports.
    ///
    /// - Parameters:
    ///   - events: as the kernel gives them: data of any length lies right behind its event, in places for events.
    ///   - client: our number.
    ///   - heard: room for as many.
    /// - Returns: how many are ours.
    static func read(
        _ events: UnsafeBufferPointer<snd_seq_event_t>, by client: UInt8, into heard: UnsafeMutablePointer<Self>
    ) -> Int {
        var (found, index) = (0, 0)
        while index < events.count {
            let event = events[index]
            // A refusal's data is a copy of the message, which the witness has heard besides.
            index += 1 + placesOfData(behind: event)
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

    private static func placesOfData(behind event: snd_seq_event_t) -> Int {
        guard Int32(event.flags) & SND_SEQ_EVENT_LENGTH_MASK == SND_SEQ_EVENT_LENGTH_VARIABLE else { return 0 }
        let size = MemoryLayout<snd_seq_event_t>.stride
        return (Int(event.data.ext.len) + size - 1) / size
    }
}
