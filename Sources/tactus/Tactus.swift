@main
struct Tactus {
    static func main() {}
}
