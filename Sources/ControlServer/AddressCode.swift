internal import QRCode

/// A QR code of an address, as the page draws it.
struct AddressCode: Encodable {
    /// The rows from the top, without a quiet zone; `1` is a dark module.
    let rows: [String]

    /// Makes the code of 1 to ``QRCode/capacity`` printable ASCII characters without spaces, as addresses have them.
    init(_ text: String) throws(RequestError) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }), let code = QRCode(bytes) else {
            throw .badValue("text: an address of 1 to \(QRCode.capacity) ASCII characters, without spaces")
        }
        rows = (0..<code.size).map { y in
            String((0..<code.size).map { x -> Character in code.isDark(x: x, y: y) ? "1" : "0" })
        }
    }
}
