import ClockMeter
import Doctor
import GatewayStatus

/// All that a report is made of, names and addresses included.
struct ReportSources {
    /// This program's version.
    var version: String
    var machine = MachineDescription()
    /// USB devices for MIDI or audio.
    var devices: [USBDevice] = []
    var findings: [Finding] = []
    /// The gateway before and after the measurement; nil if none runs.
    var gateway: Gateway?
    /// What came back by the loop cable; nil without one.
    var loop: Loop?
    /// IDs of the built-in profiles; others are the user's and may name anybody.
    var knownProfiles: Set<String> = []
    var privateWords = PrivateWords([])

    struct Gateway {
        var before: Status
        var after: Status
        /// By the IDs of the outputs.
        var ports: [String: Port] = [:]
    }

    /// An output's sequencer port.
    struct Port {
        /// The measured clock; nil if it was not measured.
        var figures: ClockFigures?
        /// Whether the kernel stamped the ticks.
        var hasKernelStamps = true
        /// Where the USB device behind it is, as in ``USBDevice/place``; nil if there is none.
        var usb: String?
    }

    struct Loop {
        var kind: Kind
        var stamps: MonitorReport.Stamps
        var figures: ClockFigures
        /// The profile that recognizes the port.
        var profile: String?
        /// Where its USB device is, as in ``USBDevice/place``; nil if there is none.
        var usb: String?
        /// More figures if it is a sound card.
        var sound: SoundFigures?

        enum Kind: String, Encodable {
            case port
            case rawDevice = "raw-device"
            case line
            case soundCard = "sound-card"
        }
    }
}
