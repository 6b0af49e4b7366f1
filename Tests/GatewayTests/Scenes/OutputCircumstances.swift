import ClockDispatch
import MIDIClock

/// What decides about a machine by its output alone; a change of any of these excuses the machine.
struct OutputCircumstances: Hashable {
    let slot: Int
    let occupant: UInt32
    let connections: UInt32
    let settings: OutputSettings
    let isEnabled: Bool
    let rest: Rest

    init(of slot: Int, on board: OutputBoard) {
        let output = board.slots[slot]
        self.slot = slot
        (occupant, connections) = (output.occupant, output.connections)
        (settings, isEnabled, rest) = (output.settings, output.isEnabled, output.rest)
    }
}
