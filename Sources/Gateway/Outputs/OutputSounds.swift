internal import CardOutput
internal import ClockDispatch
internal import Pulses

// Outputs that play on sound cards.
extension OutputTable {
    /// The cards that are wanted, and what is to be played on them.
    var cards: [SoundCardSetup] {
        var setups: [SoundCardSetup] = []
        for (slot, output) in all.enumerated() where output.presence == .here {
            guard case .card(let device, let channels) = output.destination,
                let settings = output.pulses?.onChannels(channels.count)
            else { continue }
            let part = SoundCardSetup.Part(
                output: output.id, slot: slot, occupant: output.occupant, settings: settings, channels: channels)
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
        let cards = cards
        cardsAhead = states.values.reduce(0) { ahead, state in
            if case .playing(let playing) = state { max(ahead, playing.ahead) } else { ahead }
        }
        var changed = false
        for slot in all.indices where all[slot].presence == .here {
            guard case .card(let device, let channels) = all[slot].destination else { continue }
            let before = (all[slot].sink, all[slot].trouble)
            let setup = cards.first { $0.parts.contains { $0.slot == slot } }
            switch (setup, states[device]) {
            case (nil, _):
                // As after a reload in which its profile has changed.
                let reason = all[slot].request.contradiction ?? "its profile sends no pulses"
                all[slot].leaveCard(PortTrouble(reason: reason, fix: "correct it, and reload"))
            case (_, .playing(let playing)) where playing.taken[all[slot].id] != nil:
                all[slot].leaveCard(playing.taken[all[slot].id].map(trouble))
            case (_, .playing(let playing)) where channels.contains { $0 > playing.channelCount }:
                all[slot].leaveCard(.lacking(channels.max() ?? 0, of: playing.channelCount))
            case (_, .playing):
                (all[slot].sink, all[slot].trouble) = (.card, nil)
                _ = all[slot].setConnected(to: device)
            case (let setup?, .failed(let failure)):
                all[slot].leaveCard(
                    PortTrouble(playingOn: device, channels: channels, of: setup.channelCount, failure))
            case (_, .opening), (_, nil): all[slot].leaveCard(nil)
            }
            changed = changed || before != (all[slot].sink, all[slot].trouble)
        }
        return changed
    }

    private func trouble(_ taken: SoundCardSetup.TakenChannel) -> PortTrouble {
        let other = all.first { $0.presence == .here && $0.id == taken.output }
        return .takenChannel(taken.channel, by: other?.name ?? taken.output)
    }
}

extension Output {
    /// Notes that its sound card does not play, and why, if that is known.
    fileprivate mutating func leaveCard(_ trouble: PortTrouble?) {
        (sink, self.trouble) = (.idle, trouble)
        _ = setConnected(to: nil)
    }
}
