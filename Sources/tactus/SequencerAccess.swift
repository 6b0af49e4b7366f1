import ALSASequencer
import Glibc

/// Opens a sequencer client, and adds the fix to the error if that fails.
///
/// - Parameter open: opens the client.
/// - Returns: the result of `open`.
/// - Throws: if there is no sequencer, or no permission to use it.
func openSequencer<Opened>(_ open: () throws(ALSAError) -> Opened) throws(Failure) -> Opened {
    ALSAComplaints.capture { _ in }  // libasound's own message is not needed; the error says the same
    do {
        return try open()
    } catch {
        throw Failure(error.code == -EACCES ? .noPermission : .system, "\(error); \(error.openingFix)")
    }
}
