internal import CardOutput
internal import ClockDispatch
internal import Pulses

// Outputs that play on sound cards.
extension OutputTable {
    /// The cards that are wanted, and what is to be played on them.
    var cards: [SoundCardSetup] {
        var setups: [SoundCardSetup] = []
        for (slot, output) in all.enumerated() where output.presence == .here {
            guard case .card(let device, let channels) = output.destination, let settings = output.pulses,
                settings.lines.count == channels.count
            else { continue }
            let part = SoundCardSetup.Part(
                slot: slot, occupant: output.occupant, settings: settings, channels: channels)
            if let index = setups.firstIndex(where: { $0.device == device }) {
                setups[index].parts.append(part)
            } else {
                setups.append(SoundCardSetup(device: device, parts: [part]))
            }
        }
        return setups
    }

    /// Takes the states of the cards, by their names.
    ///
    /// - Returns: whether an output's connection changed.
    mutating func cardsChanged(_ states: [String: OutputCard.State]) -> Bool {
        var changed = false
        for slot in all.indices where all[slot].presence == .here {
            guard case .card(let device, let channels) = all[slot].destination, let state = states[device] else {
                continue
            }
            let before = (all[slot].sink, all[slot].trouble)
            switch state {
            case .opening: break
            case .playing:
                (all[slot].sink, all[slot].trouble) = (.card, nil)
                _ = all[slot].setConnected(to: device)
            case .failed(let error):
                (all[slot].sink, all[slot].trouble) = (.idle, PortTrouble(playingOn: device, channels, error))
                _ = all[slot].setConnected(to: nil)
            }
            changed = changed || before != (all[slot].sink, all[slot].trouble)
        }
        return changed
    }
}
