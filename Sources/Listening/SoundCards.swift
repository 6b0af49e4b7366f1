internal import ALSASequencer
package import AudioCapture
internal import Glibc
internal import RealTime

extension ListeningProblem {
    /// Describes why a sound card delivers no sound, and what to do.
    package init(_ failure: AudioCapture.Failure, of device: String) {
        switch failure {
        case .gone(let error): self.init(.unavailable, "\(device) is gone: \(error); plug it in again")
        case .notOpened(let error):
            switch error.code {
            case -EACCES, -EPERM:
                self.init(.noPermission, "\(device): \(error); join the group audio and log in again")
            case -EBUSY:
                self.init(
                    .unavailable, "another program listens to \(device); end it, or name 'default' to share it")
            case -EINVAL:
                self.init(
                    .unavailable,
                    "\(device) cannot be used (\(error)); 'arecord -D \(device) --dump-hw-params' lists its channels "
                        + "and sample rates; choose a channel that it has")
            default:
                self.init(.unavailable, "no sound comes from \(device) (\(error)); 'arecord -l' lists inputs")
            }
        }
    }

    /// Describes a card that is open but delivers no samples, not even silence.
    package static func noSound(_ device: String) -> ListeningProblem {
        ListeningProblem(
            .unavailable, "\(device) gives no sound; plug it in again, and check that no other program uses it")
    }
}

extension AudioCapture {
    /// Starts reading from a card, like ``init(_:channels:_:)``.
    ///
    /// - Throws: if the system provides no thread or no file descriptor.
    package static func opened(
        _ device: String, channels: [Int], _ receive: @escaping @Sendable (Event) -> Void
    ) throws(ListeningProblem) -> AudioCapture {
        do throws(SystemCallError) {
            return try AudioCapture(device, channels: channels, receive)
        } catch {
            throw ListeningProblem(.system, "\(error)")
        }
    }
}
