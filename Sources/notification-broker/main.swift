import CommandLineSupport

BrokerCommand.tool.run { (arguments) throws(Failure) in
    switch try BrokerCommand(arguments) {
    case .run: try RunCommand(options: RunOptions(arguments)).run()
    case .status: try StatusCommand(arguments).run()
    case .path: try PathCommand(arguments).run()
    case .stop: try StopCommand(arguments).run()
    }
}
