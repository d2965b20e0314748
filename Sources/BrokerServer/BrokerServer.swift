package enum BrokerServerPlaceholder {}
