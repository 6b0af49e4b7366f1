internal import Essentials

/// How a device's driver fares with what it was given: what it has handed over, and what still waits.
///
/// The sequencer tells nobody whether a device takes what is sent to it: a full driver drops it. The kernel's list does.
package struct DriverBuffer: Hashable, Sendable {
    /// Bytes that the device has been handed since it was plugged in.
    package var sent: Int
    /// Bytes that wait until it takes them.
    package var waiting: Int

    package init(sent: Int, waiting: Int) {
        self.sent = sent
        self.waiting = waiting
    }

    /// Looks at the driver behind a port.
    ///
    /// - Parameter port: one that something is sent to.
    /// - Returns: nil where the port is a program's, or the kernel does not tell.
    package static func behind(_ port: PortDescription) -> DriverBuffer? {
        guard port.isHardware, let card = port.card?.number else { return nil }
        // The kernel numbers the ports of a card's client by raw device, and in it by cable.
        let (device, cable) = port.address.port.quotientAndRemainder(dividingBy: portsPerDevice)
        return KernelText.read("/proc/asound/card\(card)/midi\(device)").flatMap { read($0, cable: cable) }
    }

    private static let portsPerDevice = 32

    /// Reads the kernel's account of a raw device.
    ///
    /// It has a paragraph for each cable of each direction, such as:
    ///
    ///     Output 0
    ///       Tx bytes     : 4711
    ///       Owner PID    : 815
    ///       Mode         : native
    ///       Buffer size  : 4096
    ///       Avail        : 4096
    ///
    /// - Parameters:
    ///   - text: the account.
    ///   - cable: the number of the output.
    /// - Returns: nil for an output that is not listed, or that nobody has opened.
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
