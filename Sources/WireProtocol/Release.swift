/// This release of the broker, its tools and its library.
package enum Release {
    package static let version = "1.0.0"
}
