package enum ClientCorePlaceholder {}
