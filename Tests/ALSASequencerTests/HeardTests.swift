import CALSA
import Testing

@testable import ALSASequencer

/// What the output client reads, as written by kernels 6.1 and 6.12.
@Suite
struct HeardTests {
    private static let client: UInt8 = 130

    private static func clock(from client: UInt8 = client, port: UInt8, tag: UInt8) -> snd_seq_event_t {
        var event = snd_seq_event_t()
        event.type = UInt8(SND_SEQ_EVENT_CLOCK.rawValue)
        event.source = snd_seq_addr_t(client: client, port: port)
        event.tag = tag
        event.time.time = snd_seq_real_time_t(tv_sec: 1, tv_nsec: 160_000)
        return event
    }

    /// The head of an event followed by data of any length.
    private static func bounce(from client: UInt8 = 0, to port: UInt8, bytes: UInt32) -> snd_seq_event_t {
        var event = snd_seq_event_t()
        event.type = UInt8(SND_SEQ_EVENT_BOUNCE.rawValue)
        event.flags = UInt8(SND_SEQ_EVENT_LENGTH_VARIABLE)
        event.source = snd_seq_addr_t(client: client, port: 1)
        event.dest = snd_seq_addr_t(client: Self.client, port: port)
        event.data.ext.len = bytes
        return event
    }

    private static func read(_ events: [snd_seq_event_t]) -> [SequencerSender.Heard] {
        withUnsafeTemporaryAllocation(of: SequencerSender.Heard.self, capacity: events.count) { heard in
            let count = events.withUnsafeBufferPointer { events in
                SequencerSender.Heard.read(events, by: client, into: heard.baseAddress!)
            }
            return heard.prefix(count).map(\.self)
        }
    }

    private static func heard(port: UInt8, tag: UInt8) -> SequencerSender.Heard {
        SequencerSender.Heard(port: port, tag: tag, queueTime: 1_000_160_000)
    }

    @Test
    func `a message that a receiver refused was sent once, and refused once`() {
        let sent = Self.clock(port: 3, tag: 7)
        let events = [sent, Self.bounce(to: 3, bytes: 28), sent, Self.clock(port: 4, tag: 7)]
        #expect(
            Self.read(events) == [
                Self.heard(port: 3, tag: 7), .init(port: 3, tag: 0, queueTime: 0, isRefusal: true),
                Self.heard(port: 4, tag: 7),
            ])
    }

    @Test
    func `other programs can neither refuse nor send in our name`() {
        let forged = Self.clock(port: 3, tag: 7)
        let events = [
            Self.clock(from: 140, port: 3, tag: 7), Self.bounce(from: 140, to: 3, bytes: 57), forged, forged, forged,
            Self.clock(port: 4, tag: 7), Self.bounce(from: 140, to: 3, bytes: .max),
        ]
        #expect(Self.read(events) == [Self.heard(port: 4, tag: 7)])
    }
}
