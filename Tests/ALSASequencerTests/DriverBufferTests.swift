import Testing

@testable import ALSASequencer

@Suite
struct DriverBufferTests {
    private static let account = """
        UM-ONE

        Type: Legacy
        Output 0
          Tx bytes     : 4711
          Owner PID    : 815
          Mode         : native
          Buffer size  : 4096
          Avail        : 4095
        Output 1
          Tx bytes     : 9
        Output 11
          Tx bytes     : 12
          Buffer size  : 4096
          Avail        : 4096
        Input 0
          Rx bytes     : 66
          Buffer size  : 4096
          Avail        : 1
          Overruns     : 0
        """

    @Test(arguments: [
        (0, DriverBuffer(sent: 4711, waiting: 1)), (1, nil), (2, nil), (11, DriverBuffer(sent: 12, waiting: 0)),
    ])
    func `the kernel's report tells what an open output has sent and what waits in it`(
        cable: Int, buffer: DriverBuffer?
    ) {
        #expect(DriverBuffer.read(Self.account, cable: cable) == buffer)
    }

    @Test(arguments: [
        "", "Output 0", "Output 0\n  Tx bytes : x\n  Buffer size : 1\n  Avail : 1",
        "Output 0\n  Tx bytes : 1\n  Buffer size : 1\n  Avail : 99999999999999999999",
        "Output 0\n  Tx bytes : 1\n  Buffer size : 1\n  Avail : 2",
    ])
    func `an invalid report gives nothing`(text: String) {
        #expect(DriverBuffer.read(text, cable: 0) == nil)
    }

    @Test
    func `a program's port has no driver`() {
        let port = PortDescription(
            address: PortAddress(client: 128, port: 0), clientName: "Synth", portName: "In", isReadable: false,
            isWritable: true)
        #expect(DriverBuffer.behind(port) == nil)
    }
}
