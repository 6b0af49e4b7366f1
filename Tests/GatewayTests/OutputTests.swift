import Testing

@testable import Gateway

@Suite
struct OutputTests {
    @Test(arguments: [
        ("TR-8S", "tr-8s"), ("Elektron Model:Samples", "elektron-model-samples"),
        ("raw:/dev/ttyAMA0", "raw-dev-ttyama0"),
        ("24:0", "24-0"), ("Ä", "output"),
    ])
    func `an output's ID is a slug of its name`(name: String, id: String) {
        #expect(Output(name).id == id)
    }

    @Test
    func `equal names get a number`() {
        var taken: [String] = []
        for _ in 0..<3 {
            taken.append(Output("Drums", takenIDs: taken).id)
        }
        #expect(taken == ["drums", "drums-2", "drums-3"])
    }

    @Test
    func `each coming of a device counts, and its going or staying does not`() {
        var output = Output("Drums")
        let coming = output.setConnected(to: "24:0")
        let staying = output.setConnected(to: "24:0")
        #expect(coming && !staying)
        #expect(output.connections == 1)
        let going = output.setConnected(to: nil)
        #expect(going)
        #expect(output.connections == 1)
        let returning = output.setConnected(to: "24:0")
        #expect(returning)
        #expect(output.connections == 2)
    }
}
