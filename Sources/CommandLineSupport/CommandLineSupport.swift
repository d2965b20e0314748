package enum CommandLineSupportPlaceholder {}
