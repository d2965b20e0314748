import CommandLineSupport

SendOptions.tool.run { (arguments) throws(Failure) in
    let options = try SendOptions(arguments)
    switch options.data {
    case .lines:
        var sender = LineSender(options)
        return try sender.run()
    case .userInfo, .nothing, .line: return try SingleSender(options).run()
    }
}
