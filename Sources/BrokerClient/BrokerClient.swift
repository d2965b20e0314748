package enum BrokerClientPlaceholder {}
