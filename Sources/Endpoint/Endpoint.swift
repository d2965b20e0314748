package enum EndpointPlaceholder {}
