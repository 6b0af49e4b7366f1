internal import Essentials

/// A sound card, as the kernel lists it: what stands behind the ports of one device.
package struct SoundCard: Hashable, Sendable {
    /// Changes with the order in which devices are plugged in.
    package var number: Int
    /// The kernel's short name, unique among the cards there are, such as `TR8S` and `TR8S_1`.
    package var id: String
    /// Its long name, which for a USB device says the socket it is plugged into.
    package var place: String

    package init(number: Int, id: String, place: String) {
        self.number = number
        self.id = id
        self.place = place
    }

    /// All there are now, by their numbers; none where the kernel has no sound.
    static func all() -> [Int: SoundCard] {
        KernelText.read("/proc/asound/cards").map(list) ?? [:]
    }

    /// Reads the kernel's list.
    ///
    /// It has two lines a card, such as:
    ///
    ///      1 [TR8S           ]: USB-Audio - TR-8S
    ///                           Roland TR-8S at usb-0000:00:14.0-2, high speed
    ///
    /// - Parameter text: the list; lines that are otherwise are passed over.
    /// - Returns: the cards by their numbers.
    static func list(_ text: String) -> [Int: SoundCard] {
        var cards: [Int: SoundCard] = [:]
        var last: Int?
        for line in text.split(separator: "\n") {
            if let card = SoundCard(firstLine: line) {
                cards[card.number] = card
                last = card.number
            } else if let number = last {
                cards[number]?.place = line.trimmed
                last = nil
            }
        }
        return cards
    }

    private init?(firstLine line: Substring) {
        guard let opening = line.firstIndex(of: "["), let closing = line.firstIndex(of: "]"), opening < closing,
            let number = Int(line[..<opening].trimmed)
        else { return nil }
        self.init(number: number, id: line[line.index(after: opening)..<closing].trimmed, place: "")
    }
}
