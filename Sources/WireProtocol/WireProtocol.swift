package enum WireProtocolPlaceholder {}
