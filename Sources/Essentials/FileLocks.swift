internal import Glibc

/// Finds the programs that have locked a file as a whole, with `flock`.
package enum FileLocks {
    /// The program that has locked the file at a path, whatever name it used for it.
    ///
    /// - Returns: nil if nobody has, or the kernel does not tell.
    package static func holder(ofFileAt path: String) -> RunningProgram? {
        let machine = SystemTree(root: "/")
        var status = stat()
        guard stat(path, &status) == 0, let locks = machine.text("proc/locks") else { return nil }
        // Each of the device's two numbers has its low digits in the lower half, and its high ones in the upper.
        let device = status.st_dev
        let major = (device >> 8) & 0xFFF | (device >> 32) & 0xFFFF_F000
        let minor = device & 0xFF | (device >> 12) & 0xFFFF_FF00
        let file = "\(hexadecimal(major)):\(hexadecimal(minor)):\(status.st_ino)"
        guard let process = self.holder(of: file, in: locks) else { return nil }
        return RunningProgram(name: machine.line("proc/\(process)/comm") ?? "a program", process: process)
    }

    /// The process that has locked a file, by the text of `/proc/locks`.
    ///
    /// A line is such as `3: FLOCK  ADVISORY  WRITE 4711 00:05:91 0 EOF`; with an arrow before its kind, it waits.
    static func holder(of file: String, in locks: String) -> Int? {
        for line in locks.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 5, fields[1] == "FLOCK", fields[5] == file else { continue }
            // Of a program in another container there is no number.
            if let process = Int(fields[4]), process > 0 { return process }
        }
        return nil
    }

    /// Two digits at least, as the kernel writes the numbers of a device.
    private static func hexadecimal(_ number: UInt) -> String {
        (number < 16 ? "0" : "") + String(number, radix: 16)
    }
}
