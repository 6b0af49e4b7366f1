internal import ALSASequencer
internal import CALSA
internal import Glibc

/// An input of a sound card.
package struct CaptureDevice: Codable, Hashable, Sendable {
    /// libasound's name of the input, such as `hw:CARD=CODEC`.
    ///
    /// It contains the card's ID, not its number, because the number may change when the card is plugged in again.
    package var device: String
    /// A name to show to people, such as `USB Audio CODEC`.
    package var name: String

    package init(device: String, name: String) { (self.device, self.name) = (device, name) }

    /// All inputs that exist now, and then `default` if there are any.
    ///
    /// `default` comes last, because a sound server behind it may add a delay.
    package static func all() -> [CaptureDevice] {
        var (cards, card) = ([CaptureDevice](), Int32(-1))
        while snd_card_next(&card) == 0, card >= 0 { cards += inputs(ofCard: card) }
        return cards.isEmpty ? [] : cards + [CaptureDevice(device: "default", name: "the system's choice")]
    }

    private static func inputs(ofCard number: Int32) -> [CaptureDevice] {
        var control: OpaquePointer?
        guard snd_ctl_open(&control, "hw:\(number)", 0) == 0, let control else { return [] }
        defer { snd_ctl_close(control) }
        guard let card = try? ALSAStructure(snd_ctl_card_info_malloc, { snd_ctl_card_info_free($0) }),
            let input = try? ALSAStructure(snd_pcm_info_malloc, { snd_pcm_info_free($0) }),
            snd_ctl_card_info(control, card.pointer) == 0
        else { return [] }
        var (found, device) = ([CaptureDevice](), Int32(-1))
        while snd_ctl_pcm_next_device(control, &device) == 0, device >= 0 {
            snd_pcm_info_set_device(input.pointer, UInt32(device))
            snd_pcm_info_set_subdevice(input.pointer, 0)
            snd_pcm_info_set_stream(input.pointer, SND_PCM_STREAM_CAPTURE)
            guard snd_ctl_pcm_info(control, input.pointer) == 0 else { continue }
            found.append(
                CaptureDevice(
                    card: String(cString: snd_ctl_card_info_get_id(card.pointer)), number: Int(device),
                    names: [
                        String(cString: snd_ctl_card_info_get_name(card.pointer)),
                        String(cString: snd_pcm_info_get_name(input.pointer)),
                    ]))
        }
        return found
    }

    /// Describes an input of a card.
    ///
    /// - Parameters:
    ///   - card: the card's ID in the kernel, such as `CODEC`.
    ///   - number: the number of the input's device on the card.
    ///   - names: the card's name, and the input's.
    init(card: String, number: Int, names: [String]) {
        device = "hw:CARD=\(card)" + (number > 0 ? ",DEV=\(number)" : "")
        let (cardName, inputName) = (names[0], names[1])
        let isTold = inputName.isEmpty || cardName.contains(inputName)
        name = isTold ? cardName : "\(cardName), \(inputName)"
    }
}
