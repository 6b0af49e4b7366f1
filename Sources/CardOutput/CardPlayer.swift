internal import CardClock
internal import ClockDispatch
internal import MIDIClock
internal import Pulses

/// Decides what a sound card plays, block after block.
///
/// A plain value; once it plays it allocates nothing, except after the card has fallen silent.
///
///     OutputBoard -> OutputPlan, one per output -> PulseSound -> SampleBlock
struct CardPlayer: Sendable {
    private var parts: [Part]

    private struct Part: Sendable {
        let slot: Int
        let occupant: UInt32
        var sound: PulseSound
        /// The last realignment that was seen; nil before the first board.
        var realigning: OutputBoard.Realigning?
    }

    /// What an output has played since this was last asked.
    struct Count: Hashable, Sendable {
        let slot: Int
        let pulses: Int
        /// Pulses left out for good, because they had become too late.
        let skipped: Int
    }

    /// - Parameters:
    ///   - setup: an output is left out if the card lacks one of its channels.
    ///   - frame: the first one.
    ///   - channels: how many the card has.
    init(_ setup: SoundCardSetup, first frame: Int, channels: Int) {
        parts = setup.parts.filter { $0.fits(on: channels) }.map { part in
            let sound = PulseSound(part.settings, on: part.channels.map { $0 - 1 }, first: frame)
            return Part(slot: part.slot, occupant: part.occupant, sound: sound)
        }
    }

    /// Writes the block that follows the last one.
    ///
    /// - Parameters:
    ///   - board: the newest one.
    ///   - clock: says when the card plays a frame.
    ///   - block: a silent one.
    mutating func write(
        _ board: borrowing OutputBoard, by clock: CardClock, into block: inout SampleBlock
    ) {
        for index in parts.indices {
            // Only once, because indexing into the board's array copies the whole array.
            var slot = board.slots[parts[index].slot]
            // An output that has gone falls silent until the card is set up anew.
            if slot.occupant != parts[index].occupant { slot.isEnabled = false }
            if parts[index].realigning != slot.realigning {
                if parts[index].realigning != nil { parts[index].sound.realign() }
                parts[index].realigning = slot.realigning
            }
            parts[index].sound.write(slot.plan(board.transport), on: board.map, by: clock, into: &block)
        }
    }

    /// Writes a block in which all lines are off.
    func silence(_ block: inout SampleBlock) {
        for part in parts { part.sound.silence(&block) }
    }

    /// Goes on with another frame after the card has fallen silent.
    mutating func restart(at frame: Int) {
        for index in parts.indices { parts[index].sound.restart(at: frame) }
    }

    /// What has been played and left out since this was last called, output by output.
    mutating func takeCounts(_ body: (Count) -> Void) {
        for index in parts.indices {
            let (pulses, skipped) = parts[index].sound.takeCounts()
            if pulses > 0 || skipped > 0 { body(Count(slot: parts[index].slot, pulses: pulses, skipped: skipped)) }
        }
    }
}
