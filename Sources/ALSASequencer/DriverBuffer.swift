internal import Essentials

/// How much of its output a device's driver has passed on, and how much still waits.
///
/// The sequencer does not report whether a device accepts what it is sent: a full driver drops it. The kernel's list
/// does.
package struct DriverBuffer: Hashable, Sendable {
    /// Bytes passed to the device since it was plugged in.
    package var sent: Int
    /// Bytes that still wait.
    package var waiting: Int

    package init(sent: Int, waiting: Int) {
        self.sent = sent
        self.waiting = waiting
    }

    /// Reads the state of the driver behind a port.
    ///
    /// - Parameter port: a port that receives.
    /// - Returns: nil if the port belongs to a program, or the kernel does not tell.
    package static func behind(_ port: PortDescription) -> DriverBuffer? {
        guard port.isHardware, let card = port.card?.number else { return nil }
        // The kernel numbers the ports of a card's client by raw device, then by cable.
        let (device, cable) = port.address.port.quotientAndRemainder(dividingBy: portsPerDevice)
        return KernelText.read("/proc/asound/card\(card)/midi\(device)").flatMap { read($0, cable: cable) }
    }

    private static let portsPerDevice = 32

    /// Parses the kernel's report on a raw device.
    ///
    /// It has a paragraph for each cable and direction, such as:
    ///
    ///     Output 0
    ///       Tx bytes     : 4711
    ///       Owner PID    : 815
    ///       Mode         : native
    ///       Buffer size  : 4096
    ///       Avail        : 4096
    ///
    /// - Parameters:
    ///   - text: the report.
    ///   - cable: the number of the output.
    /// - Returns: nil for an output that is not listed, or not open.
    static func read(_ text: String, cable: Int) -> DriverBuffer? {
        var values: [String: Int] = [:]
        var isInside = false
        for line in text.split(separator: "\n") {
            if !line.hasPrefix(" ") {
                isInside = line == "Output \(cable)"
            } else if isInside, let colon = line.firstIndex(of: ":") {
                values[line[..<colon].trimmed] = Int(line[line.index(after: colon)...].trimmed)
            }
        }
        guard let sent = values["Tx bytes"], let size = values["Buffer size"], let free = values["Avail"], size >= free
        else { return nil }
        return DriverBuffer(sent: sent, waiting: size - free)
    }
}
