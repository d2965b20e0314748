package enum BrokerCorePlaceholder {}
