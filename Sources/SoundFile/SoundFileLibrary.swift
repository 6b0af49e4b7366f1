internal import CSndFile
internal import Glibc

/// The functions of libsndfile that are needed, loaded at the first use.
///
/// The program is not linked with the library, because it depends on five codec libraries that a gateway does not need.
struct SoundFileLibrary: @unchecked Sendable {
    typealias Open = @convention(c) (UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<SF_INFO>?) -> OpaquePointer?
    typealias Read = @convention(c) (OpaquePointer?, UnsafeMutablePointer<Float>?, sf_count_t) -> sf_count_t
    typealias Status = @convention(c) (OpaquePointer?) -> Int32
    typealias Complaint = @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?

    let open: Open
    let read: Read
    let close: Status
    let error: Status
    let complaint: Complaint

    /// The library; nil if it is not installed.
    static let shared = SoundFileLibrary()

    private init?() {
        guard let library = dlopen("libsndfile.so.1", RTLD_NOW | RTLD_LOCAL),
            let open = dlsym(library, "sf_open"), let read = dlsym(library, "sf_readf_float"),
            let close = dlsym(library, "sf_close"), let error = dlsym(library, "sf_error"),
            let complaint = dlsym(library, "sf_strerror")
        else { return nil }
        self.open = unsafeBitCast(open, to: Open.self)
        self.read = unsafeBitCast(read, to: Read.self)
        self.close = unsafeBitCast(close, to: Status.self)
        self.error = unsafeBitCast(error, to: Status.self)
        self.complaint = unsafeBitCast(complaint, to: Complaint.self)
    }

    /// The last error of a file, or of opening one if `file` is nil.
    func reason(_ file: OpaquePointer?) -> String {
        var text = complaint(file).map { String(cString: $0) } ?? ""
        while text.last == "." || text.last == "\n" { text.removeLast() }
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
