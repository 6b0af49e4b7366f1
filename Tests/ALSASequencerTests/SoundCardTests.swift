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

    @Test(arguments: ["", "--- no soundcards ---\n", "[", "x [y]: z\n q\n", "]1 [\n"])
    func `an invalid list has no cards`(text: String) {
        #expect(SoundCard.list(text).isEmpty)
    }
}
