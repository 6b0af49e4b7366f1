import CALSA
import Testing

@testable import ALSASequencer

/// What the output client reads, as written by kernels 6.1 and 6.12.
@Suite
struct RefusalsTests {
    private static let clock: snd_seq_event_t = {
        var event = snd_seq_event_t()
        event.type = UInt8(SND_SEQ_EVENT_CLOCK.rawValue)
        event.source = snd_seq_addr_t(client: 130, port: 3)
        return event
    }()

    /// The head of an event followed by data of any length.
    private static func bounce(from client: UInt8 = 0, to port: UInt8, bytes: UInt32) -> snd_seq_event_t {
        var event = snd_seq_event_t()
        event.type = UInt8(SND_SEQ_EVENT_BOUNCE.rawValue)
        event.flags = UInt8(SND_SEQ_EVENT_LENGTH_VARIABLE)
        event.source = snd_seq_addr_t(client: client, port: 1)
        event.dest = snd_seq_addr_t(client: 130, port: port)
        event.data.ext.len = bytes
        return event
    }

    private static func ports(_ events: [snd_seq_event_t]) -> UInt64 {
        events.withUnsafeBufferPointer { Refusals.ports(in: $0) }
    }

    @Test
    func `the kernel names the port of each message that a receiver refused`() {
        let events = [Self.bounce(to: 3, bytes: 28), Self.clock, Self.bounce(to: 5, bytes: 28), Self.clock]
        #expect(Self.ports(events) == 0b10_1000)
    }

    @Test
    func `other programs cannot refuse in our name`() {
        let forged = Self.bounce(to: 4, bytes: 0)
        let events = [
            Self.clock, Self.bounce(from: 140, to: 3, bytes: 57), forged, forged, forged,
            Self.bounce(from: 140, to: 3, bytes: .max),
        ]
        #expect(Self.ports(events) == 0)
    }
}
