package enum UnixIOPlaceholder {}
