internal import CALSA

/// The kernel's notes that a receiver refused what the queue sent.
enum Refusals {
    /// The ports whose messages were refused, one bit each.
    ///
    /// Anyone may send to our ports, but only the kernel itself as its own client.
    ///
    /// - Parameter events: as the kernel returns them; data of variable length directly follows its event, in event-sized
    ///   slots.
    /// - Returns: the ports.
    static func ports(in events: UnsafeBufferPointer<snd_seq_event_t>) -> UInt64 {
        var (ports, index) = (UInt64(0), 0)
        while index < events.count {
            let event = events[index]
            // The data of a refusal is a copy of the message.
            index += 1 + slotsOfData(behind: event)
            guard event.type == UInt8(SND_SEQ_EVENT_BOUNCE.rawValue),
                event.source.client == UInt8(SND_SEQ_CLIENT_SYSTEM)
            else { continue }
            ports |= 1 << UInt64(event.dest.port)
        }
        return ports
    }

    private static func slotsOfData(behind event: snd_seq_event_t) -> Int {
        guard Int32(event.flags) & SND_SEQ_EVENT_LENGTH_MASK == SND_SEQ_EVENT_LENGTH_VARIABLE else { return 0 }
        let size = MemoryLayout<snd_seq_event_t>.stride
        return (Int(event.data.ext.len) + size - 1) / size
    }
}
