import Essentials

/// A USB device for MIDI or audio, and the hubs through which it is connected.
struct USBDevice: Hashable, Encodable {
    /// Bus and sockets, such as `1-1.4`: socket 4 of the hub at socket 1 of bus 1.
    var place: String
    /// The vendor's number, four hexadecimal digits.
    var vendor: String
    /// The product's number, four hexadecimal digits.
    var product: String
    /// The product's name, which the device itself tells.
    var name: String?
    /// Speed in Mbit/s.
    var speed: Double?
    /// `midi`, `audio` or both; `other` if a driver for audio devices knows it by its numbers.
    var kinds: [String]
    /// The hubs between the computer's own socket and the device.
    var hubs: [Hub] = []
    /// The controller of the computer's own socket, as the kernel names it.
    var controller: String?

    struct Hub: Hashable, Encodable {
        var vendor: String
        var product: String
        /// Speed in Mbit/s.
        var speed: Double?
    }
}

extension USBDevice {
    /// All devices for MIDI or audio, by their places.
    static func all(_ tree: SystemTree) -> [USBDevice] {
        let names = tree.names(folder)
        return names.filter { $0.contains("-") && !$0.contains(":") }.compactMap { place in
            USBDevice(tree, at: place, interfaces: names.filter { $0.hasPrefix("\(place):") })
        }
    }

    /// The USB device of each sound card that is one, by the card's number.
    static func places(ofCards tree: SystemTree) -> [Int: String] {
        var places: [Int: String] = [:]
        for name in tree.names("sys/class/sound") {
            // The link leads to the device's interface, such as ../../../1-1.4:1.0.
            guard name.hasPrefix("card"), let number = Int(name.dropFirst("card".count)),
                let interface = tree.link("sys/class/sound/\(name)/device").map(Files.name),
                let colon = interface.firstIndex(of: ":")
            else { continue }
            let place = String(interface[..<colon])
            if tree.exists("\(folder)/\(place)") { places[number] = place }
        }
        return places
    }

    private static let folder = "sys/bus/usb/devices"

    private init?(_ tree: SystemTree, at place: String, interfaces: [String]) {
        func value(_ place: String, _ name: String) -> String? { tree.line("\(Self.folder)/\(place)/\(name)") }
        // Class 1 is audio; its subclass 2 carries sound and 3 MIDI, while 1 only controls.
        func kind(of class: String?, _ subclass: String?) -> String? {
            guard `class` == "01" else { return nil }
            return subclass == "02" ? "audio" : subclass == "03" ? "midi" : nil
        }
        var kinds = Set(
            interfaces.compactMap { kind(of: value($0, "bInterfaceClass"), value($0, "bInterfaceSubClass")) })
        // Some makers use a class of their own.
        let drivers = interfaces.compactMap { tree.link("\(Self.folder)/\($0)/driver").map(Files.name) }
        if kinds.isEmpty, drivers.contains("snd-usb-audio") { kinds = ["other"] }
        guard !kinds.isEmpty, let vendor = value(place, "idVendor").flatMap(Self.number),
            let product = value(place, "idProduct").flatMap(Self.number)
        else { return nil }
        let bus = place.prefix { $0 != "-" }
        self.init(
            place: place, vendor: vendor, product: product, name: value(place, "product"),
            speed: value(place, "speed").flatMap(Double.init), kinds: kinds.sorted(),
            hubs: Self.hubs(before: place).map { hub in
                Hub(
                    vendor: value(hub, "idVendor").flatMap(Self.number) ?? "",
                    product: value(hub, "idProduct").flatMap(Self.number) ?? "",
                    speed: value(hub, "speed").flatMap(Double.init))
            }, controller: value("usb\(bus)", "product"))
    }

    /// The places of the hubs before a device: `1-1` and `1-1.2` before `1-1.2.3`.
    private static func hubs(before place: String) -> [String] {
        place.indices.filter { place[$0] == "." }.map { String(place[..<$0]) }
    }

    private static func number(_ text: String) -> String? {
        text.count == 4 && text.allSatisfy(\.isHexDigit) ? text : nil
    }
}
