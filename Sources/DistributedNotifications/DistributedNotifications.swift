package enum DistributedNotificationsPlaceholder {}
