import Testing

@testable import ALSASequencer

@Suite
struct SoundCardTests {
    @Test
    func `the kernel's list names every card's number, short name and place`() {
        let text = """
             0 [PCH            ]: HDA-Intel - HDA Intel PCH
                                  HDA Intel PCH at 0xf7f10000 irq 27
             1 [TR8S           ]: USB-Audio - TR-8S
                                  Roland TR-8S at usb-0000:00:14.0-2, high speed
            12 [TR8S_1         ]: USB-Audio - TR-8S
                                  Roland TR-8S at usb-0000:00:14.0-3, high speed
            """
        let cards = SoundCard.list(text)
        #expect(cards.keys.sorted() == [0, 1, 12])
        #expect(cards[1] == SoundCard(number: 1, id: "TR8S", place: "Roland TR-8S at usb-0000:00:14.0-2, high speed"))
        #expect(cards[12]?.id == "TR8S_1")
    }

    @Test(arguments: [
        ("hw:CARD=TR8S", 1), ("plughw:CARD=TR8S", 1), ("hw:CARD=TR8S,DEV=1", 1), ("hw:TR8S_1", 12), ("hw:12", 12),
        ("hw:1,0", 1),
        ("hw:CARD=12,DEV=0,SUBDEV=0", 12), ("hw:DEV=0,CARD=PCH", 0), ("hw:CARD=ES8", nil), ("hw:2", nil), ("hw:", nil),
        ("hw:CARD=", nil), ("hw:,", nil), ("default", nil), ("sysdefault:CARD=PCH", nil), ("hw:DEV=0", nil),
    ])
    func `a device's name says which card it is on, if that is there`(device: String, number: Int?) {
        #expect(SoundCard.device(named: device, among: Self.cards)?.card == number)
    }

    private static let cards = Dictionary(
        uniqueKeysWithValues: [0: "PCH", 1: "TR8S", 12: "TR8S_1"].map { ($0, SoundCard(number: $0, id: $1, place: "")) }
    )

    @Test
    func `names for one device are told from those for others`() {
        func device(_ name: String) -> SoundCard.Device? { SoundCard.device(named: name, among: Self.cards) }
        let one = device("hw:CARD=TR8S,DEV=0")
        for name in [
            "hw:1", "hw:1,0", "plughw:1", "hw:TR8S", "hw:CARD=TR8S", "plughw:DEV=0,CARD=1", "hw:1,0,-1", "hw:1,0,0",
        ] {
            #expect(one != nil && device(name) == one, "\(name)")
        }
        for name in ["hw:0", "hw:1,1", "hw:CARD=TR8S,DEV=1", "hw:1,0,1", "hw:TR8S_1"] {
            #expect(device(name) != nil && device(name) != one, "\(name)")
        }
        #expect(device("hw:1,x") == nil && device("hw:1,DEV=") == nil)
    }

    @Test(arguments: ["", "--- no soundcards ---\n", "[", "x [y]: z\n q\n", "]1 [\n"])
    func `an invalid list has no cards`(text: String) {
        #expect(SoundCard.list(text).isEmpty)
    }
}
