internal import ALSASequencer
internal import CALSA
internal import Glibc

/// An input or output of a sound card.
package struct SoundDevice: Codable, Hashable, Sendable {
    /// libasound's name, such as `hw:CARD=CODEC`.
    ///
    /// It contains the card's ID, not its number, because the number may change when the card is plugged in again.
    package var device: String
    /// A name to show to people, such as `USB Audio CODEC`.
    package var name: String

    package init(device: String, name: String) { (self.device, self.name) = (device, name) }

    /// All inputs, or all outputs, that exist now, and then `default` if there are any.
    ///
    /// `default` comes last, because a sound server behind it may add a delay.
    package static func all(for direction: OpenCard.Direction) -> [SoundDevice] {
        var (cards, card) = ([SoundDevice](), Int32(-1))
        while snd_card_next(&card) == 0, card >= 0 { cards += devices(ofCard: card, direction) }
        return cards.isEmpty ? [] : cards + [SoundDevice(device: "default", name: "the system's choice")]
    }

    private static func devices(ofCard number: Int32, _ direction: OpenCard.Direction) -> [SoundDevice] {
        var control: OpaquePointer?
        guard snd_ctl_open(&control, "hw:\(number)", 0) == 0, let control else { return [] }
        defer { snd_ctl_close(control) }
        guard let card = try? ALSAStructure(snd_ctl_card_info_malloc, { snd_ctl_card_info_free($0) }),
            let info = try? ALSAStructure(snd_pcm_info_malloc, { snd_pcm_info_free($0) }),
            snd_ctl_card_info(control, card.pointer) == 0
        else { return [] }
        var (found, device) = ([SoundDevice](), Int32(-1))
        while snd_ctl_pcm_next_device(control, &device) == 0, device >= 0 {
            snd_pcm_info_set_device(info.pointer, UInt32(device))
            snd_pcm_info_set_subdevice(info.pointer, 0)
            snd_pcm_info_set_stream(info.pointer, direction.stream)
            guard snd_ctl_pcm_info(control, info.pointer) == 0 else { continue }
            found.append(
                SoundDevice(
                    card: String(cString: snd_ctl_card_info_get_id(card.pointer)), number: Int(device),
                    names: [
                        String(cString: snd_ctl_card_info_get_name(card.pointer)),
                        String(cString: snd_pcm_info_get_name(info.pointer)),
                    ]))
        }
        return found
    }

    /// Describes a device of a card.
    ///
    /// - Parameters:
    ///   - card: the card's ID in the kernel, such as `CODEC`.
    ///   - number: the number of the device on the card.
    ///   - names: the card's name, and the device's.
    init(card: String, number: Int, names: [String]) {
        device = "hw:CARD=\(card)" + (number > 0 ? ",DEV=\(number)" : "")
        let (cardName, deviceName) = (names[0], names[1])
        let isTold = deviceName.isEmpty || cardName.contains(deviceName)
        name = isTold ? cardName : "\(cardName), \(deviceName)"
    }
}
