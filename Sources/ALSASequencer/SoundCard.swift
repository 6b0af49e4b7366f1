internal import Essentials

/// A sound card as the kernel lists it; it owns all ports of one device.
package struct SoundCard: Hashable, Sendable {
    /// Its number, which depends on the order of plugging in.
    package var number: Int
    /// The kernel's short name, unique among the present cards, such as `TR8S` and `TR8S_1`.
    package var id: String
    /// Its long name, which for a USB device includes where it is plugged in.
    package var place: String

    package init(number: Int, id: String, place: String) {
        self.number = number
        self.id = id
        self.place = place
    }

    /// All present cards by number; nil if the kernel does not tell, as without sound.
    static func all() -> [Int: SoundCard]? { KernelText.read("/proc/asound/cards").map(list) }

    /// Parses the kernel's list.
    ///
    /// It has two lines for each card, such as:
    ///
    ///      1 [TR8S           ]: USB-Audio - TR-8S
    ///                           Roland TR-8S at usb-0000:00:14.0-2, high speed
    ///
    /// - Parameter text: the list; other lines are skipped.
    /// - Returns: the cards by number.
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

    /// The number of the card that a device of libasound is on, now.
    ///
    /// - Parameter device: its name, such as `hw:CARD=ES8,DEV=1` or `hw:1`.
    /// - Returns: nil if that card is not there, or if it is no device of a card, such as `default`.
    package static func number(ofDevice device: String) -> Int? {
        all().flatMap { self.device(named: device, among: $0) }?.card
    }

    /// A device of a card, which a name of libasound means.
    package struct Device: Hashable, Sendable {
        /// The card's number.
        package var card: Int
        var number: Int
        /// 0 also if the name leaves it open: most cards have only that.
        var subdevice: Int
    }

    /// What names of libasound mean now, such as `hw:CARD=ES8,DEV=1` or `hw:1,1`.
    ///
    /// - Returns: the devices, without those of cards that are not there; nil if the kernel does not tell.
    package static func devices(named names: [String]) -> [String: Device]? {
        guard let cards = all() else { return nil }
        let found = names.map { ($0, device(named: $0, among: cards)) }
        return Dictionary(found) { first, _ in first }.compactMapValues(\.self)
    }

    static func device(named name: String, among cards: [Int: SoundCard]) -> Device? {
        let name = itself(name)
        guard name.hasPrefix("hw:") else { return nil }
        let words = name.dropFirst("hw:".count).split(separator: ",")
        func value(_ key: String, at place: Int) -> Substring? {
            words.first { $0.hasPrefix("\(key)=") }?.dropFirst(key.count + 1)
                ?? (words.indices.contains(place) && !words[place].contains("=") ? words[place] : nil)
        }
        guard let word = value("CARD", at: 0),
            let card = Int(word).map({ cards[$0] }) ?? cards.values.first(where: { $0.id == word }),
            let number = Int(value("DEV", at: 1) ?? "0"), let subdevice = Int(value("SUBDEV", at: 2) ?? "0")
        else { return nil }
        return Device(card: card.number, number: number, subdevice: max(0, subdevice))
    }

    /// libasound's name of the card itself for one of a converter before it, which would make up channels that the card
    /// lacks.
    package static func itself(_ device: String) -> String {
        device.hasPrefix("plughw:") ? String(device.dropFirst("plug".count)) : device
    }

    private init?(firstLine line: Substring) {
        guard let opening = line.firstIndex(of: "["), let closing = line.firstIndex(of: "]"), opening < closing,
            let number = Int(line[..<opening].trimmed)
        else { return nil }
        self.init(number: number, id: line[line.index(after: opening)..<closing].trimmed, place: "")
    }
}
