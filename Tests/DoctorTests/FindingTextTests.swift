import Testing

@testable import Doctor

@Suite
struct FindingTextTests {
    @Test
    func `literals and numbers stay, and what is put in is a name unless it is marked`() {
        let (user, group, reason) = ("alice", "audio", "refused" as FindingText)
        let text: FindingText = "\(user) is in \(known: group) with \(3) others at \(133.5) BPM" + ", \(reason)"
        #expect(text.whole == "alice is in audio with 3 others at 133.5 BPM, refused")
        #expect(text.withoutNames == "… is in audio with 3 others at 133.5 BPM, refused")
    }

    @Test
    func `texts are joined in both forms`() {
        let places = ["eth0", "wlan0"].map { name -> FindingText in "on \(name)" }
        #expect(places.joined(separator: ", ").whole == "on eth0, on wlan0")
        #expect(places.joined(separator: ", ").withoutNames == "on …, on …")
        #expect([FindingText]().joined(separator: ", ") == "")
    }
}
