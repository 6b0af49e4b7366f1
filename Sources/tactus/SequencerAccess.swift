import ALSASequencer
import Glibc

/// Opens something of the sequencer.
///
/// - Parameter open: opens it.
/// - Returns: the result of `open`.
/// - Throws: when there is no sequencer, or no permission to use it, with the fix.
func openSequencer<Opened>(_ open: () throws(ALSAError) -> Opened) throws(Failure) -> Opened {
    ALSAComplaints.capture { _ in }  // the error says as much
    do {
        return try open()
    } catch {
        if error.code == -EACCES {
            throw Failure(.noPermission, "\(error); join the group audio and log in again")
        }
        throw Failure(.system, "\(error); load the sequencer with 'sudo modprobe snd-seq'")
    }
}
